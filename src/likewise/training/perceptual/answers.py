"""People's answers, in one form for both kinds of question.

    pairs      is this candidate similar to the query?          yes and no votes per (query, candidate) image
    triplets   which of two looks more like the anchor?          votes for either per (anchor, close, far) item

A *stimulus* is what is compared: an image for pairs, an item (all its images) for triplets. Every answer has a query,
the anchor of a triplet, and names two or three items; held-out answers are held out by these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.triplet_file import ROLES


@dataclass(frozen=True)
class Answers:
    """Answers as row numbers into `stimuli`; `far` is -1 for pairs."""

    stimuli: list[str]
    stimulus_items: Ints
    """Of each stimulus a number that is equal for images of one item."""
    query: Ints
    close: Ints
    far: Ints
    yes: Floats
    no: Floats
    label: Ints
    """Of a pair what was agreed on, 0 or 1; of a triplet the side with more votes, -1 where they are equal."""

    def __len__(self) -> int:
        return len(self.query)

    @property
    def are_triplets(self) -> bool:
        return bool(len(self.far)) and bool((self.far >= 0).all())

    @property
    def query_items(self) -> Ints:
        return self.stimulus_items[self.query]

    @property
    def named_items(self) -> Ints:
        """The items of every answer, one column per role; the far column repeats the close one for pairs."""
        far = np.where(self.far >= 0, self.far, self.close)
        return np.asarray(self.stimulus_items[np.stack([self.query, self.close, far], axis=1)])

    @property
    def named_stimuli(self) -> Ints:
        """The stimuli that answers name, each once, in order."""
        return np.unique(np.concatenate([self.query, self.close, self.far[self.far >= 0]]))

    def named_pairs(self) -> pl.DataFrame:
        """query and candidate of every answer about a pair."""
        names = pl.Series(self.stimuli, dtype=pl.String)
        return pl.DataFrame({"query": names.gather(self.query), "candidate": names.gather(self.close)})

    def named_triplets(self) -> pl.DataFrame:
        """anchor, close and far of every triplet."""
        names = pl.Series(self.stimuli, dtype=pl.String)
        return pl.DataFrame({role: names.gather(rows) for role, rows in zip(ROLES, self._roles, strict=True)})

    @property
    def _roles(self) -> tuple[Ints, Ints, Ints]:
        return self.query, self.close, self.far

    def subset(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Answers":
        """Some of the answers, about the same stimuli."""
        return replace(
            self,
            query=self.query[rows],
            close=self.close[rows],
            far=self.far[rows],
            yes=self.yes[rows],
            no=self.no[rows],
            label=self.label[rows],
        )


def answers_from_triplets(triplets: pl.DataFrame, items: Sequence[str]) -> Answers:
    """Triplets (`read_triplets`) about `items`; those that name an item without vectors are left out."""
    stimuli = sorted(set(items))
    row_of = {item: row for row, item in enumerate(stimuli)}
    known = triplets.filter(pl.all_horizontal(pl.col(role).is_in(stimuli) for role in ROLES))
    if known.is_empty():
        raise LikewiseError(
            f"none of the {len(triplets)} triplets is about items that have vectors ({', '.join(stimuli[:3])}, …): "
            "use the item names of the catalog."
        )
    query, close, far = (np.array([row_of[item] for item in known[role]], np.int64) for role in ROLES)
    yes, no = (known[name].to_numpy().astype(np.float64) for name in ("votes_close", "votes_far"))
    label = np.where(yes == no, -1, yes > no).astype(np.int64)
    return Answers(stimuli, np.arange(len(stimuli)), query, close, far, yes, no, label)


def answers_from_labels(labels: pl.DataFrame, catalog: pl.DataFrame, images: Sequence[str]) -> Answers:
    """Labelled pairs whose two images have vectors; votes count where the labels kept them."""
    usable = set(images)
    known = labels.filter(pl.col("query").is_in(usable) & pl.col("candidate").is_in(usable))
    if known.is_empty():
        raise LikewiseError("none of the labelled pairs has vectors of every encoder: run `likewise encode` first.")
    stimuli = sorted({*known["query"], *known["candidate"]})
    row_of = {image: row for row, image in enumerate(stimuli)}
    item_of = dict(zip(catalog["image"], catalog["item"].rank("dense").cast(pl.Int64), strict=True))
    query, close = (np.array([row_of[image] for image in known[name]], np.int64) for name in ("query", "candidate"))
    yes, no = _votes(known)
    items, label = np.array([item_of[image] for image in stimuli], np.int64), known["label"].cast(pl.Int64).to_numpy()
    return Answers(stimuli, items, query, close, np.full(len(query), -1, np.int64), yes, no, label)


def _votes(labels: pl.DataFrame) -> tuple[Floats, Floats]:
    """Counts of either answer; where labels came without votes, the label counts as one."""
    label = labels["label"].to_numpy().astype(np.float64)
    if not {"similar", "not_similar"} <= set(labels.columns):
        return label, 1.0 - label
    yes = labels["similar"].fill_null(0).to_numpy().astype(np.float64)
    no = labels["not_similar"].fill_null(0).to_numpy().astype(np.float64)
    counted = yes + no > 0
    return np.where(counted, yes, label), np.where(counted, no, 1.0 - label)


def check_disjoint(train: Answers, test: Answers) -> None:
    """Test answers to a question that is asked in training too, either way round, would measure memory."""

    def questions(answers: Answers) -> set[tuple[int, int, int]]:
        first, second = np.minimum(answers.close, answers.far), np.maximum(answers.close, answers.far)
        return set(zip(answers.query.tolist(), first.tolist(), second.tolist(), strict=True))

    shared = questions(train) & questions(test)
    if shared:
        query, *others = min(shared)
        named = ", ".join(test.stimuli[stimulus] for stimulus in (query, *others) if stimulus >= 0)
        raise LikewiseError(
            f"{len(shared)} of the test answers are asked in training too (first: {named}): take them out of one."
        )
