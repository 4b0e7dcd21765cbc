"""`likewise train perceptual` from labels and from triplets, as a user runs it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from likewise.encoders import read_vectors
from likewise.evaluation.ranking import MAIN, measure_is
from likewise.workspace import WorkspaceFolder

from .conftest import Run


@pytest.fixture
def shop(tmp_path: Path, run: Run) -> Path:
    """A small drawn wardrobe with simulated labels."""
    path = tmp_path / "shop"
    for step in (
        ("new", path, "--wardrobe", "--items", 60, "--views", 2),
        ("encode", path, "--with", "colour,layout", "--workers", 1),
        ("discover", path, "--n-queries", 30, "--k", 8),
        ("label", "simulate", path),
    ):
        ran = run(*step)
        assert ran.code == 0, ran.err
    return path


def test_labels_become_an_encoder_that_is_measured_on_unseen_queries(shop: Path, run: Run) -> None:
    options = ("--hidden", "0", "--folds", 3, "--unseen", "queries")
    ran = run("train", "perceptual", shop, *options, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    rows = [row for row in told["results"] if row["measure"] == "ROC_AUC"]
    assert [row["encoder"] for row in rows] == ["perceptual", "colour", "layout"]
    assert all(row["unseen"] == "queries" and row["low"] <= row["value"] <= row["high"] for row in rows)
    assert told["summary"]["learned_from"] == "labels" and told["summary"]["bases"] == ["colour", "layout"]
    assert run("encode", shop, "--with", "run:perceptual").code == 0
    workspace = WorkspaceFolder(shop)
    assert workspace.encoders() == ["colour", "layout", "perceptual"]
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    assert read_vectors(workspace, "perceptual", images).shape[0] == len(images)

    measured = run("evaluate", shop)
    assert measured.code == 0 and "perceptual learned from" in measured.out and "is left out; name it" in measured.out
    assert set(pl.read_parquet(shop / "results" / "discovery.parquet")["encoder"]) == {"colour", "layout"}
    named = run("evaluate", shop, "--with", "perceptual,layout")
    assert named.code == 0 and "its numbers are on answers it has seen" in named.out
    assert run("report", shop).code == 0
    page = (shop / "report" / "index.html").read_text(encoding="utf-8")
    assert 'id="learned"' in page and "Queries that were never trained on" in page

    again = run("train", "perceptual", shop, *options)
    assert again.code == 2 and "give this one another --name, or --force" in again.err
    weights = (shop / "runs" / "perceptual" / "encoder.safetensors").read_bytes()
    table = run("train", "perceptual", shop, "--quick", "--force")  # the same as the options above
    assert table.code == 0 and "queries that were never trained on" in table.out
    verdicts = ("learning helped:", "no improvement shown:", "not an improvement:")
    assert sum(verdict in table.out for verdict in verdicts) == 1
    card = (shop / "runs" / "perceptual" / "card.md").read_text(encoding="utf-8")
    head = yaml.safe_load(card.split("---")[1])
    measured_values = {one["type"]: one["value"] for one in head["model-index"][0]["results"][0]["metrics"]}
    assert measured_values["ROC_AUC"] == rows[0]["value"]
    assert (shop / "runs" / "perceptual" / "encoder.safetensors").read_bytes() == weights
    assert run("train", "perceptual", shop, "--unseen", "pictures", "--name", "x").code == 2


def test_triplets_of_a_test_split_are_only_measured(shop: Path, run: Run, tmp_path: Path) -> None:
    items = pl.read_parquet(shop / "catalog.parquet")["item"].unique().sort().to_list()
    lines = ["split,anchor,close,far"]
    rng = np.random.default_rng(0)
    for number in range(160):
        named = ",".join(items[row] for row in rng.choice(len(items), 3, replace=False))
        lines.append(f"{'test' if number % 4 == 0 else 'train'},{named}")
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--hidden", "0", "--folds", 2, "--unseen", "answers", "--test", "split=test", "--name", "taught")
    ran = run("train", "perceptual", shop, "--triplets", answers, *options, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    n_test = sum(line.startswith("test") for line in lines)
    assert told["summary"]["n_answers"] == len(lines) - 1 - n_test and told["summary"]["n_test_answers"] == n_test
    assert {row["unseen"] for row in told["results"]} == {"answers", "given test"}
    assert all(row["n_answers"] == n_test for row in told["results"] if row["unseen"] == "given test")

    answers.write_text("\n".join([*lines, lines[1].replace("test", "train")]) + "\n", encoding="utf-8")
    leaky = run("train", "perceptual", shop, "--triplets", answers, *options[:-1], "leaky")
    assert leaky.code == 2 and "1 of the test answers" in leaky.err


def test_a_tuned_network_stands_beside_its_base_in_the_report(shop: Path, run: Run) -> None:
    base = "small?size=24"
    options = ("--with", base, "--task", "id+c", "--epochs", 1, "--lr", 1e-3)
    told = run("train", "finetune", shop, *options)
    assert told.code == 0, told.err
    assert "60 items, 20 categories" in " ".join(told.out.split())
    assert (shop / "runs" / "small_size-24-id-c" / "curve.svg").read_text(encoding="utf-8").startswith("<svg")
    again = run("train", "finetune", shop, *options)
    assert again.code == 2 and "give this run another --name" in again.err
    for step in (("encode", shop, "--with", f"{base},run:small_size-24-id-c", "--workers", 1), ("report", shop)):
        ran = run(*step)
        assert ran.code == 0, ran.err
    changed = pl.read_parquet(shop / "results" / "trained.parquet")
    assert changed["encoder"].unique().to_list() == ["small_size-24-id-c"]
    assert changed["base"].unique().to_list() == ["small_size-24"]
    assert changed["question"].to_list() == ["discovery", "identification"]
    results = pl.read_parquet(shop / "results" / "discovery.parquet").filter(measure_is(MAIN))
    values = dict(results.select("encoder", "value").iter_rows())
    assert changed["gain"][0] == pytest.approx(values["small_size-24-id-c"] - values["small_size-24"])
    page = (shop / "report" / "index.html").read_text(encoding="utf-8")
    assert 'id="trained-table"' in page and "items and categories" in page
    # It was taught the items that identification asks for: said, and not drawn as a gain.
    assert "was taught the very items" in page and 'id="plot-trained"' not in page


def test_a_whole_network_learns_from_labels_and_is_not_measured_on_them(shop: Path, run: Run) -> None:
    how = ("--steps", 2, "--batch", 16, "--folds", 2, "--unseen", "queries", "--name", "seeing")
    ran = run("train", "perceptual", shop, "--trunk", "small?size=16", *how, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["summary"]["bases"] == ["small?size=16"] and told["summary"]["learned_from"] == "labels"
    assert told["summary"]["choice"]["steps"] in (0, 1, 2)
    assert {row["encoder"] for row in told["results"]} == {"seeing", "colour", "layout"}
    assert run("encode", shop, "--with", "run:seeing", "--workers", 1).code == 0
    measured = run("evaluate", shop)
    assert measured.code == 0 and "seeing learned from" in measured.out and "is left out; name it" in measured.out
    both = run("train", "perceptual", shop, "--trunk", "small?size=16", "--with", "colour", "--name", "both")
    assert both.code == 2 and "leave --with out, or --trunk" in both.err
