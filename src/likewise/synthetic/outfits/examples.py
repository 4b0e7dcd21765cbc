"""Outfits of simulated stylists as examples to train on: what `likewise outfits train` learns from in a wardrobe."""

from pathlib import Path

import polars as pl

from likewise.outfits.bundle import open_test
from likewise.outfits.protocol import Item
from likewise.outfits.screening import outfit_test_set, shown_items
from likewise.outfits.training.examples import OutfitExamples, column_by_image
from likewise.outfits.training.step import OutfitSource, TrainingRequest
from likewise.synthetic.outfits.stylists import style_outfits
from likewise.synthetic.truth import is_wardrobe
from likewise.workspace import WorkspaceFolder

VALIDATION_STRIDE = 6  # every sixth item is kept for choosing the epoch


def outfit_source(workspace: WorkspaceFolder) -> OutfitSource | None:
    """The stylists of a wardrobe; None for any other catalog."""
    return styled_examples if is_wardrobe(workspace) else None


def styled_examples(
    request: TrainingRequest, catalog: pl.DataFrame, focus: str | None = None, seed_shift: int = 0
) -> OutfitExamples:
    """Outfits that simulated stylists make of a wardrobe's items; items of tests are on no shelf to begin with.

    Every sixth item is kept for the outfits that choose the epoch, so they show items that training does not.
    """
    items = catalog.unique("item", keep="first", maintain_order=True)
    captions, digests = column_by_image(catalog, "caption"), column_by_image(catalog, "digest")
    whole = OutfitExamples((), (), (), captions, digests, column_by_image(catalog, "item"))
    for path in request.tests:
        items = _without_test(items, whole, path)
    late = (pl.int_range(pl.len()) % VALIDATION_STRIDE == 0).over("category")
    seed = request.seed + seed_shift
    early = items.filter(~late)
    train = style_outfits(early, request.n_outfits, seed=seed, focus=focus)
    extra_items = tuple(Item(*row) for row in early.select("item", "category", "image").iter_rows())
    n_valid = max(50, request.n_outfits // 10)
    valid = style_outfits(items.filter(late), min(n_valid, 600), seed=request.seed + 1, people=2)
    return OutfitExamples(
        train.outfits, valid.outfits, train.users, captions, digests, whole.item_by_image, extra_items
    )


def _without_test(items: pl.DataFrame, catalog: OutfitExamples, path: Path) -> pl.DataFrame:
    own = [Item(*row) for row in items.select("item", "category", "image").iter_rows()]
    found = {item.item for item in shown_items(own, catalog.digests, outfit_test_set(open_test(path)))}
    return items.filter(~pl.col("item").is_in(sorted(found)))
