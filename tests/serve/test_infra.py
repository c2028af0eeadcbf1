"""The files for operators refer to existing metrics and arguments."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import yaml
from ray.serve.schema import ServeDeploySchema

from finray.core.settings import load_settings
from serve.config import ServeArguments
from serve.metrics import merged

ROOT = Path(__file__).parents[2]


def test_the_dashboard_queries_metrics_that_the_service_exports() -> None:
    source = (ROOT / "serve" / "metrics.py").read_text(encoding="utf-8")
    kinds = {
        str(node.args[0].value): node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Counter", "Gauge", "Histogram")
        and isinstance(node.args[0], ast.Constant)
    }
    suffixes = {"Counter": ("_total",), "Gauge": ("",), "Histogram": ("_bucket", "_count", "_sum")}
    exported = {f"ray_{name!s}{suffix}" for name, kind in kinds.items() for suffix in suffixes[kind]}
    board = json.loads((ROOT / "infra" / "grafana" / "finray.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    used = {name for expression in asked for name in re.findall(r"ray_finray_\w+", expression)}
    assert used
    assert used <= exported


def test_serve_and_the_application_accept_the_example_configuration() -> None:
    config = yaml.safe_load((ROOT / "infra" / "serve.yaml").read_text(encoding="utf-8"))
    (application,) = ServeDeploySchema.model_validate(config).applications
    arguments = ServeArguments.model_validate(application.args)
    assert application.import_path == "serve.app:build"
    assert arguments.answering is not None
    assert load_settings(arguments.preset, arguments.set, environment={}).serving.keys


def test_metrics_of_several_nodes_are_merged() -> None:
    node = (
        "# HELP ray_finray_requests_total Requests\n# TYPE ray_finray_requests_total counter\n"
        'ray_finray_requests_total{node="%s"} 1.0\n# HELP ray_other x\n# TYPE ray_other gauge\nray_other 2.0\n'
    )
    page = merged([node % "a", "", node % "b"])
    assert page.count("# TYPE ray_finray_requests_total") == 1
    assert 'node="a"' in page
    assert 'node="b"' in page
    assert "ray_other" not in page
