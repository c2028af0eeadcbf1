"""Models of a running Ray Serve application (serve/app.py, serve/llm.py), for bulk answering.

Workers call its encoder, rerankers and language model through handles instead of loading their own, so the replicas
batch the requests of all workers. A model that the application lacks is loaded by the workers, as without it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import RayServeException
from ray.serve.schema import ApplicationStatus

from finray.cluster.replica_calls import IDENTITY, METHODS, asker
from finray.cluster.serve_chat import ServeChatModel
from finray.core.errors import ModelUnavailableError, UsageError
from finray.core.settings import Settings
from finray.engine import models_asked
from finray.engines.outside import Outsiders
from finray.engines.questions import chat_outside
from finray.engines.source import Role
from finray.models.openai_wire import served_name

_DEPLOYMENTS: Final[Mapping[Role, str]] = {
    "encoder": "encoder",
    "document_reranker": "document_reranker",
    "passage_reranker": "passage_reranker",
    "chat": "llm",
}
_TRY_SECONDS = 300.0
"""All workers share the replicas, so a request may wait long; a question has a time limit of its own."""
_START_SECONDS = 600.0
"""An application without replicas starts one for the first request, perhaps on a new node."""


@dataclass(frozen=True, slots=True)
class ServedModels:
    """The models of the application ``app`` for ``roles``. Holds no handles, so that it can be sent to workers."""

    app: str
    roles: frozenset[Role]
    settings: Settings

    def __str__(self) -> str:
        names = ", ".join(sorted(_DEPLOYMENTS[role] for role in self.roles))
        return f"models of the application {self.app!r}: {names}"

    def outsiders(self) -> Outsiders:
        """Calls of the models, from this process. Raises ModelUnavailableError."""
        found: dict[Role, Any] = {
            role: asker(_handle(self.app, role), method, try_seconds=_TRY_SECONDS)
            for role, method in METHODS.items()
            if role in self.roles
        }
        if "chat" in self.roles:
            llm = self.settings.llm.model_copy(update={"serve_app": self.app})
            found["chat"] = chat_outside(ServeChatModel(llm, _handle(self.app, "chat")))
        return found


def find_models(app: str, settings: Settings) -> ServedModels:
    """The models of the running application ``app`` that answering questions with ``settings`` calls.

    Ray must be connected. Raises UsageError if no such application runs, or if it has none of these models or other
    ones instead; ModelUnavailableError if a replica does not answer.
    """
    logging.getLogger("ray.serve").setLevel(logging.WARNING)  # it reports every handle
    applications = serve.status().applications
    running = sorted(name for name, found in applications.items() if found.status == ApplicationStatus.RUNNING)
    if app not in running:
        state = f" (it is {applications[app].status.value})" if app in applications else ""
        others = f"these run: {', '.join(map(repr, running))}" if running else "no application runs; start one first"
        raise UsageError(f"no application {app!r} runs on this cluster{state}; {others}")
    wanted = _wanted(settings)
    deployments = applications[app].deployments
    roles = frozenset(role for role in wanted if _DEPLOYMENTS[role] in deployments)
    if not roles:
        looked_for = ", ".join(_DEPLOYMENTS[role] for role in wanted)
        raise UsageError(
            f"the application {app!r} has none of the models that these settings need ({looked_for}): it has "
            f"{', '.join(sorted(deployments))}. serve/config.py documents how to add them; or leave out --app"
        )
    for role in sorted(roles):
        _check(app, role, wanted[role])
    return ServedModels(app, roles, settings)


def _wanted(settings: Settings) -> dict[Role, dict[str, object]]:
    """The models that answering calls, each with the settings that decide its results."""
    wanted: dict[Role, dict[str, object]] = {"encoder": settings.encoder.model_dump(include=IDENTITY)}
    if settings.document_reranker.model:
        wanted["document_reranker"] = settings.document_reranker.model_dump(include=IDENTITY)
    if settings.passage_reranker.model:
        wanted["passage_reranker"] = settings.passage_reranker.model_dump(include=IDENTITY)
    if settings.llm in models_asked(settings):
        wanted["chat"] = {"model": served_name(settings.llm.model)}  # requests bring everything else
    return wanted


def _check(app: str, role: Role, wanted: Mapping[str, object]) -> None:
    """Raises UsageError if the replicas have another model, whose answers would be stored as those of this one."""
    name = _DEPLOYMENTS[role]
    try:
        found: Mapping[str, object] = _handle(app, role).serves.remote().result(timeout_s=_START_SECONDS)
    except RayTaskError as error:
        if isinstance(error.cause, AttributeError):
            raise UsageError(
                f"the deployment {name!r} of the application {app!r} does not say which model it has; it must be one "
                "of serve/models.py or serve/llm.py, of this version of finray"
            ) from error
        raise ModelUnavailableError(f"{name!r} of the application {app!r} failed: {error.cause}") from error
    except (RayError, RayServeException, TimeoutError) as error:
        raise ModelUnavailableError(
            f"no replica of {name!r} of the application {app!r} answered: {type(error).__name__}"
        ) from error
    section = "llm" if role == "chat" else role
    for key, value in wanted.items():
        if found.get(key) != value:
            raise UsageError(
                f"the application {app!r} runs {name!r} with {key} = {found.get(key)!r}, but {section}.{key} = "
                f"{value!r}; give the same settings to both, or leave out --app"
            )


def _handle(app: str, role: Role) -> Any:
    try:
        return serve.get_deployment_handle(_DEPLOYMENTS[role], app_name=app)
    except (RayServeException, KeyError) as error:  # no Serve, or no such deployment
        raise ModelUnavailableError(f"the application {app!r} is gone: {error}") from error
