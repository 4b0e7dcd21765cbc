"""The record of what a model learned from: one lesson per training step, kept through every derivation.

A lesson names the images it showed (by key, item and content of the file), the captions that belong to them, and the
answers it gave: labelled pairs, triplets, conditions, outfits. Records of several models are joined by `union`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.lineage.digests import caption_digest
from likewise.workspace import WorkspaceFolder

Task = Literal["pictures", "classes", "captions", "conditions", "labels", "triplets", "outfits"]
TASKS: tuple[Task, ...] = get_args(Task)
Topic = Literal["pictures", "description", "similarity", "compatibility"]
TOPICS: dict[Task, Topic] = {
    "pictures": "pictures",  # seen without any answer
    "classes": "description",  # which item or category an image shows
    "captions": "description",
    "conditions": "description",
    "labels": "similarity",  # which pairs look alike to people
    "triplets": "similarity",
    "outfits": "compatibility",  # what goes together
}
IMAGE_SCHEMA = pl.Schema({"image": pl.String, "item": pl.String, "content": pl.String})


@dataclass(frozen=True, eq=False)
class Examples:
    """Images and answers; a test is described in the same way as what was learned."""

    images: pl.DataFrame
    """image, item, content (of the file; null where it is not known)."""
    captions: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def image_contents(catalog: pl.DataFrame) -> dict[str, str]:
    """What stands for each image in the digest of an answer: its content, so that its name does not matter."""
    if "digest" not in catalog.columns:
        return {}
    return {image: content or image for image, content in catalog.select("image", "digest").iter_rows()}


def examples_from_catalog(
    catalog: pl.DataFrame,
    images: Iterable[str] | None = None,
    *,
    text_columns: Sequence[str] = ("caption",),
    answers: Iterable[str] = (),
    whole_items: bool = True,
) -> Examples:
    """Examples of some images of a catalog (all by default), with the other images of their items.

    Captions are kept where only one item has them: what is said of several items tells nothing about which was seen.
    """
    wanted = None if images is None else pl.Series(sorted(set(images)), dtype=pl.String).implode()
    rows = catalog
    if wanted is not None:
        rows = catalog.filter(pl.col("image").is_in(wanted))
        if whole_items:
            rows = catalog.filter(pl.col("item").is_in(rows["item"].implode()))
    content = pl.col("digest") if "digest" in catalog.columns else pl.lit(None, pl.String)
    table = rows.select("image", "item", content.replace("", None).alias("content")).cast(dict(IMAGE_SCHEMA))  # type: ignore[arg-type]
    texts = [name for name in text_columns if name in catalog.columns]
    captions = frozenset().union(*(_captions_of_one_item(catalog, rows, name) for name in texts))
    return Examples(table.sort("image"), captions, frozenset(answers))


def _captions_of_one_item(catalog: pl.DataFrame, rows: pl.DataFrame, column: str) -> frozenset[str]:
    said = catalog.select("item", pl.col(column).cast(pl.String).alias("text")).drop_nulls().unique()
    digests = {text: caption_digest(text) for text in said["text"].unique()}
    owners: dict[str, set[str]] = {}
    for item, text in said.iter_rows():
        if (digest := digests[text]) is not None:
            owners.setdefault(digest, set()).add(item)
    chosen = {digests[text] for text in rows[column].cast(pl.String).drop_nulls().unique()}
    return frozenset(digest for digest in chosen if digest is not None and len(owners[digest]) == 1)


@dataclass(frozen=True, eq=False)
class Lesson:
    """One step of learning: which command, from which catalog, what it showed and answered."""

    task: Task
    step: str
    """The command, such as `train perceptual`."""
    catalog: str
    """The name of the catalog it learned from."""
    examples: Examples = field(repr=False)
    fingerprint: str = ""
    """Of that catalog."""
    half: str = ""
    """The half of its items, where only one was used."""

    @property
    def topic(self) -> Topic:
        return TOPICS[self.task]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal lessons."""
        rows = int(self.examples.images.hash_rows().sum()) if len(self.examples.images) else 0
        about = (self.task, self.step, self.catalog, self.fingerprint, self.half)
        return (*about, len(self.examples.images), rows, self.examples.captions, self.examples.answers)

    @property
    def description(self) -> str:
        """For a sentence: `train perceptual on labels of shoes`."""
        half = f", half {self.half}" if self.half else ""
        return f"{self.step}, {self.task} of {self.catalog}{half}"


@dataclass(frozen=True)
class Lineage:
    """Everything a model learned from; `unknown` names its parts that came without a record."""

    lessons: tuple[Lesson, ...] = ()
    pretrained: tuple[str, ...] = ()
    """What is said about training on the outside world, which no record covers."""
    unknown: tuple[str, ...] = ()

    def union(self, *others: "Lineage") -> "Lineage":
        """Of a model that is made from several."""
        every = (self, *others)
        lessons = {lesson.key: lesson for lineage in every for lesson in lineage.lessons}
        pretrained = dict.fromkeys(text for lineage in every for text in lineage.pretrained)
        unknown = dict.fromkeys(name for lineage in every for name in lineage.unknown)
        return Lineage(tuple(lessons.values()), tuple(pretrained), tuple(unknown))

    def with_lesson(self, lesson: Lesson) -> "Lineage":
        return self.union(Lineage((lesson,)))

    @property
    def sentences(self) -> list[str]:
        """What it learned from, a line each; empty where it learned nothing."""
        lessons = [f"{one.description}: {len(one.examples.images):,} images" for one in self.lessons]
        return [*lessons, *self.pretrained, *(f"{name}: not recorded" for name in self.unknown)]


NOTHING_LEARNED = Lineage()


def lesson_from_workspace(
    workspace: WorkspaceFolder,
    task: Task,
    step: str,
    images: Iterable[str] | None = None,
    *,
    text_columns: Sequence[str] = ("caption",),
    answers: Iterable[str] = (),
    half: str = "",
) -> Lesson:
    """What a training step of a workspace shows: some images of its catalog, and the answers it gives."""
    catalog = read_catalog(workspace)
    examples = examples_from_catalog(catalog, images, text_columns=text_columns, answers=answers)
    return Lesson(task, step, workspace.path.resolve().name, examples, catalog_fingerprint(catalog), half)
