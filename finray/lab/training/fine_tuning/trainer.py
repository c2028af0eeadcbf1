"""One training run with a sentence-transformers trainer: arguments, progress, checkpoints, resumption."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from finray.core.errors import MissingExtraError, ModelUnavailableError, UsageError
from finray.lab.training.fine_tuning.checkpoints import RunFolder
from finray.lab.training.fine_tuning.options import Hyperparameters, Machine
from finray.models import hub

Report = Callable[[int, int, str], None]
"""Called with (steps done, total steps, note)."""


@dataclass(frozen=True, slots=True)
class Trained:
    """``loss`` is the last mean that the trainer logged; ``seconds`` excludes earlier processes of a resumed run."""

    steps: int
    loss: float | None
    seconds: float
    device: str
    precision: str
    resumed_at: int | None


@dataclass(frozen=True, slots=True)
class Task:
    """A model with its loss and the library's trainer for it. ``columns`` maps column names to values, in the order
    that the loss expects."""

    trainer: Any
    arguments: Any
    model: Any
    loss: Any
    columns: Mapping[str, Sequence[Any]]
    extra: Mapping[str, Any]


def is_main_process() -> bool:
    """Whether this is the main process; torchrun and accelerate start several."""
    return int(os.environ.get("RANK", "0")) == 0


def check_packages() -> None:
    """Raises MissingExtraError if packages for training are missing."""
    missing = [name for name in ("accelerate", "datasets") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"training needs {' and '.join(missing)}: pip install 'finray[train]'")


def chosen_device(machine: Machine) -> str:
    """ "cuda" or "cpu". Raises UsageError if a GPU is requested and there is none."""
    import torch

    available = torch.cuda.is_available()
    if machine.device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device {machine.device!r}: choose auto, cpu or cuda")
    if machine.device == "cuda" and not available:
        raise UsageError("device 'cuda', but PyTorch sees no GPU; choose auto or cpu")
    return "cuda" if available and machine.device != "cpu" else "cpu"


def uses_bf16(machine: Machine, device: str) -> bool:
    """Whether to use bf16 arithmetic with float32 weights, by default if the hardware multiplies bf16 fast.

    Measured with MiniLM on one core with AMX: a step of 16 pairs of 128 tokens takes 0.9 s instead of 2.1 s.
    """
    import torch

    from finray.models.devices import fast_bf16

    if machine.precision != "auto":
        return machine.precision == "bfloat16"
    return fast_bf16(torch.device(device))


def fit(
    build: Callable[[str], Task],
    options: Hyperparameters,
    machine: Machine,
    folder: RunFolder,
    identity: Mapping[str, Any],
    report: Report,
) -> tuple[Any, Trained]:
    """Train the task of ``build(device)``, from the last complete checkpoint in ``folder`` if there is one.

    The folder stores ``identity``, so that a run with other data or arguments cannot resume from its checkpoints.
    Returns the model and a summary. The seed determines the order of examples, also after resuming.
    """
    check_packages()
    import torch
    from transformers import set_seed

    if machine.threads:
        torch.set_num_threads(machine.threads)
    device = chosen_device(machine)
    bf16 = uses_bf16(machine, device)
    started = time.perf_counter()
    with _quiet_libraries():
        set_seed(options.seed)  # a new classification head is random
        task = build(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" else device)
        trainer = _trainer(task, options, machine, folder, device, bf16, report)
        with trainer.args.main_process_first(local=False):
            if is_main_process():
                folder.begin(identity)
        last = folder.last()
        outcome = trainer.train(resume_from_checkpoint=str(last) if last else False)
    if not outcome.global_step:
        raise UsageError(
            f"no step was trained: {options.epochs} epochs of the data do not fill a batch of batch_size "
            f"{options.batch_size} without duplicate texts; use a smaller batch, fewer negatives or more data"
        )
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return trainer.model, Trained(
        steps=int(outcome.global_step),
        loss=float(logged[-1]) if logged else None,
        seconds=time.perf_counter() - started,
        device=device,
        precision="bfloat16" if bf16 else "float32",
        resumed_at=int(last.name.rpartition("-")[2]) if last else None,
    )


def _trainer(
    task: Task,
    options: Hyperparameters,
    machine: Machine,
    folder: RunFolder,
    device: str,
    bf16: bool,
    report: Report,
) -> Any:
    from datasets import Dataset
    from datasets.utils.logging import disable_progress_bar
    from transformers import PrinterCallback

    disable_progress_bar()
    arguments = task.arguments(
        output_dir=str(folder.checkpoints),
        num_train_epochs=options.epochs,
        max_steps=options.max_steps or -1,
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=options.accumulate,
        learning_rate=options.learning_rate,
        warmup_steps=options.warmup,
        weight_decay=options.weight_decay,
        seed=options.seed,
        bf16=bf16,
        use_cpu=device == "cpu",
        save_strategy="steps",
        save_steps=machine.checkpoint_steps,
        # Keep the previous one too: a kill may leave the newest incomplete.
        save_total_limit=2,
        logging_steps=10,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=device == "cuda",
        **task.extra,
    )
    # The library's model card would copy texts of the training data and query the hub for the base model.
    quiet = type("QuietTrainer", (task.trainer,), {"add_model_card_callback": lambda *_: None})
    trainer = quiet(
        model=task.model,
        args=arguments,
        train_dataset=Dataset.from_dict({name: list(values) for name, values in task.columns.items()}),
        loss=task.loss,
        callbacks=[_callback(folder, report)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _callback(folder: RunFolder, report: Report) -> Any:
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        """Marks checkpoints as complete, and reports steps and loss."""

        loss = ""

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                folder.mark_complete(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                self.loss = f"loss {float(logs['loss']):.4f}"

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                report(state.global_step, state.max_steps, self.loss)

    return Watch()


def base_folder(base: str) -> str:
    """``Hyperparameters.base`` as a folder or hub name for the library. Raises ModelUnavailableError."""
    from finray.models.minilm import minilm_folder

    return str(minilm_folder()) if base == "minilm" else base


@contextmanager
def loading(base: str) -> Iterator[None]:
    """Turns the library's errors for missing weights into ModelUnavailableError."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(
            f"cannot load the base model {base!r}: {error}; give a local folder, or a hub name and --revision where "
            f"the hub can be reached ({hub.SAFETENSORS_HINT})"
        ) from error


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Suppresses warnings about a new head or unused pooler weights, and progress bars; errors still appear."""
    from transformers.utils import logging as transformers_logging

    names = ("transformers", "sentence_transformers", "accelerate", "datasets")
    levels = {name: logging.getLogger(name).level for name in names}
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
