"""Metrics of the service through Ray, which exports them in Prometheus format on every node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from functools import cache

import httpx
import ray
from ray.util.metrics import Counter, Gauge, Histogram

from finray.api.telemetry import QuestionTelemetry, Telemetry
from finray.api.tracing import Tracing
from finray.core.journal import StageReport
from finray.core.predictions import TokenUsage

_SHOWN = (
    "ray_finray_",
    "ray_serve_deployment_",
    "ray_serve_replica_",
    "ray_serve_num_",
    "ray_serve_autoscaling_",
    "ray_serve_actual_batch_size",
    "ray_serve_batch_",
)
_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0]
_SCRAPE_SECONDS = 3.0


@cache
def ray_telemetry() -> Telemetry:
    """The metrics of this replica."""
    return RayTelemetry()


class RayTelemetry(Telemetry):
    """Ray adds the prefix ``ray_`` to every name and labels with the replica and node."""

    def __init__(self) -> None:
        self._requests = Counter("finray_requests", "HTTP requests that got a reply", ("method", "route", "status"))
        self._request_seconds = Histogram(
            "finray_request_seconds", "From the first byte of a request to the last of its reply", _SECONDS, ("route",)
        )
        self._open = Gauge("finray_requests_open", "HTTP requests in progress")
        self._refused = Counter("finray_refused", "Requests refused with 429", ("reason",))
        self.questions = Counter("finray_questions", "Questions by outcome", ("operation", "outcome"))
        self.question_seconds = Histogram(
            "finray_question_seconds",
            "From accepting a question to its end, including waiting",
            _SECONDS,
            ("operation",),
        )
        self.queue = Gauge("finray_questions_open", "Questions running or queued")
        self.stage_seconds = Histogram("finray_stage_seconds", "One stage of the loop", _SECONDS, ("stage",))
        self.tokens = Counter("finray_tokens", "Tokens of language models", ("stage", "direction"))
        self._tracing = Tracing.from_environment()
        self._open_requests = self.open_questions = 0

    def question(self, trace_parent: str | None, operation: str) -> QuestionTelemetry:
        return _Question(self, operation, self._tracing.question(trace_parent, operation))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.inc(1, {"method": method, "route": route, "status": str(status)})
        self._request_seconds.observe(seconds, {"route": route})

    def refused(self, reason: str) -> None:
        self._refused.inc(1, {"reason": reason})

    def under_way(self, change: int) -> None:
        self._open_requests += change
        self._open.set(self._open_requests)


class _Question(QuestionTelemetry):
    def __init__(self, metrics: RayTelemetry, operation: str, spans: QuestionTelemetry) -> None:
        self._metrics, self._operation, self._spans = metrics, operation, spans
        self._started = time.monotonic()
        self._count(1)

    def stage(self, report: StageReport) -> None:
        if report.seconds is not None:
            self._metrics.stage_seconds.observe(report.seconds, {"stage": report.stage})
        self._spans.stage(report)

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        self._count(-1)
        self._metrics.questions.inc(1, {"operation": self._operation, "outcome": outcome})
        self._metrics.question_seconds.observe(time.monotonic() - self._started, {"operation": self._operation})
        for stage, tokens in usage.items():
            for direction, count in (("input", tokens.prompt_tokens), ("output", tokens.completion_tokens)):
                if count:
                    self._metrics.tokens.inc(count, {"stage": stage, "direction": direction})
        self._spans.end(outcome, usage)

    def _count(self, change: int) -> None:
        self._metrics.open_questions += change
        self._metrics.queue.set(self._metrics.open_questions)


async def cluster_metrics() -> str:
    """Metrics of the service and of Serve from every node that replies."""
    nodes = await asyncio.to_thread(ray.nodes)
    urls = [f"http://{n['NodeManagerAddress']}:{n['MetricsExportPort']}/metrics" for n in nodes if n["Alive"]]
    async with httpx.AsyncClient(timeout=_SCRAPE_SECONDS) as client:
        replies = await asyncio.gather(*(_scrape(client, url) for url in urls))
    return merged(replies)


def merged(pages: Iterable[str]) -> str:
    """Merge the metrics pages of several nodes: each family once, with all its samples."""
    head: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for page in pages:
        family = ""
        for line in page.splitlines():
            if line.startswith("# "):
                family = line.split(" ", 3)[2]
                if family.startswith(_SHOWN) and len(head.setdefault(family, [])) < 2:
                    head[family].append(line)
            elif line and family.startswith(_SHOWN):
                samples.setdefault(family, []).append(line)
    lines = [line for family, described in head.items() for line in (*described, *samples.get(family, ()))]
    return "\n".join(lines) + "\n"


async def _scrape(client: httpx.AsyncClient, url: str) -> str:
    """The metrics page of one node, empty if it does not reply."""
    try:
        reply = await client.get(url)
    except httpx.HTTPError:
        return ""
    return reply.text if reply.status_code == 200 else ""
