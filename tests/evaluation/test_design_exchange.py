"""Inclusion probabilities and rounds survive every file that has a place for them: the same estimates come out."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.discovery.step import read_pool
from likewise.encoders import read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import make_bundle, open_bundle
from likewise.evaluation.bundles.evaluate import evaluate_bundle
from likewise.evaluation.discovery import default_measures
from likewise.evaluation.exchange.labels_export import export_labels
from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.step import evaluate
from likewise.evaluation.summary import EvaluationSettings
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import DRAWN, ENCODERS, make_labelled

SETTINGS = EvaluationSettings.of_measures(None, (3, 5))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """72 drawn pairs of 12 queries, 5 of them never answered."""
    return make_labelled(tmp_path_factory.mktemp("drawn"), DRAWN, n_unanswered=5)


@pytest.fixture
def elsewhere(drawn: WorkspaceFolder, tmp_path: Path) -> WorkspaceFolder:
    """The same catalog and vectors with neither pool nor votes."""
    copy = WorkspaceFolder(tmp_path / "elsewhere")
    shutil.copytree(drawn.path, copy.path)
    for path in (copy.pool_file, copy.pool_settings_file, copy.labels_file, copy.labels_settings_file, copy.votes_file):
        path.unlink()
    return copy


def catalog_values(workspace: WorkspaceFolder) -> pl.DataFrame:
    return evaluate(workspace, settings=SETTINGS, store=True).tables["catalog"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".prels"])
def test_a_round_trip_gives_the_same_estimates(
    drawn: WorkspaceFolder, elsewhere: WorkspaceFolder, tmp_path: Path, ending: str
) -> None:
    made = export_labels(drawn, ending)
    assert (made.n_labels, made.n_drawn) == (67, 72)
    (tmp_path / f"labels{ending}").write_bytes(made.content)
    done = import_labels(elsewhere, tmp_path / f"labels{ending}")
    assert (done.n_labels, done.n_unjudged, done.n_drawn, done.n_outside_pool) == (67, 5, 72, 0)
    columns = ["query", "candidate", "probability", "round"]
    before, after = (read_pool(one).rows.select(columns).sort(pl.all()) for one in (drawn, elsewhere))
    assert after.equals(before)
    assert catalog_values(elsewhere).equals(catalog_values(drawn))  # value by value, every interval end
    assert export_labels(elsewhere, ".prels").content == export_labels(drawn, ".prels").content


def test_a_bundle_estimates_the_whole_catalog_anywhere(drawn: WorkspaceFolder, tmp_path: Path) -> None:
    there = catalog_values(drawn)
    bundle = make_bundle(drawn, tmp_path / "b.zip", title="Shapes", licence="CC0-1.0")
    assert "drawn among all pairs with known probabilities" in _card_text(tmp_path / "b.zip")
    for name in ENCODERS:
        np.save(tmp_path / f"{name}.npy", read_vectors(drawn, name, bundle.images))
    models = {name: tmp_path / f"{name}.npy" for name in ENCODERS}
    here = evaluate_bundle(tmp_path / "b.zip", models, measures=default_measures((3, 5)))
    assert here.catalog is not None
    assert here.catalog.facts.n_labelled == 67
    assert here.catalog.values.equals(there)


def _card_text(path: Path) -> str:
    import zipfile

    assert open_bundle(path).card["pool"]["design"] == "sampled"
    with zipfile.ZipFile(path) as opened:
        return opened.read("card.md").decode()


def test_a_label_outside_the_design_counts_for_no_estimate(
    drawn: WorkspaceFolder, elsewhere: WorkspaceFolder, tmp_path: Path
) -> None:
    table = pl.read_csv(export_labels(drawn, ".csv").content)
    asked = {(row["query"], row["candidate"]) for row in table.iter_rows(named=True)}
    query = table["query"][0]
    gallery = read_pool(drawn).query_gallery.gallery
    free = next(image for image in gallery if (query, image) not in asked and image.split("-")[0] != query[:-6])
    more = pl.DataFrame({"query": [query], "candidate": [free], "label": [1], "round": [0]})
    pl.concat([table, more], how="diagonal_relaxed").write_csv(tmp_path / "more.csv")
    done = import_labels(elsewhere, tmp_path / "more.csv")
    assert (done.n_labels, done.n_outside_pool) == (68, 1)
    assert catalog_values(elsewhere).equals(catalog_values(drawn))


def test_rounds_survive(drawn: WorkspaceFolder, elsewhere: WorkspaceFolder, tmp_path: Path) -> None:
    table = pl.read_csv(export_labels(drawn, ".csv").content)
    later = pl.int_range(pl.len()).over("query") % 3 == 2
    table.with_columns(round=pl.when(later).then(2).otherwise(1)).write_csv(tmp_path / "rounds.csv")
    import_labels(elsewhere, tmp_path / "rounds.csv")
    assert read_pool(elsewhere).settings.design == "adaptive"
    assert export_labels(elsewhere, ".csv").content == (tmp_path / "rounds.csv").read_bytes()
    assert len(catalog_values(elsewhere)) > 0


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("0", "line 2: the inclusion probability 0 is not above 0 and at most 1"),
        ("1.5", "the inclusion probability 1.5 is not above 0"),
        ("nan", "the inclusion probability nan is not above 0"),
        ("often", "the inclusion probability 'often' is not a number"),
        ("", "row 3 has no inclusion probability, but other rows of bad.csv have"),
    ],
)
def test_probabilities_that_cannot_be_are_one_sentence(
    elsewhere: WorkspaceFolder, tmp_path: Path, written: str, sentence: str
) -> None:
    query, one, other = "circle/red-0.png", "circle/blue-0.png", "square/red-0.png"
    path = tmp_path / ("bad.prels" if "line" in sentence else "bad.csv")
    if path.suffix == ".prels":
        path.write_text(f"{query} {one} 1 1 0.5\n{query} {other} 0 1 {written}\n")
    else:
        head = "query,candidate,label,inclusion_probability,round"
        path.write_text(f"{head}\n{query},{one},1,0.5,1\n{query},{other},0,{written},1\n")
    with pytest.raises(LikewiseError) as caught:
        import_labels(elsewhere, path)
    assert sentence in str(caught.value)
    assert not elsewhere.labels_file.exists()


def test_two_designs_are_not_mixed(drawn: WorkspaceFolder, elsewhere: WorkspaceFolder, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    table = pl.read_csv(export_labels(drawn, ".csv").content)
    table.write_csv(path)
    import_labels(drawn, path, replace=True)  # its own design: nothing to object
    halved = table.with_columns(pl.col("inclusion_probability") / 2)
    halved.write_csv(path)
    with pytest.raises(LikewiseError, match="other inclusion probabilities than the pool here for 72 pairs"):
        import_labels(drawn, path, replace=True)
    pl.concat([table.head(3), halved.head(3)]).write_csv(path)
    with pytest.raises(LikewiseError, match="two designs are mixed"):
        import_labels(elsewhere, path)
    pooled = make_labelled(tmp_path / "eds")
    table.write_csv(path)
    with pytest.raises(LikewiseError, match="the pool here is an EDS pool: two designs would be mixed"):
        import_labels(pooled, path, replace=True)
