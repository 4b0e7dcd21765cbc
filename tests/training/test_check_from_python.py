"""`Workspace.train_check` has the options of `likewise train check`, under the same names, and gives the same table."""

import inspect
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.training.cli.check import check as command
from likewise.training.workspace_methods import train_check

from .check_toy import Check, toy_workspace

COMMAND_LINE_ONLY = {
    "as_json": "the method returns a table",
    "search_only": "a second process that helps is started on the command line",
    "engine": "no method of a workspace starts a cluster",
    "address": "as engine",
}
PYTHON_ONLY = {"on_progress": "the command draws its own bar"}
OTHER_DEFAULTS = {
    "methods": "names in a sequence; none are all, or contrastive with ablate",
    "ablate": "names in a sequence",
    "compare_with": "folders in a sequence",
    "workers": "one: processes that are started need a guarded main module",
}


def test_every_option_of_the_command_is_one_of_the_method() -> None:
    typed, called = inspect.signature(command).parameters, inspect.signature(train_check).parameters
    assert set(typed) - set(COMMAND_LINE_ONLY) == set(called) - set(PYTHON_ONLY)
    assert set(COMMAND_LINE_ONLY) <= set(typed) and set(PYTHON_ONLY) <= set(called)
    for name in set(typed) & set(called) - set(OTHER_DEFAULTS):
        assert typed[name].default == called[name].default, name


def test_options_of_the_method_reach_the_training(tmp_path: Path, check: Check) -> None:
    """The same numbers as the command's, whatever the options: one that did not arrive would change them."""
    workspace = toy_workspace(tmp_path)
    words: dict[str, Any] = {
        "sampling": "image",
        "schedule": "cosine",
        "warmup": 3,
        "batch": 16,
        "optimiser": "adam",
        "lr": 1e-3,
    }
    short: dict[str, Any] = {
        "column": "kind",
        "encoder": "toy",
        "dim": 8,
        "trials": 1,
        "reruns": 2,
        "steps": 20,
        "evaluate_every": 10,
    }
    done = lw.Workspace(workspace.path).train_check(["contrastive"], name="python", **words, **short)
    typed = [part for name, value in words.items() for part in (f"--{name}", str(value))]
    told = check(workspace, "contrastive", *typed, "--trials", "1")
    values = {(row["method"], row["embedding"], row["measure"]): row["value"] for row in told["accuracy"]}
    assert values == {
        tuple(row[:3]): row[3] for row in done.table.select("method", "embedding", "measure", "value").rows()
    }


def test_an_ablation_from_python_shows_every_setting(tmp_path: Path) -> None:
    workspace = lw.Workspace(toy_workspace(tmp_path).path)
    short: dict[str, Any] = {
        "column": "kind",
        "encoder": "toy",
        "dim": 8,
        "trials": 1,
        "reruns": 2,
        "steps": 20,
        "evaluate_every": 10,
        "lr": 1e-3,
    }
    done = workspace.train_check(ablate=["embedding-size"], **short)
    rows = ("as planned", "without training", "embedding-size: 4", "embedding-size: 32")
    assert done.names == [f"contrastive, {row}" for row in rows] and done.folder.name == "ablation"
    assert "embedding-size: 32" in repr(done) and done.plot("MAP@R").axes
    with pytest.raises(lw.LikewiseError, match="--ablate takes some of"):
        workspace.train_check(ablate=["colour"], **short)
