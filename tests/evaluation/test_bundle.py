"""A bundle measures models anywhere exactly as its workspace does, and refuses to run once anything in it changed."""

import io
import json
import shutil
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from likewise.encoders import read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import Bundle, make_bundle, open_bundle
from likewise.evaluation.bundles.card import checksum_of
from likewise.evaluation.bundles.evaluate import (
    BundleResults,
    MissingPairs,
    VectorFile,
    bundle_note,
    evaluate_bundle,
)
from likewise.evaluation.discovery import default_measures
from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.exchange.labels_io import labels_content
from likewise.evaluation.exchange.run_models import JUDGED, list_judged, list_run_candidates, run_tag
from likewise.evaluation.exchange.trec import TrecRun, read_run, write_run
from likewise.evaluation.exchange.vectors_io import align_vectors
from likewise.evaluation.measures import P
from likewise.evaluation.pairs import JudgedPairs, refuse_queries_without_candidates
from likewise.evaluation.provenance import benchmark_id, read_note, write_note
from likewise.evaluation.sampled_negatives import NegativeSampling
from likewise.evaluation.step import evaluate
from likewise.evaluation.summary import EvaluationSettings
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import ENCODERS, make_labelled

ABOUT: dict[str, Any] = {"title": "Shapes", "licence": "CC0-1.0", "description": "Drawn figures."}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    return make_labelled(tmp_path_factory.mktemp("bundle"))


@pytest.fixture
def folder(made: WorkspaceFolder, tmp_path: Path) -> Path:
    make_bundle(made, tmp_path / "shapes", **ABOUT)
    return tmp_path / "shapes"


@pytest.fixture
def zipped(made: WorkspaceFolder, tmp_path: Path) -> Path:
    make_bundle(made, tmp_path / "shapes.zip", **ABOUT)
    return tmp_path / "shapes.zip"


def vectors_of(made: WorkspaceFolder, name: str, bundle: Bundle) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return read_vectors(made, name, bundle.images)


def test_a_bundle_measures_exactly_as_its_workspace(made: WorkspaceFolder, zipped: Path, tmp_path: Path) -> None:
    there = evaluate(made, settings=EvaluationSettings.of_measures(None, (3, 5)), store=True).results
    bundle = open_bundle(zipped)
    np.save(tmp_path / "c.npy", vectors_of(made, "colour", bundle))  # no keys: rows in the bundle's image order
    mixed = sorted(bundle.images, reverse=True)
    np.save(tmp_path / "l.npy", read_vectors(made, "layout", mixed))
    (tmp_path / "l.txt").write_text("\n".join(mixed) + "\n")
    np.savez(tmp_path / "s.npz", vectors=read_vectors(made, "shape", mixed), keys=np.array(mixed))
    models: dict[str, Path | VectorFile] = {
        "colour": tmp_path / "c.npy",
        "layout": VectorFile(tmp_path / "l.npy", tmp_path / "l.txt"),
        "shape": tmp_path / "s.npz",
    }
    here = evaluate_bundle(zipped, models, measures=default_measures((3, 5))).results
    assert here.equals(there)
    assert here.filter("generator")["encoder"].unique().sort().to_list() == ["colour", "shape"]


def test_sampled_negatives_travel_with_the_bundle(made: WorkspaceFolder, tmp_path: Path) -> None:
    sampling = NegativeSampling(4, 8, per_positive=0.5)  # the gallery is too small for ranks 100-499
    there = evaluate(made, settings=EvaluationSettings(seed=3, negatives=sampling), store=True).results
    bundle = make_bundle(made, tmp_path / "b", seed=3, **ABOUT)
    assert bundle.card["negatives"]["n"] > 0
    assert (bundle.card["negatives"]["ranks"], bundle.card["negatives"]["per_positive"]) == ([4, 9], 0.5)
    models = {name: align_vectors(vectors_of(made, name, bundle), bundle.images) for name in ENCODERS}
    here = evaluate_bundle(bundle, models).results
    assert 'ROC_AUC(negatives="sampled")' in here["measure"].to_list()
    assert here.equals(there)


def test_a_run_file_is_measured_too(made: WorkspaceFolder, zipped: Path, tmp_path: Path) -> None:
    bundle = open_bundle(zipped)
    pairs = bundle.tables.pairs
    vectors = [read_vectors(made, "layout", images) for images in (pairs.queries, pairs.gallery)]
    write_run(list_run_candidates(pairs, *vectors, one_per_item=False), tmp_path / "l.run", "layout")
    by_run = evaluate_bundle(bundle, {"layout": read_run(tmp_path / "l.run")}).results
    lined_up = align_vectors(vectors_of(made, "layout", bundle), bundle.images)
    by_vectors = evaluate_bundle(bundle, {"layout": lined_up}).results
    hits = pl.col("measure").str.contains("@")
    assert by_run.equals(by_vectors.filter(~pl.col("measure").str.contains("sampled")))
    short = measure_short(bundle, tmp_path / "l.run")
    areas = short.filter(~hits)
    assert areas["value"].null_count() == len(areas) > 0
    assert areas["n_queries"].sum() == 0
    guessed = measure_short(bundle, tmp_path / "l.run", missing="last").filter(~hits)
    assert guessed["value"].null_count() == 0
    assert short.filter(hits)["value"].null_count() == 0
    judged = TrecRun(run_tag("layout", JUDGED), list_judged(pairs, *vectors, drawn=bundle.gallery_pairs))
    without_lists = evaluate_bundle(bundle, {"layout": judged}).results
    assert without_lists.filter(~hits).equals(by_run.filter(~hits))
    assert without_lists.filter(hits)["value"].null_count() == by_run.filter(hits).height


def measure_short(bundle: Bundle, path: Path, missing: MissingPairs = "undefined") -> pl.DataFrame:
    """The run at `path`, cut to three candidates per query."""
    run = read_run(path)
    short = TrecRun(run.tag, run.rows.filter(pl.col("rank") < 3))
    return evaluate_bundle(bundle, {"layout": short}, missing=missing).results


def test_the_same_bundle_has_the_same_bytes(made: WorkspaceFolder, zipped: Path, folder: Path, tmp_path: Path) -> None:
    again = make_bundle(made, tmp_path / "again.zip", **ABOUT)
    assert again.path.read_bytes() == zipped.read_bytes()
    assert open_bundle(folder).card == again.card
    with zipfile.ZipFile(zipped) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    other = make_bundle(made, tmp_path / "other.zip", **(ABOUT | {"licence": "MIT"}))
    assert other.card["checksum"] != again.card["checksum"]
    assert other.card["benchmark_id"] == again.card["benchmark_id"]


def test_the_card_tells_what_a_reader_needs_and_names_no_expert(made: WorkspaceFolder, folder: Path) -> None:
    card, text = open_bundle(folder).card, (folder / "card.md").read_text()
    assert (card["labels"]["n_experts"], card["labels"]["rule"]) == (3, "majority")
    assert card["labels"]["krippendorff_alpha"]["value"] == 1.0
    assert card["sizes"]["queries"] == 8
    assert card["sizes"]["labels"] == len(pl.read_parquet(folder / "labels.parquet"))
    for words in ("# Shapes", "CC0-1.0", "3 experts", "majority", "Krippendorff's alpha 1.000", "not included"):
        assert words in text
    assert "anna" not in text + json.dumps(card)
    assert "domain" not in pl.read_parquet(folder / "catalog.parquet").columns  # published only when asked
    wider = make_bundle(made, folder.parent / "wider", columns=["domain"], **ABOUT)
    assert wider.tables.catalog["domain"].n_unique() == 2


def test_pictures_go_along_when_wanted(made: WorkspaceFolder, tmp_path: Path) -> None:
    bundle = make_bundle(made, tmp_path / "with", with_images=True, **ABOUT)
    image = bundle.images[0]
    assert (tmp_path / "with" / "images" / image).read_bytes() == (made.root / image).read_bytes()
    (tmp_path / "with" / "images" / image).write_bytes(b"another picture")
    with pytest.raises(LikewiseError, match=f"images/{image} does not match its checksum"):
        open_bundle(tmp_path / "with")


@pytest.mark.parametrize("name", ["labels.parquet", "catalog.parquet", "pool.parquet", "card.md"])
def test_one_changed_byte_is_noticed_and_named(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(LikewiseError, match=f"{name} does not match its checksum: the bundle was changed or damaged"):
        open_bundle(folder)


def test_a_changed_card_or_a_missing_file_is_noticed(folder: Path) -> None:
    card = (folder / "card.json").read_text()
    (folder / "card.json").write_text(card.replace("CC0-1.0", "MIT"))
    with pytest.raises(LikewiseError, match=r"card.json does not match its checksum"):
        open_bundle(folder)
    (folder / "card.json").write_text(card)
    (folder / "queries.parquet").unlink()
    with pytest.raises(LikewiseError, match=r"queries.parquet is missing"):
        open_bundle(folder)
    with pytest.raises(LikewiseError, match="it is not a benchmark bundle"):
        open_bundle(folder.parent)
    with pytest.raises(LikewiseError, match="does not exist"):
        open_bundle(folder.parent / "none.zip")


def test_only_the_bundle_that_was_published(zipped: Path) -> None:
    checksum = open_bundle(zipped).card["checksum"]
    assert open_bundle(zipped, checksum.upper())
    with pytest.raises(LikewiseError, match="it is another benchmark bundle"):
        open_bundle(zipped, "0" * 64)


def test_a_damaged_zip_is_one_sentence(zipped: Path) -> None:
    data = bytearray(zipped.read_bytes())
    at = data.index(b"PAR1") + 40
    data[at] ^= 1
    zipped.write_bytes(data)
    with pytest.raises(LikewiseError, match=r"catalog.parquet does not match its checksum"):
        open_bundle(zipped)
    zipped.write_bytes(data[:200])
    with pytest.raises(LikewiseError, match="neither a folder nor a readable zip"):
        open_bundle(zipped)


def rezip(folder: Path, path: Path, inside: str = "", compression: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, inside + file.relative_to(folder).as_posix())


def test_a_bundle_zipped_by_hand_opens(folder: Path, tmp_path: Path) -> None:
    rezip(folder, tmp_path / "by-hand.zip", "shapes/")
    assert open_bundle(tmp_path / "by-hand.zip").card == open_bundle(folder).card


def test_names_that_lead_out_of_the_bundle_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    for name in ("../secret", "/etc/passwd", "a\\..\\b", "images/../../secret"):
        card = json.loads((folder / "card.json").read_text())
        card["files"][name] = {"bytes": 1, "sha256": "0" * 64}
        card["checksum"] = checksum_of(card)
        (folder / "card.json").write_text(json.dumps(card))
        with pytest.raises(LikewiseError, match="would lie outside the bundle"):
            open_bundle(folder)
        (folder / "card.json").write_text(json.dumps(card | {"files": {}}))


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "labels.parquet", tmp_path / "elsewhere.parquet")
    (folder / "labels.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(LikewiseError, match=r"labels.parquet is missing or cannot be read"):
        open_bundle(folder)


@pytest.mark.parametrize("name", ["card.md", "labels.parquet"])
def test_a_zip_bomb_is_read_no_further_than_the_card_says(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).write_bytes(bytes(30_000_000))  # thirty million zeros, a few kilobytes when zipped
    rezip(folder, tmp_path / "bomb.zip")
    tracemalloc.start()
    with pytest.raises(LikewiseError, match=f"{name} does not match its checksum"):
        open_bundle(tmp_path / "bomb.zip")
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()


def test_two_members_of_one_name_are_refused(zipped: Path) -> None:
    with zipfile.ZipFile(zipped, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("labels.parquet", b"other labels")
    with pytest.raises(LikewiseError, match="two files of one name"):
        open_bundle(zipped)


def test_vectors_that_do_not_fit_are_one_sentence(zipped: Path, tmp_path: Path) -> None:
    n = len(open_bundle(zipped).images)
    np.save(tmp_path / "short.npy", np.ones((n - 1, 4)))
    with pytest.raises(LikewiseError, match=f"short.npy has {n - 1} rows for {n} images and no keys"):
        evaluate_bundle(zipped, {"m": tmp_path / "short.npy"})
    broken = np.ones((n, 4))
    broken[2, 1] = np.nan
    np.save(tmp_path / "nan.npy", broken)
    with pytest.raises(LikewiseError, match=f"NaN or infinite numbers for 1 of {n} images"):
        evaluate_bundle(zipped, {"m": tmp_path / "nan.npy"})
    with pytest.raises(LikewiseError, match="there is no model to measure"):
        evaluate_bundle(zipped, {})
    with pytest.raises(LikewiseError, match="P needs a cutoff here, as in P@5"):
        evaluate_bundle(zipped, {"m": tmp_path / "nan.npy"}, measures=[P])


def test_what_is_there_is_not_overwritten(made: WorkspaceFolder, zipped: Path, folder: Path, tmp_path: Path) -> None:
    for path in (zipped, folder):
        with pytest.raises(LikewiseError, match="already exists: add `--replace`"):
            make_bundle(made, path, **ABOUT)
        make_bundle(made, path, replace=True, **(ABOUT | {"title": "New"}))
        assert open_bundle(path).card["title"] == "New"
    (tmp_path / "notes.zip").write_text("mine")
    with pytest.raises(LikewiseError, match="it is no bundle; choose another path"):
        make_bundle(made, tmp_path / "notes.zip", replace=True, **ABOUT)
    with pytest.raises(LikewiseError, match="needs a title and a licence"):
        make_bundle(made, tmp_path / "new.zip", title="x", licence=" ")
    assert not list(tmp_path.glob(".*"))


def test_imported_labels_claim_no_experts(made: WorkspaceFolder, tmp_path: Path) -> None:
    copy = WorkspaceFolder(tmp_path / "ws")
    shutil.copytree(made.path, copy.path)
    settings = json.loads(copy.settings_file.read_text())
    copy.settings_file.write_text(json.dumps(settings | {"root": str(made.root)}))
    (tmp_path / "tags.json").write_bytes(labels_content(pl.read_parquet(made.labels_file), ".json"))
    import_labels(copy, tmp_path / "tags.json", replace=True)
    bundle = make_bundle(copy, tmp_path / "b", **ABOUT)
    assert bundle.card["labels"]["labelled_by"] == "not known (the labels were imported without votes)"
    assert "labels: imported from tags.json" in (tmp_path / "b" / "card.md").read_text()
    assert bundle.card["benchmark_id"] == make_bundle(made, tmp_path / "c", **ABOUT).card["benchmark_id"]


def test_results_are_noted_with_date_command_and_benchmark(zipped: Path, tmp_path: Path) -> None:
    bundle = open_bundle(zipped)
    judged = BundleResults(pl.DataFrame(), pl.DataFrame(), ["a note"], 2.5)
    note = bundle_note(bundle, "likewise evaluate shapes.zip --vectors mine.npy", judged)
    assert (note.lineage, note.n_different) == (["a note"], 2.5)
    write_note(note, tmp_path / "mine.parquet")
    assert (tmp_path / "mine.note.json").exists()
    assert read_note(tmp_path / "mine.parquet") == note
    assert (note.benchmark, note.benchmark_id, note.n_experts) == ("Shapes", bundle.card["benchmark_id"], 3)
    assert note.date.endswith("Z")
    with pytest.raises(LikewiseError, match="evaluate again"):
        read_note(tmp_path / "none.parquet")


def test_a_benchmark_is_known_by_its_pairs_not_by_how_they_are_stored(zipped: Path) -> None:
    pairs = open_bundle(zipped).tables.pairs
    order = np.random.default_rng(0).permutation(len(pairs))
    mixed = JudgedPairs(
        pairs.queries, pairs.gallery, pairs.query_items + 7, pairs.gallery_items + 7,
        pairs.query[order], pairs.candidate[order], pairs.label[order],
    )  # fmt: skip
    assert benchmark_id(mixed) == benchmark_id(pairs)
    other = pairs.label.copy()
    other[0] ^= 1
    flipped = replace(pairs, label=other)
    assert benchmark_id(flipped) != benchmark_id(pairs)


def test_a_query_without_candidates_is_named() -> None:
    pairs = JudgedPairs(
        ["p", "q"], ["a", "b"], np.array([0, 1]), np.array([1, 1]),
        np.array([0]), np.array([0]), np.array([1], dtype=np.int8),
    )  # fmt: skip
    with pytest.raises(LikewiseError, match="the query q has no candidate: every gallery image shows its own item"):
        refuse_queries_without_candidates(pairs)


def test_parquet_in_the_bundle_opens_with_ordinary_tools(zipped: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        labels = pl.read_parquet(io.BytesIO(archive.read("labels.parquet")))
    assert labels.columns[:3] == ["query", "candidate", "label"]
