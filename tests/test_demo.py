"""The demo keeps its promises: it is run here as a user runs it, and what it prints is counted again by brute force."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import polars as pl
import pytest

from likewise.synthetic import SIMILAR_AT, similarity
from likewise.workspace import WorkspaceFolder, read_json
from tests.warm import warm

SMALL = ("--items", "40", "--n-queries", "12", "--seed", "4")
DATED = "results/discovery.note.json"  # says when the results were made; the only file that reads the clock


def demo(folder: Path, python: list[str], *options: str) -> str:
    ran = subprocess.run([*python, "demo", "demo", *options], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[WorkspaceFolder, str]:
    """The demo in full size: 600 items, 1,800 images, 100 queries, 5 encoders, k = 6, 3 experts."""
    folder = tmp_path_factory.mktemp("whole")
    printed = demo(folder, [sys.executable, "-m", "likewise"])
    return WorkspaceFolder(folder / "demo"), printed


def test_sizes_are_as_promised(whole: tuple[WorkspaceFolder, str]) -> None:
    workspace, _ = whole
    catalog, pool = pl.read_parquet(workspace.catalog_file), pl.read_parquet(workspace.pool_file)
    assert (len(catalog), catalog["item"].n_unique(), catalog["category"].n_unique()) == (1800, 600, 20)
    candidates = pool.filter(pl.col("generator") != "random")
    assert (candidates["query"].n_unique(), candidates["generator"].n_unique(), candidates["rank"].max()) == (100, 5, 5)
    assert read_json(workspace.labels_settings_file)["agreement"]["n_experts"] == 3
    assert workspace.report_file.exists()


def test_the_reference_names_every_column_of_every_table(whole: tuple[WorkspaceFolder, str]) -> None:
    workspace, _ = whole
    page = (Path(__file__).parents[1] / "docs" / "columns.md").read_text(encoding="utf-8")
    tables, meanings = page.split("## What the columns mean")
    listed = {
        pattern: set(re.findall("`([^`]+)`", columns))
        for names, columns in re.findall(r"^\| (`.+parquet`) \| (.+) \|$", tables, re.MULTILINE)
        for pattern in re.findall("`([^`]+)`", names)
    }
    explained = set(re.findall("`([^`]+)`", " ".join(re.findall(r"^\| (.+?) \|", meanings, re.MULTILINE))))
    found = {path.relative_to(workspace.path).as_posix(): path for path in workspace.path.rglob("*.parquet")}
    assert len(found) > 25
    for name, path in found.items():
        (pattern,) = [one for one in listed if fnmatch(name, one)] or [f"{name} is not on the page"]
        columns = set(pl.read_parquet_schema(path))
        if name.startswith("results/table_"):
            assert "encoder" in listed[pattern] or "generator" in listed[pattern]
        elif name == "catalog.parquet":
            assert listed[pattern] <= columns  # and the wardrobe's own
        else:
            assert columns - {"grade"} <= listed[pattern], name
    every = set().union(*(columns for name, columns in listed.items() if "table_" not in name))
    assert every - explained == set()
    assert explained <= every


def test_the_share_found_is_what_brute_force_counts(whole: tuple[WorkspaceFolder, str]) -> None:
    workspace, printed = whole
    catalog = pl.read_parquet(workspace.catalog_file)
    items = catalog.unique("item").sort("item")
    row = {item: number for number, item in enumerate(items["item"])}
    item_of = dict(catalog.select("image", "item").iter_rows())
    pool = pl.read_parquet(workspace.pool_file)
    queries = pool["query"].unique().sort().to_list()
    truly = set()
    for query in queries:
        others = [item for item in row if item != item_of[query]]
        graded = similarity(
            items,
            pl.Series([row[item_of[query]]] * len(others)).to_numpy(),
            pl.Series([row[item] for item in others]).to_numpy(),
        )
        truly |= {(query, item) for item, value in zip(others, graded, strict=True) if value >= SIMILAR_AT}
    labels = pl.read_parquet(workspace.labels_file).filter(pl.col("label") == 1)
    confirmed = {(q, item_of[c]) for q, c in labels.select("query", "candidate").iter_rows()}
    asked = pool.select("query", "candidate").unique().height
    truth = read_json(workspace.results_folder / "summary.json")["truth"]
    assert truth["similar"] == len(truly)
    assert truth["found"] == len(truly & confirmed)
    assert truth["cost"] == pytest.approx(asked / (100 * 599))
    said = " ".join(printed.split())
    share, cost = round(100 * len(truly & confirmed) / len(truly)), 100 * asked / (100 * 599)
    assert f"The EDS pool and its experts found {share} % of all truly similar pairs" in said
    assert f"at {cost:.1f} % of the brute-force cost" in said
    assert share > 40
    assert cost < 6


def test_the_network_of_the_base_install_is_ahead_of_every_descriptor(whole: tuple[WorkspaceFolder, str]) -> None:
    workspace, _ = whole
    results = pl.read_parquet(workspace.results_folder / "discovery.parquet")
    for measure in ("ROC_AUC", 'ROC_AUC(average="micro")', "AP", "P@5"):
        rows = results.filter(pl.col("measure") == measure).sort("value")
        assert rows["encoder"].to_list()[-1] == "efficientnet-lite0", measure
    assert results["n_queries"].min() >= 90  # type: ignore[operator]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo that two tests share: one repeats it elsewhere, one runs it again in its place."""
    folder = tmp_path_factory.mktemp("small")
    demo(folder, warm("-m", "likewise"), *SMALL)
    return folder


def test_two_runs_with_one_seed_give_identical_files(small: Path, tmp_path: Path) -> None:
    demo(tmp_path, warm("-m", "likewise"), *SMALL)
    first, second = small / "demo", tmp_path / "demo"
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    assert len(files) > 120
    different = [str(file) for file in files if (first / file).read_bytes() != (second / file).read_bytes()]
    assert different in ([], [DATED])


def test_running_it_again_does_nothing_twice(small: Path) -> None:
    shards = {path: path.stat().st_mtime_ns for path in (small / "demo" / "vectors").rglob("*.npy")}
    assert shards
    printed = demo(small, warm("-m", "likewise"), *SMALL)
    assert printed.count("already encoded") >= 5
    assert {path: path.stat().st_mtime_ns for path in shards} == shards


def test_numbers_as_json(whole: tuple[WorkspaceFolder, str]) -> None:
    workspace, _ = whole
    ran = subprocess.run(
        [*warm("-m", "likewise"), "evaluate", str(workspace.path), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(ran.stdout)["results"]
    assert {"encoder", "measure", "value", "low", "high", "n_queries", "n_pairs"} <= set(rows[0])
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
