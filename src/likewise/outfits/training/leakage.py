"""Items of a test are never in training: found by item, by image and by the content of the picture."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.bundle import OutfitTest, read_images
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion

MAX_LISTED = 3
Digests = Mapping[str, str]
"""Of picture files by image key, as in a catalog."""


def items_in_questions(questions: Iterable[OutfitQuestion]) -> list[Item]:
    """Everything a test shows, once."""
    return list(dict.fromkeys(item for question in questions for item in (*question.items, *question.choices)))


def image_digests(test: OutfitTest) -> dict[str, str]:
    """Of the pictures of a test, as a catalog has them."""
    return {image: hashlib.blake2b(content, digest_size=8).hexdigest() for image, content in read_images(test)}


def leaked_items(items: Iterable[Item], test: Sequence[Item], digests: Digests, of_test: Digests) -> set[Item]:
    """Those of `items` that the test shows; `digests` are those of the catalog the items are from.

    Equal pictures are one item whatever their names. Equal names are one item too, unless the digests of both sides say
    that the test was made from other pictures: two catalogs may both have a `tops-0001`.
    """
    pictures = {of_test[item.image] for item in test if item.image in of_test}
    known = [item for item in test if _same_catalog(item, digests, of_test)]
    names, images = {item.item for item in known}, {item.image for item in known}
    return {
        item for item in items if item.item in names or item.image in images or digests.get(item.image, "") in pictures
    }


def _same_catalog(item: Item, digests: Digests, of_test: Digests) -> bool:
    if not digests or item.image not in of_test:
        return True
    return digests.get(item.image) == of_test[item.image]


def leave_out(outfits: Sequence[Outfit], shown: set[Item]) -> list[Outfit]:
    """The outfits without any item of the test."""
    return [outfit for outfit in outfits if not shown.intersection(outfit.items)]


def check_no_leaked_items(outfits: Sequence[Outfit], shown: set[Item]) -> None:
    """The error where training outfits hold items of the test."""
    found = sorted({item.item for outfit in outfits for item in outfit.items if item in shown})
    if found:
        touched = len(outfits) - len(leave_out(outfits, shown))
        raise LikewiseError(
            f"{len(found)} items of the test are in {touched} of {len(outfits)} training outfits "
            f"(first: {', '.join(found[:MAX_LISTED])}): a model would be tested on what it learned. "
            "Train on other outfits, or leave these out with --leave-out."
        )


def check_not_trained_on(model: str, seen: pl.DataFrame, test: Sequence[Item], of_test: Digests) -> None:
    """The error where a trained model has seen items of a test; `seen` is its table of item, image, digest."""
    digests = {row["image"]: row["digest"] for row in seen.iter_rows(named=True) if row["digest"]}
    trained = [Item(row["item"], "", row["image"]) for row in seen.iter_rows(named=True)]
    found = sorted({item.item for item in leaked_items(trained, test, digests, of_test)})
    if found:
        raise LikewiseError(
            f"{model} was trained with {len(found)} items of this test (first: {', '.join(found[:MAX_LISTED])}): its "
            "score would say nothing. Train it without them: `likewise outfits train … --test TEST --leave-out`."
        )
