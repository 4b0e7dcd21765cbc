"""`evaluate --classes` and `evaluate --triplets` as typed: what they print, what they store, what they refuse."""

import json

import numpy as np
import polars as pl
import pytest

from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.retrieval import retrieval
from likewise.workspace import WorkspaceFolder

from .conftest import Run
from .test_road import pooled  # noqa: F401 - a fixture


def test_retrieval_by_any_column(pooled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    ran = run("evaluate", pooled.path, "--classes", "category", "--clusters")
    assert ran.code == 0, ran.err
    assert "24 of 24 images have another image of the same category" in ran.out
    numbers = json.loads(run("evaluate", pooled.path, "--classes", "category", "--json").out)
    rows = {(row["encoder"], row["measure"]): row for row in numbers["retrieval"]}
    catalog = pl.read_parquet(pooled.catalog_file)
    ours = retrieval(read_vectors(pooled, "shape", catalog["image"].to_list()), catalog["category"].to_list())
    assert rows["shape", "MAP@R"]["value"] == pytest.approx(np.nanmean(ours.per_query("MAP@R")))
    assert rows["shape", "MAP@R"]["value"] > rows["colour", "MAP@R"]["value"]
    stored = pl.read_parquet(pooled.results_folder / "retrieval.parquet")
    assert stored.height == len(numbers["retrieval"])
    assert "no column 'shelf'" in run("evaluate", pooled.path, "--classes", "shelf").err
    alone = run("evaluate", pooled.path, "--classes", "image")
    assert alone.code == 2 and "no two images have the same image" in alone.err and "category" in alone.err


def test_triplets_with_the_order_said(pooled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    items = pl.read_parquet(pooled.catalog_file).select("item", "category").unique().sort("item")
    first, others = items.row(0), items.slice(1)
    close = others.filter(pl.col("category") == first[1])["item"].to_list()
    far = others.filter(pl.col("category") != first[1])["item"].to_list()[: len(close)]
    answers = pooled.path / "answers.csv"
    rows = [(first[0], near, away) for near, away in zip(close, far, strict=True)]
    pl.DataFrame(rows, schema=["anchor", "close", "far"], orient="row").write_csv(answers)
    typed = ("evaluate", pooled.path, "--triplets", answers, "--order")
    ran = run(*typed, "anchor close far", "--with", "shape", "--json")
    assert json.loads(ran.out)[0]["value"] == 1.0
    assert f"{len(rows)} of {len(rows)} triplets, 1 references" in run(*typed, "anchor close far").out
    for wrong in ("anchor far close", "close far"):  # the header says otherwise; no such order
        assert run(*typed, wrong).code == 2
