"""The guard that every score passes: which models learned the answers that are about to be asked.

    learned   it was given these very answers, or answers of the same sort about the same images: what they show
              (classes, captions, conditions), what looks alike (labels, triplets), what goes together (outfits)
    seen      it saw the same images or items, but not such answers: shown, with a sentence
    unknown   it, or a part of it, came without a record: shown, with a sentence

A model that learned the answers is left out; where a user names it, it is shown with a mark and without a rank.
Commands that train models for a test refuse it before they begin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from likewise.errors import LikewiseError
from likewise.lineage.record import TOPICS, Examples, Lesson, Lineage, Task

MARK = "†"
COINCIDENCE = 0.05
"""So many captions of a test may be those of other pictures by chance."""
MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """What is about to be scored; `name` stands in sentences, such as `these labels`."""

    task: Task
    name: str
    examples: Examples = field(repr=False)
    fingerprint: str = ""
    """Of the catalog, where it is a whole one."""


@dataclass(frozen=True)
class Overlap:
    """What a model and an evaluation have in common."""

    model: str
    n_answers: int = 0
    n_images: int = 0
    n_items: int = 0
    n_captions: int = 0
    learned: bool = False
    steps: tuple[str, ...] = ()
    """The lessons behind `learned`, or else those that showed the same images."""
    unknown: tuple[str, ...] = ()

    @property
    def seen(self) -> bool:
        return not self.learned and bool(self.steps)

    @property
    def amount(self) -> str:
        """The narrowest thing they share, counted."""
        if self.n_answers:
            return f"{self.n_answers:,} of its answers"
        if self.n_images:
            return f"{self.n_images:,} of its images ({self.n_items:,} items)"
        return f"{self.n_captions:,} of its captions"


@dataclass(frozen=True)
class Screening:
    """The guard's finding about every model of one evaluation."""

    on: str
    overlaps: tuple[Overlap, ...] = ()

    @property
    def learned(self) -> list[str]:
        """Models that know the answers."""
        return [each.model for each in self.overlaps if each.learned]

    @property
    def unknown(self) -> list[str]:
        """Models, or parts of them, without a record of what they learned from."""
        return [each.model for each in self.overlaps if each.unknown]

    def choose(self, named: Sequence[str] | None) -> list[str]:
        """The models to measure: those that a user named, or all that did not learn the answers."""
        if named:
            return list(named)
        left = [each.model for each in self.overlaps if not each.learned]
        if not left and self.overlaps:
            raise LikewiseError(f"every model learned the answers of {self.on}: {self._list()}. {ADVICE}")
        return left

    def refuse_learned(self) -> None:
        """For commands that train models for this very test: an error where one of them learned its answers."""
        if self.learned:
            raise LikewiseError(f"{self._list()}: a score on {self.on} would say how well it remembers. {ADVICE}")

    def marked(self, model: str) -> str:
        """A model's name, with the mark of those that learned the answers."""
        return f"{model} {MARK}" if model in self.learned else model

    def notes(self, measured: Sequence[str]) -> list[str]:
        """One sentence for every model that must not be read without one."""
        said = []
        for each in self.overlaps:
            how = ", ".join(each.steps[:MAX_NAMED])
            if each.learned and each.model in measured:
                said.append(
                    f"{each.model} {MARK} learned from {each.amount} ({how}): its numbers are on answers it has seen, "
                    "and it has no rank"
                )
            elif each.learned:
                said.append(f"{each.model} learned from {each.amount} ({how}) and is left out; name it to see it")
            elif each.model not in measured:
                continue
            elif each.seen:
                said.append(f"{each.model} has seen {each.amount}, not the answers ({how})")
            if each.unknown and each.model in measured:
                parts = ", ".join(each.unknown[:MAX_NAMED])
                said.append(f"{each.model}: what {parts} learned from is not recorded, so it may have seen {self.on}")
        return said

    def learned_notes(self, measured: Sequence[str]) -> list[str]:
        """The sentences about models that learned the answers, alone."""
        return Screening(self.on, tuple(each for each in self.overlaps if each.learned)).notes(measured)

    def _list(self) -> str:
        found = [each for each in self.overlaps if each.learned][:MAX_NAMED]
        return "; ".join(
            f"{each.model} learned from {each.amount} ({', '.join(each.steps[:MAX_NAMED])})" for each in found
        )


ADVICE = "Learn from one half of the items (--half train) and measure on the other (--half test); see docs/lineage.md."


def screen_models(lineages: Mapping[str, Lineage], on: EvaluationSet) -> Screening:
    """What every model, by name, has in common with what is about to be scored."""
    return Screening(on.name, tuple(find_overlap(model, lineage, on) for model, lineage in lineages.items()))


def descends_from(ancestors: Sequence[str], contestants: Sequence[str]) -> list[str]:
    """The contestants that a judge is, or is made from: it may not judge them."""
    return [name for name in contestants if name in ancestors]


def refuse_descendant(judge: str, ancestors: Sequence[str], contestants: Sequence[str]) -> None:
    """An error where a machine judge descends from a model that it would judge."""
    if shared := descends_from(ancestors, contestants):
        raise LikewiseError(
            f"{judge} is made from {', '.join(shared[:MAX_NAMED])}, which is measured here: a judge must not descend "
            "from a model that it judges. Choose another judge, or delete the vectors of that model."
        )


def find_overlap(model: str, lineage: Lineage, on: EvaluationSet) -> Overlap:
    """What one model and an evaluation share, over all its lessons."""
    shared = [(lesson, count) for lesson in lineage.lessons if (count := _count(lesson, on)).n_any]
    learned = [(lesson, count) for lesson, count in shared if _learned(lesson, on, count)]
    told = learned or shared
    return Overlap(
        model,
        max((count.n_answers for _, count in told), default=0),
        max((count.n_images for _, count in told), default=0),
        max((count.n_items for _, count in told), default=0),
        max((count.n_captions for _, count in told), default=0),
        bool(learned),
        tuple(dict.fromkeys(lesson.description for lesson, _ in told)),
        lineage.unknown,
    )


@dataclass(frozen=True)
class _Count:
    n_answers: int
    n_images: int
    n_items: int
    n_captions: int

    @property
    def n_any(self) -> int:
        return self.n_answers + self.n_images + self.n_captions


def _count(lesson: Lesson, on: EvaluationSet) -> _Count:
    theirs, asked = lesson.examples, on.examples
    images = same_images(theirs.images, asked.images)
    n_answers = len(theirs.answers & asked.answers) if len(images) or asked.images.is_empty() else 0
    n_captions = 0
    if not on.fingerprint or lesson.fingerprint != on.fingerprint:  # within one catalog its images tell
        n_captions = len(theirs.captions & asked.captions)
        n_captions = n_captions if n_captions > COINCIDENCE * len(asked.captions) else 0
    return _Count(n_answers, len(images), images["item"].n_unique(), n_captions)


def _learned(lesson: Lesson, on: EvaluationSet, count: _Count) -> bool:
    if count.n_answers:
        return True
    if lesson.topic != TOPICS[on.task] or lesson.topic == "pictures":
        return False
    if lesson.topic == "similarity" and lesson.task == on.task:  # other answers of the same form about the same items
        return False
    return bool(count.n_images or count.n_captions)


def same_images(learned: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """The rows of `asked` that were learned: equal content, or an equal key or item where a content is not known.

    Equal names of different contents are two pictures: two catalogs may both have a `tops-0001`.
    """
    found = [asked.join(learned.select("content").drop_nulls().unique(), on="content", how="semi")]
    for name in ("image", "item"):
        known = learned.group_by(name).agg(pl.col("content").is_not_null().all().alias("known"))
        named = asked.join(known, on=name, how="inner")
        found.append(named.filter(pl.col("content").is_null() | ~pl.col("known")).select(asked.columns))
    return pl.concat(found).unique("image")
