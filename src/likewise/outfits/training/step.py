"""The step `likewise outfits train` on the files of a workspace: which outfits, which vectors, which folder."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from likewise.catalog.readers.table import read_table
from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.errors import LikewiseError
from likewise.lineage.halves import select_half
from likewise.optional_dependencies import import_optional
from likewise.outfits.bundle import open_test
from likewise.outfits.models.card import OutfitModelCard, models_folder, read_model_card
from likewise.outfits.models.feature_source import WorkspaceFeatures, joined_vectors
from likewise.outfits.protocol import Outfit
from likewise.outfits.screening import outfit_test_set
from likewise.outfits.tables import outfits_from_table
from likewise.outfits.training.callbacks import EpochCallback
from likewise.outfits.training.examples import OutfitExamples, examples_from_tables
from likewise.outfits.training.popularity import train_popularity
from likewise.outfits.training.presets import get_preset
from likewise.outfits.training.run_folder import claim_folder, fingerprint_examples
from likewise.outfits.training.triplets import KIND as TRIPLET_KIND
from likewise.outfits.training.triplets import triplet_examples
from likewise.progress import ProgressCallback
from likewise.untrusted import TEXT, ColumnRule, check_columns
from likewise.workspace import WorkspaceFolder, read_parquet


@dataclass(frozen=True)
class TrainingRequest:
    """What a user asks for."""

    kind: str
    name: str = ""
    encoders: str = ""
    finetuned_encoder: str | None = None
    """A torch encoder to train along, instead of stored vectors."""
    preset: str = "usual"
    outfits: Path | None = None
    n_outfits: int = 8000
    where: str | None = None
    half: str | None = None
    """The half of the items to learn from, `train` for instance."""
    tests: tuple[Path, ...] = ()
    leave_out: bool = False
    epochs: int | None = None
    width: int | None = None
    learning_rate: float | None = None
    seed: int = 0
    words: bool = False
    """Look at the words that captions would say of an item, guessed from its vectors, instead of the vectors."""
    near_share: float | None = None
    triplets: Path | None = None
    """Triplets of similarity to learn from instead of outfits, and what their columns mean from left to right."""
    order: str = ""
    weight_decay: float | None = None

    @property
    def folder_name(self) -> str:
        return self.name or self.kind

    @property
    def preset_changes(self) -> dict[str, float | None]:
        """What the user wants otherwise than the preset; None where it stays."""
        return {
            "epochs": self.epochs,
            "width": self.width,
            "learning_rate": self.learning_rate,
            "near_share": self.near_share,
            "weight_decay": self.weight_decay,
        }


OutfitSource = Callable[[TrainingRequest, pl.DataFrame, str | None, int], OutfitExamples]
"""Makes outfits from a catalog's items: request, catalog, a dimension that counts more, what is added to the seed."""


def load_examples(
    workspace: WorkspaceFolder, request: TrainingRequest, outfit_source: OutfitSource | None = None
) -> OutfitExamples:
    """The outfits to train on: a table, those a data set brought, or those that `outfit_source` makes."""
    catalog = chosen_catalog(workspace, request)
    allowed_images = usable_images(workspace, request, catalog)
    if request.triplets is not None:
        return _load_triplets(request, catalog, allowed_images)
    table = workspace.tables_folder / "outfits.parquet"
    if request.outfits is not None or table.exists():
        rows = read_outfit_rows(workspace, catalog, request.outfits)
        examples = examples_from_tables(rows, catalog, seed=request.seed, allowed_images=allowed_images)
    elif outfit_source is not None:
        return outfit_source(request, catalog.filter(pl.col("image").is_in(sorted(allowed_images))), None, 0)
    else:
        raise LikewiseError(
            f"{workspace.path} has no outfits to train on: give a table `outfit, item, image, category, position` "
            "with --outfits, or read a data set that has outfits."
        )
    for path in request.tests:
        examples = examples.without_test_items(outfit_test_set(open_test(path)), drop=request.leave_out)
    return examples


def _load_triplets(request: TrainingRequest, catalog: pl.DataFrame, images: set[str]) -> OutfitExamples:
    assert request.triplets is not None
    if request.kind != TRIPLET_KIND or request.outfits is not None or request.tests:
        raise LikewiseError(f"triplets of similarity train {TRIPLET_KIND}, without --outfits and --test.")
    if not request.order:
        raise LikewiseError('say what the columns of the triplets mean: --order "anchor close far", for instance.')
    return triplet_examples(request.triplets, request.order, catalog, images, seed=request.seed).with_catalog(catalog)


def chosen_catalog(workspace: WorkspaceFolder, request: TrainingRequest) -> pl.DataFrame:
    """The rows whose items may be learned from."""
    return select_catalog_rows(select_half(read_catalog(workspace), request.half), request.where)


def usable_images(workspace: WorkspaceFolder, request: TrainingRequest, catalog: pl.DataFrame) -> set[str]:
    """The images of a catalog that a model can use: those with vectors, or all where it has an encoder of its own."""
    images = set(catalog["image"])
    if request.finetuned_encoder:
        return images
    return images & set(joined_vectors(WorkspaceFeatures(workspace), choose_encoders(workspace, request)).images)


def choose_encoders(workspace: WorkspaceFolder, request: TrainingRequest) -> str:
    """Those asked for, else all that the workspace has vectors of, side by side (blend repeats its parts)."""
    if request.encoders or request.finetuned_encoder:
        return request.encoders
    encoded = [name for name in workspace.encoders() if name != "blend" and "+" not in name]
    if not encoded:
        raise LikewiseError(f"{workspace.path} has no vectors yet: run `likewise encode {workspace.quoted}` first.")
    return "+".join(encoded)


def read_outfits(
    workspace: WorkspaceFolder, catalog: pl.DataFrame, path: Path | None = None
) -> tuple[list[Outfit], int]:
    """The outfits of two items or more that the catalog has all items of, and how many were left out."""
    every = outfits_from_table(read_outfit_rows(workspace, catalog, path))
    known = set(catalog["image"])
    found = [one for one in every if len(one) > 1 and all(item.image in known for item in one.items)]
    if not found:
        raise LikewiseError(f"no outfit has all its items in {workspace.path}: check the column item of both tables.")
    return found, len(every) - len(found)


OUTFIT_COLUMNS = {
    "outfit": TEXT,
    "item": TEXT,
    "image": ColumnRule(null=True, optional=True),
    "category": ColumnRule(null=True, optional=True),
    "position": ColumnRule("whole", optional=True),
}


def read_outfit_rows(workspace: WorkspaceFolder, catalog: pl.DataFrame, path: Path | None = None) -> pl.DataFrame:
    """A table of outfits, or the one that a data set brought, with images and categories.

    Image and category come from the catalog where the table has none, positions from the table's order. An item
    that stands twice in an outfit counts once.

    An item that the catalog does not have gets no image, and so its outfit is left out as a whole.
    """
    table = workspace.tables_folder / "outfits.parquet"
    if path is None and not table.exists():
        raise LikewiseError(f"{workspace.path} has no outfits: give a table of `outfit, item` with --outfits.")
    rows = read_table(path) if path else read_parquet(table, "likewise new --reader")
    if "item" not in rows.columns or "outfit" not in rows.columns:
        raise LikewiseError(f"outfits need the columns outfit and item; these have {', '.join(rows.columns)}.")
    rows = check_columns(rows, OUTFIT_COLUMNS, str(path or table))
    if len(blank := (rows["outfit"].str.strip_chars() == "").arg_true()):
        raise LikewiseError(f"{path or table}, row {blank[0] + 1}: the column outfit is empty: name the outfit.")
    rows = rows.unique(["outfit", "item"], keep="first", maintain_order=True)
    about = catalog.unique("item", keep="first", maintain_order=True).select("item", "image", "category")
    absent = [name for name in ("image", "category") if name not in rows.columns]
    if absent:
        rows = rows.join(about.select("item", *absent), on="item", how="left", maintain_order="left")
    if "position" not in rows.columns:
        rows = rows.with_columns(pl.int_range(1, pl.len() + 1).over("outfit").alias("position"))
    return rows


def train_outfit_model(
    workspace: WorkspaceFolder,
    request: TrainingRequest,
    examples: OutfitExamples | None = None,
    *,
    features: WorkspaceFeatures | None = None,
    outfit_source: OutfitSource | None = None,
    force: bool = False,
    on_epoch: EpochCallback | None = None,
    on_progress: ProgressCallback | None = None,
) -> OutfitModelCard:
    """Train a model and leave it in `WORKSPACE/outfit_models/NAME`; a finished one is left as it is."""
    if examples is None:
        examples = load_examples(workspace, request, outfit_source)
    examples = replace(examples, catalog=workspace.path.resolve().name, half=request.half or "")
    folder = models_folder(workspace) / request.folder_name
    encoders, features = choose_encoders(workspace, request), features or WorkspaceFeatures(workspace)
    if request.kind == "popular":
        if request.finetuned_encoder or request.words or request.near_share:
            raise LikewiseError("popular counts what is worn: leave --trunk, --words and --hard-negatives out.")
        claim_folder(
            folder, {"kind": request.kind, "encoders": encoders, **fingerprint_examples(examples)}, force=force
        )
        if (folder / "card.json").exists():
            return read_model_card(folder)
        return train_popularity(request.folder_name, encoders, examples, features, folder)
    preset = get_preset(request.kind, request.preset).with_changes(**request.preset_changes)
    import_optional("torch", request.kind)
    from likewise.outfits.models.trunk import VECTORS, WORDS
    from likewise.outfits.training.trainer import TrainingJob, train_model

    if request.finetuned_encoder and request.words:
        raise LikewiseError("words are guessed from vectors, and a model that is trained whole has none: choose one.")
    if request.finetuned_encoder and request.near_share:
        raise LikewiseError("near negatives are found by vectors, and a model that is trained whole has none.")
    if request.finetuned_encoder:
        encoders, preset = "", preset.with_changes(near_share=0.0)
    trunk = request.finetuned_encoder or (WORDS if request.words else VECTORS)
    job = TrainingJob(request.kind, request.folder_name, preset, encoders, trunk, request.seed)
    return train_model(job, examples, features, folder, force=force, on_epoch=on_epoch, on_progress=on_progress)
