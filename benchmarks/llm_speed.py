"""Speed of a language model in tokens per second with 1, 16 and 32 concurrent requests, through any backend.

    .venv-llm/bin/python benchmarks/llm_speed.py --preset vllm --set llm.model=FOLDER

Every request has a different prompt, so that the prefix cache has no hits, and generates up to ``--tokens`` tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from finray.core.settings import load_settings
from finray.models.chat import ChatModel, Message
from finray.models.load_chat import load_chat


async def tokens_per_second(model: ChatModel, at_once: int, batch: int) -> float:
    prompts = [f"Write a long story about the number {1000 * batch + number}." for number in range(at_once)]
    started = time.perf_counter()
    replies = await asyncio.gather(*(model.chat([Message("user", prompt)]) for prompt in prompts))
    return sum(reply.usage.completion_tokens for reply in replies) / (time.perf_counter() - started)


async def measure(model: ChatModel, repeats: int) -> None:
    await tokens_per_second(model, 4, 0)  # warm-up: compilation and allocation are not counted
    for at_once in (1, 16, 32):
        speeds = [await tokens_per_second(model, at_once, at_once * 10 + batch) for batch in range(repeats)]
        print(
            f"{at_once:3} at once: median {statistics.median(speeds):.0f} tokens/s, "
            f"{min(speeds):.0f} to {max(speeds):.0f}, n = {repeats} batches"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="vllm")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    overrides = dict(setting.split("=", 1) for setting in arguments.set)
    settings = load_settings(arguments.preset, overrides | {"llm.max_tokens": arguments.tokens})
    started = time.perf_counter()
    model = load_chat(settings.llm)
    print(f"{settings.llm.backend}: ready after {time.perf_counter() - started:.0f} s")
    asyncio.run(measure(model, arguments.repeats))


if __name__ == "__main__":
    main()
