"""Items of a test are never in training: found by item, by image and by the content of the picture."""

from collections.abc import Iterable, Sequence

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.protocol import Item, Outfit, Question

SHOWN = 3


def items_of_questions(questions: Iterable[Question]) -> list[Item]:
    """Everything a test shows, once."""
    return list(dict.fromkeys(item for question in questions for item in (*question.items, *question.choices)))


def forbidden(
    items: Iterable[Item], test: Iterable[Item], digests: dict[str, str], test_digests: dict[str, str]
) -> set[Item]:
    """Those of `items` that the test shows; digests are of picture files by image key, as far as known.

    With the digests of both sides, the same key may name two things in two catalogs: then pictures decide.
    """
    test = list(test)
    pictures = {test_digests[item.image] for item in test if item.image in test_digests}
    names = {item.item for item in test if _same_world(item, digests, test_digests)}
    images = {item.image for item in test if _same_world(item, digests, test_digests)}
    return {
        item for item in items if item.item in names or item.image in images or digests.get(item.image, "") in pictures
    }


def _same_world(item: Item, digests: dict[str, str], test_digests: dict[str, str]) -> bool:
    """False only where both sides hold a picture of this key and the pictures differ."""
    here, there = digests.get(item.image), test_digests.get(item.image)
    return here is None or there is None or here == there


def leave_out(outfits: Sequence[Outfit], shown: set[Item]) -> list[Outfit]:
    """The outfits without any item of the test."""
    return [outfit for outfit in outfits if not shown.intersection(outfit.items)]


def refuse(outfits: Sequence[Outfit], shown: set[Item]) -> None:
    """The error where training outfits hold items of the test."""
    found = sorted({item.item for outfit in outfits for item in outfit.items if item in shown})
    if found:
        touched = len(outfits) - len(leave_out(outfits, shown))
        raise LikewiseError(
            f"{len(found)} items of the test are in {touched} of {len(outfits)} training outfits "
            f"(first: {', '.join(found[:SHOWN])}): a model would be tested on what it learned. "
            "Train on other outfits, or leave these out with --leave-out."
        )


def refuse_seen(model: str, seen: pl.DataFrame, test: Iterable[Item], test_digests: dict[str, str]) -> None:
    """The error where a trained model has seen items of a test; `seen` is its table of item, image, digest."""
    digests = {row["image"]: row["digest"] for row in seen.iter_rows(named=True) if row["digest"]}
    trained = [Item(row["item"], "", row["image"]) for row in seen.iter_rows(named=True)]
    found = sorted(item.item for item in forbidden(trained, test, digests, test_digests))
    if found:
        raise LikewiseError(
            f"{model} was trained with {len(found)} items of this test (first: {', '.join(found[:SHOWN])}): "
            "its score would say nothing. Train it again without them: `likewise outfits train --test TEST`."
        )
