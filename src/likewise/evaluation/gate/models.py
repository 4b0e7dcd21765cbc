"""The models of a gate: vectors (stored or in a file), an encoder spec, an ONNX file, or a search engine's run file."""

import shutil
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote

import polars as pl

from likewise.catalog import read_catalog
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.short_names import is_encoder_name
from likewise.encoders.spec import parse_spec, spec_name
from likewise.encoders.storage.files import vectors_folder
from likewise.encoders.storage.importing import import_vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.auc import Ints
from likewise.evaluation.discovery import score_encoder
from likewise.evaluation.exchange.ranked_csv import RUN_FILES, read_run_file
from likewise.evaluation.exchange.run_models import evaluate_run
from likewise.evaluation.exchange.trec import TrecRun
from likewise.evaluation.pairs import JudgedPairs
from likewise.labeling.step import read_labels
from likewise.lineage.files import read_lineage, sidecar_file
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

VECTOR_FILES = (".npy", ".npz", ".parquet", ".safetensors")


@dataclass(frozen=True)
class GateModel:
    """A model by the name it has in sentences; `run` where it is a run file, stored vectors of that name otherwise.

    `brought` says that this gate took them from a file.
    """

    name: str
    lineage: Lineage
    run: TrecRun | None = None
    brought: bool = False

    def forget_if_brought(self, workspace: WorkspaceFolder) -> None:
        """A file that is refused leaves nothing behind: its images would be all that other models are measured on."""
        if self.brought:
            shutil.rmtree(vectors_folder(workspace, self.name))


@dataclass(frozen=True)
class ModelLists:
    """The first k candidates of every query, and what must be said about them."""

    lists: Ints
    notes: tuple[str, ...] = ()


def find_model(workspace: WorkspaceFolder, text: str, on_progress: ProgressCallback | None = None) -> GateModel:
    """The model that a user named; vectors it lacks are made or brought in first."""
    path = Path(text).expanduser()
    if text not in workspace.encoders() and path.is_file():
        if path.suffix.lower() in RUN_FILES:
            run = results_as_images(read_run_file(path), read_catalog(workspace), read_labels(workspace))
            return GateModel(path.name, read_lineage(sidecar_file(path)) or Lineage(unknown=(path.name,)), run)
        if path.suffix.lower() in VECTOR_FILES:
            known = workspace.encoders()
            name = import_vectors(workspace, path.stem, path).encoder
            return GateModel(name, encoder_lineage(workspace, name), brought=name not in known)
        if path.suffix.lower() != ".onnx":
            raise LikewiseError(
                f"{path} is of no kind that a gate reads: give vectors ({', '.join(VECTOR_FILES)}), an .onnx file, "
                f"or a run ({', '.join(RUN_FILES)})."
            )
        text = f"onnx:{quote(str(path), safe='/:~ ')}"
    name = text if text in workspace.encoders() else spec_name(text)
    if name not in workspace.encoders():
        if not all(part.family or is_encoder_name(part.target) for part in parse_spec(text)):
            there = ", ".join(workspace.encoders()) or "none"
            close = get_close_matches(text, workspace.encoders(), n=1, cutoff=0.5)
            meant = f"did you mean {close[0]!r}? It" if close else "it"
            raise LikewiseError(
                f"there is no model {text!r}: {meant} is no file, no encoder, and none of the vectors of "
                f"{workspace.path} ({there})."
            )
        encode_catalog(workspace, [text], on_progress=on_progress)
    return GateModel(name, encoder_lineage(workspace, name))


def results_as_images(run: TrecRun, catalog: pl.DataFrame, labels: pl.DataFrame) -> TrecRun:
    """A run whose results are items, as a shop's engine returns them, with an image of each: a labelled one if any."""
    of_items = run.rows.join(catalog.select("image"), left_on="candidate", right_on="image", how="anti")
    of_items = of_items.join(catalog.select("item", "image").cast(pl.String), left_on="candidate", right_on="item")
    if of_items.is_empty():
        return run
    labelled = labels.select("query", pl.col("candidate").alias("image"), known=pl.lit(True))
    chosen = of_items.join(labelled, on=["query", "image"], how="left").filter(pl.col("image") != pl.col("query"))
    chosen = chosen.sort("known", "image", nulls_last=True).unique(["query", "candidate"], keep="first")
    images = chosen.select("query", "candidate", "image")
    rows = run.rows.join(images, on=["query", "candidate"], how="left", maintain_order="left")
    rows = rows.with_columns(candidate=pl.coalesce("image", "candidate")).drop("image")
    return TrecRun(run.tag, rows.unique(["query", "candidate"], keep="first", maintain_order=True))


def model_lists(workspace: WorkspaceFolder, model: GateModel, pairs: JudgedPairs, k: int) -> ModelLists:
    """Its lists: the best image of each item, never of the query's own item, as `evaluate` has them."""
    if model.run is None:
        queries, gallery = (read_vectors(workspace, model.name, each) for each in (pairs.queries, pairs.gallery))
        return ModelLists(score_encoder(model.name, pairs, queries, gallery, k).lists)
    found = evaluate_run(model.run, pairs, k)
    lists = found.measured.lists
    n_short = int((lists[:, -1] < 0).sum()) - found.n_missing_queries
    notes = []
    if found.n_missing_queries:
        notes.append(f"{model.name} has no result for {found.n_missing_queries} of {len(lists)} queries: all missed")
    if found.n_outside:
        notes.append(
            f"{found.n_outside:,} results of {model.name} are of other queries or images than these: they are taken "
            "out, and the results after them move up"
        )
    if n_short:
        notes.append(
            f"{model.name} lists fewer than {k} items for {n_short} of {len(lists)} queries: the places after them "
            "count as missed"
        )
    return ModelLists(lists, tuple(notes))
