"""Rules that answer without the question: found where planted, absent where templates are built against them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from likewise.conditional.templates.shortcuts import PLACES_SCHEMA, balance_places, shortcut_table
from likewise.conditional.towers import TwoTower
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]


def places(n: int, image: NDArray[np.int64], text: NDArray[np.int64]) -> pl.DataFrame:
    columns = (["change_attribute"] * n, range(n), [15] * n, image.tolist(), text.tolist())
    return pl.DataFrame(list(zip(*columns, strict=True)), schema=PLACES_SCHEMA, orient="row")


def test_a_planted_place_is_found_and_chance_is_not_taken_for_one() -> None:
    rng = np.random.default_rng(1)
    n = 4000
    planted = np.where(rng.random(n) < 0.3, 7, rng.integers(0, 15, n))
    table = shortcut_table(places(n, planted, rng.integers(0, 15, n)))
    by_image, by_text, top = table.iter_rows(named=True)
    assert by_image["shortcut"] == "number 8 nearest to the reference"
    assert by_image["low"] < 0.3 + 0.7 / 15 < by_image["high"] and by_image["n"] == n // 2
    assert by_text["low"] <= 1 / 15 <= by_text["high"]  # the best of 15 places, counted on other templates
    assert top["chance"] == pytest.approx(0.2) and top["value"] == pytest.approx(0.7 * 0.2, abs=0.02)


def test_balanced_templates_favour_no_place() -> None:
    rng = np.random.default_rng(2)
    n = 3000
    planted = np.where(rng.random(n) < 0.4, 7, rng.integers(0, 15, n))
    other = np.where(rng.random(n) < 0.3, 0, rng.integers(0, 15, n))
    found = places(n, planted, other)
    kept = found.join(balance_places(found, 300), on=["task", "template"], how="semi")
    assert kept.height == 300
    assert kept["image"].value_counts()["count"].to_list() == [20] * 15
    assert kept["text"].value_counts()["count"].max() <= 25  # type: ignore[operator]


def test_from_build_to_what_the_shortcuts_answer(
    run: Run, drawn: WorkspaceFolder, small_tower: TwoTower, tmp_path: Path
) -> None:
    options = ("--tasks", "change_attribute", "--per-task", 60, "--json")
    for name, more in (("easy", ()), ("balanced", ("--against", small_tower.spec))):
        built = run("condition", "build", drawn.path, "--name", f"shortcut-{name}", *options, *more)
        assert built.code == 0, built.err
    answers = {}
    for name in ("easy", "balanced"):
        audit = ("--templates", f"shortcut-{name}", "--with", small_tower.spec)
        ran = run("condition", "audit", drawn.path, *audit, "--json")
        rows = json.loads(ran.out)["shortcuts"]
        answers[name] = {row["shortcut"]: row["value"] for row in rows}
        assert "What answers without the question" in run("condition", "audit", drawn.path, *audit).out
    top = "among the 3 nearest to the reference"
    assert abs(answers["balanced"][top] - 3 / 15) <= abs(answers["easy"][top] - 3 / 15)
    assert answers["balanced"][top] == pytest.approx(3 / 15, abs=0.07)
