"""What tests of taste and data sets of outfits ask, for the guard: items by picture, and whole looks."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from likewise.lineage.digests import look_digest
from likewise.lineage.guard import EvaluationSet, Screening, same_images, screen_models
from likewise.lineage.record import IMAGE_SCHEMA, Examples, Lineage
from likewise.outfits.bundle import OutfitTest, read_images
from likewise.outfits.protocol import Item, OutfitModel, OutfitQuestion

if TYPE_CHECKING:
    from likewise.outfits.polyvore import OutfitBenchmark

Digests = Mapping[str, str]
"""Of picture files by image key, as in a catalog."""


def picture_digest(content: bytes) -> str:
    """Of a picture file, as a catalog's column `digest` has it."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def items_in_questions(questions: Iterable[OutfitQuestion]) -> list[Item]:
    """Everything that questions show, once."""
    return list(dict.fromkeys(item for question in questions for item in (*question.items, *question.choices)))


def outfit_examples(items: Iterable[Item], digests: Digests, looks: Iterable[Sequence[Item]] = ()) -> Examples:
    """Items and looks as the guard compares them, by the content of their pictures where it is known."""
    rows = {item.image: (item.image, item.item, digests.get(item.image) or None) for item in items}
    table = pl.DataFrame([rows[image] for image in sorted(rows)], schema=IMAGE_SCHEMA, orient="row")
    answers = frozenset(look_digest(digests.get(item.image) or item.image for item in look) for look in looks)
    return Examples(table, answers=answers)


def outfit_test_set(test: OutfitTest) -> EvaluationSet:
    """The questions of a test of taste."""
    digests = {image: picture_digest(content) for image, content in read_images(test)}
    return _set(f"the test {test.card['title']}", test.questions, [], digests)


def benchmark_set(benchmark: "OutfitBenchmark", catalog: pl.DataFrame, name: str) -> EvaluationSet:
    """The questions and lines of a data set of outfits."""
    digests = dict(catalog.select("image", "digest").iter_rows())
    worn = [outfit.items for lines in benchmark.compatibility_sets for outfit in lines.outfits]
    return _set(f"the {benchmark.split} questions of {name}", benchmark.questions, worn, digests)


def _set(
    name: str, questions: Sequence[OutfitQuestion], looks: Sequence[tuple[Item, ...]], digests: Digests
) -> EvaluationSet:
    right = [question.filled(question.right).items for question in questions if question.right is not None]
    items = [*items_in_questions(questions), *(item for look in looks for item in look)]
    return EvaluationSet("outfits", name, outfit_examples(items, digests, [*right, *looks]))


def screen_outfit_models(models: Sequence[OutfitModel], on: EvaluationSet) -> Screening:
    """The guard's finding about models; one that says nothing of its lineage is of unknown lineage."""
    return screen_models({model.name: model_lineage(model) for model in models}, on)


def model_lineage(model: OutfitModel) -> Lineage:
    found = getattr(model, "lineage", None)
    return found if isinstance(found, Lineage) else Lineage(unknown=(model.name,))


def shown_items(items: Iterable[Item], digests: Digests, test: EvaluationSet) -> set[Item]:
    """Those of `items` that a test shows; `digests` are those of the catalog the items are from."""
    own = list(items)
    found = same_images(test.examples.images, outfit_examples(own, digests).images)
    images, names = set(found["image"]), set(found["item"])
    return {item for item in own if item.image in images or item.item in names}
