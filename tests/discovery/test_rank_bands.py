"""Similar pairs by rank: the share that is found in pairs drawn by band is the true one, and judges no model."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.discovery.pool import QueryGallery
from likewise.discovery.rank_bands import draw_band, parse_bands
from likewise.errors import LikewiseError
from likewise.evaluation.rank_bands import share_by_band
from likewise.workspace import WorkspaceFolder

from ..cli.conftest import Run, run
from ..evaluation.labelled_workspace import make_labelled
from ..report.test_page import Page

__all__ = ["run"]
BANDS = ((0, 2), (3, 9), (10, 39))


def test_bands_are_read_and_refused() -> None:
    assert parse_bands("0-5, 100-499") == ((0, 5), (100, 499))
    for text in ("", "5", "9-3", "a-b"):
        with pytest.raises(LikewiseError):
            parse_bands(text)


def test_the_interval_holds_the_true_share_of_a_band(rng: np.random.Generator) -> None:
    """Two lists over 60 items; the nearer the more similar. Over 200 draws the interval misses in about 5 %."""
    queries, gallery = [f"q{n:02d}" for n in range(30)], [f"g{n:02d}" for n in range(60)]
    catalog = pl.DataFrame({"image": [*queries, *gallery], "item": [*queries, *gallery]})
    asked = QueryGallery.from_catalog(catalog, queries, gallery)
    lists = [np.array([rng.permutation(60) for _ in queries]) for _ in range(2)]
    best = np.minimum(*(np.argsort(each, axis=1) for each in lists))
    similar = rng.random(best.shape) < 0.6 / (1 + best)
    labels = pl.DataFrame(
        [(q, c, int(similar[i, j])) for i, q in enumerate(queries) for j, c in enumerate(gallery)],
        schema={"query": pl.String, "candidate": pl.String, "label": pl.Int8},
        orient="row",
    )
    for first, last in BANDS:
        in_band = np.zeros_like(similar)
        for rows in lists:
            np.put_along_axis(in_band, rows[:, first : last + 1], True, axis=1)
        truth = similar[in_band].mean()
        everything = share_by_band(draw_band(asked, lists, (first, last), 10_000, 0), labels)
        assert everything["n_pairs"][0] == everything["n_drawn"][0] == in_band.sum()
        assert everything["share"][0] == pytest.approx(truth)
        missed = 0
        for seed in range(200):
            row = share_by_band(draw_band(asked, lists, (first, last), 50, seed), labels).row(0, named=True)
            missed += not row["low"] <= truth <= row["high"]
        assert missed <= 16, (first, last)  # an exact interval misses in at most 5 %: 10 of 200, 16 by chance


def test_from_drawn_pairs_to_the_table(run: Run, tmp_path: Path) -> None:
    workspace = make_labelled(tmp_path)
    before = json.loads(run("evaluate", workspace.path, "--json").out)["results"]
    assert "no pairs were drawn by rank" in run("evaluate", workspace.path, "--protocol", "bands").out
    ran = run("label", "add-pairs", workspace.path, "--by-rank", "0-2,3-9,500-509", "--per-band", 30)
    assert ran.code == 0, ran.err
    assert "pairs were drawn by rank" in ran.out and "no list reaches ranks 500 to 509" in ran.out
    drawn = pl.read_parquet(workspace.rank_bands_file)
    assert drawn.group_by("first_rank").len().sort("first_rank")["len"].to_list()[1] == 30
    vote_by_shape(workspace, drawn, run)
    told = json.loads(run("evaluate", workspace.path, "--protocol", "bands", "--json").out)
    near, far = told["tables"]["rank_bands"]
    assert near["n_labelled"] == near["n_drawn"] and far["n_labelled"] == far["n_drawn"] == 30
    same = [
        q.split("/")[0] == c.split("/")[0] for q, c in drawn.filter(first_rank=3).select("query", "candidate").rows()
    ]
    assert far["share"] == pytest.approx(np.mean(same)) and far["low"] < far["share"] < far["high"]
    main = 'ROC_AUC(negatives="annotated")'
    values = [{(r["encoder"], r["measure"]): r["value"] for r in rows} for rows in (before, told["results"])]
    for key in values[0]:
        if key[1] in ("ROC_AUC", "P@5", main):
            assert values[0][key] == values[1][key]  # the drawn pairs judge no model
    assert "4–10" in run("evaluate", workspace.path, "--protocol", "bands").out
    assert run("report", workspace.path).code == 0
    page = Page(workspace.report_file.read_text(encoding="utf-8")).text
    share = f"{100 * far['share']:.1f} % ({100 * far['low']:.1f}–{100 * far['high']:.1f})"
    assert f"At ranks 4 to 10, {share} of the pairs are similar." in page
    assert f"1–3 {near['n_pairs']} {near['n_drawn']} of {near['n_drawn']} {near['n_similar']}" in page


def vote_by_shape(workspace: WorkspaceFolder, pairs: pl.DataFrame, run: Run) -> None:
    votes = [
        (query, candidate, expert, "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar")
        for query, candidate in pairs.select("query", "candidate").unique().rows()
        for expert in ("anna", "ben", "carla")
    ]
    table = pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row")
    table.write_csv(workspace.path / "more.csv")
    ran = run("label", "import", workspace.path, workspace.path / "more.csv")
    assert ran.code == 0, ran.err
