"""The step `likewise outfits train` on the files of a workspace: which outfits, which vectors, which folder."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.catalog.readers.table import read_table
from likewise.catalog.table import read_catalog, select
from likewise.errors import LikewiseError
from likewise.optional_dependencies import needed
from likewise.outfits.bundle import open_test
from likewise.outfits.models.card import Card, models_folder, read_card
from likewise.outfits.models.sight import WorkspaceSight, joined_vectors
from likewise.outfits.protocol import Item
from likewise.outfits.training.apart import forbidden, shown_items, test_digests
from likewise.outfits.training.claim import claim, learned_from
from likewise.outfits.training.counting import train_popular
from likewise.outfits.training.examples import Examples, column_of, from_tables
from likewise.outfits.training.listen import OnBatch, OnEpoch
from likewise.outfits.training.presets import preset_of
from likewise.outfits.training.stylists import style_outfits
from likewise.workspace import Workspace, read_parquet

VALID_ITEMS = 6  # every sixth item of a wardrobe is kept for choosing the epoch


@dataclass(frozen=True)
class Request:
    """What a user asks for."""

    kind: str
    name: str = ""
    encoders: str = ""
    whole: str | None = None
    """A torch encoder to train along, instead of stored vectors."""
    preset: str = "usual"
    outfits: Path | None = None
    n_outfits: int = 8000
    select: str | None = None
    tests: tuple[Path, ...] = ()
    leave_out: bool = False
    epochs: int | None = None
    width: int | None = None
    rate: float | None = None
    seed: int = 0
    words: bool = False
    """Look at the words that captions would say of an item, guessed from its vectors, instead of the vectors."""
    near: float | None = None

    @property
    def folder_name(self) -> str:
        return self.name or self.kind


def examples_for(workspace: Workspace, request: Request) -> Examples:
    """The outfits to train on: a table, those a data set brought, or those that a wardrobe's stylists make."""
    catalog = select(read_catalog(workspace), request.select)
    among = seen_images(workspace, request, catalog)
    table = workspace.tables_folder / "outfits.parquet"
    if request.outfits is not None or table.exists():
        rows = read_table(request.outfits) if request.outfits else read_parquet(table, "likewise new --reader")
        examples = from_tables(_with_images(rows, catalog), catalog, seed=request.seed, among=among)
    elif workspace.knows_truth:
        return styled_examples(workspace, request, catalog.filter(pl.col("image").is_in(sorted(among))))
    else:
        raise LikewiseError(
            f"{workspace.path} has no outfits to train on: give a table `outfit, item, image, category, position` "
            "with --outfits, or read a data set that has outfits."
        )
    for path in request.tests:
        test = open_test(path)
        shown, digests = shown_items(test.questions), test_digests(test)
        examples = examples.without(shown, digests, drop=request.leave_out)
    return examples


def seen_images(workspace: Workspace, request: Request, catalog: pl.DataFrame) -> set[str]:
    """The images of a catalog that a model can look at: those with vectors, or all where it looks for itself."""
    images = set(catalog["image"])
    if request.whole:
        return images
    return images & set(joined_vectors(WorkspaceSight(workspace), encoders_of(workspace, request)).images)


def encoders_of(workspace: Workspace, request: Request) -> str:
    """Those asked for, else all that the workspace has vectors of, side by side (blend repeats its parts)."""
    if request.encoders or request.whole:
        return request.encoders
    there = [name for name in workspace.encoders() if name != "blend" and "+" not in name]
    if not there:
        raise LikewiseError(f"{workspace.path} has no vectors yet: run `likewise encode {workspace.path}` first.")
    return "+".join(there)


def _with_images(rows: pl.DataFrame, catalog: pl.DataFrame) -> pl.DataFrame:
    """Image and category from the catalog where the table has none; positions in the table's order.

    An item that the catalog does not have gets no image, and so its outfit is left out as a whole.
    """
    if "item" not in rows.columns or "outfit" not in rows.columns:
        raise LikewiseError(f"outfits need the columns outfit and item; these have {', '.join(rows.columns)}.")
    about = catalog.unique("item", keep="first", maintain_order=True).select("item", "image", "category")
    absent = [name for name in ("image", "category") if name not in rows.columns]
    if absent:
        rows = rows.join(about.select("item", *absent), on="item", how="left", maintain_order="left")
    if "position" not in rows.columns:
        rows = rows.with_columns(pl.int_range(1, pl.len() + 1).over("outfit").alias("position"))
    return rows


def styled_examples(
    workspace: Workspace, request: Request, catalog: pl.DataFrame, focus: str | None = None, seed_shift: int = 0
) -> Examples:
    """Outfits that simulated stylists make of a wardrobe's items; items of tests are on no shelf to begin with.

    Every sixth item is kept for the outfits that choose the epoch, so they show items that training does not.
    """
    items = catalog.unique("item", keep="first", maintain_order=True)
    captions, digests = column_of(catalog, "caption"), column_of(catalog, "digest")
    whole = Examples((), (), (), captions, digests, column_of(catalog, "item"))
    for path in request.tests:
        items = _without_test(items, whole, path)
    late = (pl.int_range(pl.len()) % VALID_ITEMS == 0).over("category")
    seed = request.seed + seed_shift
    early = items.filter(~late)
    train = style_outfits(early, request.n_outfits, seed=seed, focus=focus)
    shelf = tuple(Item(*row) for row in early.select("item", "category", "image").iter_rows())
    n_valid = max(50, request.n_outfits // 10)
    valid = style_outfits(items.filter(late), min(n_valid, 600), seed=request.seed + 1, people=2)
    return Examples(train.outfits, valid.outfits, train.users, captions, digests, whole.item_of, shelf)


def _without_test(items: pl.DataFrame, catalog: Examples, path: Path) -> pl.DataFrame:
    test = open_test(path)
    own = [Item(*row) for row in items.select("item", "category", "image").iter_rows()]
    found = {item.item for item in forbidden(own, shown_items(test.questions), catalog.digests, test_digests(test))}
    return items.filter(~pl.col("item").is_in(sorted(found)))


def train_in(
    workspace: Workspace,
    request: Request,
    examples: Examples | None = None,
    *,
    force: bool = False,
    on_epoch: OnEpoch | None = None,
    on_batch: OnBatch | None = None,
) -> Card:
    """Train a model and leave it in `WORKSPACE/outfit_models/NAME`; a finished one is left as it is."""
    if examples is None:
        examples = examples_for(workspace, request)
    folder = models_folder(workspace) / request.folder_name
    encoders, sight = encoders_of(workspace, request), WorkspaceSight(workspace)
    if request.kind == "popular":
        if request.whole or request.words or request.near:
            raise LikewiseError("popular counts what is worn: leave --whole, --words and --near out.")
        claim(folder, {"kind": request.kind, "encoders": encoders, **learned_from(examples)}, force=force)
        if (folder / "card.json").exists():
            return read_card(folder)
        return train_popular(request.folder_name, encoders, examples, sight, folder)
    preset = preset_of(request.kind, request.preset)
    preset = preset.changed(epochs=request.epochs, width=request.width, learning_rate=request.rate, near=request.near)
    needed("torch", request.kind)
    from likewise.outfits.models.trunk import VECTORS, WORDS
    from likewise.outfits.training.trainer import Job, train

    if request.whole and request.words:
        raise LikewiseError("words are guessed from vectors, and a model that is trained whole has none: choose one.")
    if request.whole and request.near:
        raise LikewiseError("near negatives are found by vectors, and a model that is trained whole has none.")
    if request.whole:
        encoders, preset = "", preset.changed(near=0.0)
    trunk = request.whole or (WORDS if request.words else VECTORS)
    job = Job(request.kind, request.folder_name, preset, encoders, trunk, request.seed)
    return train(job, examples, sight, folder, force=force, on_epoch=on_epoch, on_batch=on_batch)
