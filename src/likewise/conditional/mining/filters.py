"""Which relations may become triplets: things that can be seen, subjects that occur often enough.

Each filter is one line of the funnel: how many relations, captions and subjects are left after it, and why.  What can
be decided about a relation alone is decided shard by shard; only what passes is kept, as numbers.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.mining.lexicon import MATERIALS_AND_SHADES
from likewise.conditional.mining.names import name_words
from likewise.conditional.mining.relation_codes import RelationShard, Vocabulary, read_relation_shards
from likewise.conditional.templates.annotations import ATTRIBUTE_KINDS
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class MiningThresholds:
    """What may become a triplet; the defaults are the paper's, except for `relation_concreteness`, which it lacks."""

    concreteness: float = 4.8
    """Of a triplet: the mean over subject and object of reference and target."""
    relation_concreteness: float = 4.0
    """Of a relation: the mean over its subject and its object."""
    min_images: int = 5
    """That a subject occurs in."""
    min_objects: int = 2
    """Different ones that a subject is related to."""
    attributes: bool = False
    """Whether what stands before a noun ("a red wool coat") is a relation too, its condition "red"."""
    keep_names: bool = False
    """Whether attributes that are parts of names, brands in titles for instance, may stay."""
    keep_visible: bool = False
    """Whether words of colours, materials and patterns count as concrete whatever their rating."""

    @property
    def needs_ratings(self) -> bool:
        return self.concreteness > 0 or self.relation_concreteness > 0


FILTERS = {
    "genecis": MiningThresholds(),
    "soft": MiningThresholds(concreteness=4.0, relation_concreteness=3.0, attributes=True, keep_visible=True),
    "none": MiningThresholds(concreteness=0.0, relation_concreteness=0.0, attributes=True, keep_visible=True),
}
"""By name: as published; attributes too and words that can be seen; no concreteness at all."""
WITHOUT_NAMES = "attributes that stand beside one opening word (a brand) are names"
NOTHING_LEFT = "no relation survived the filters: mine more captions, or lower the thresholds."
DEFAULT_FILTER = "none"
VISIBLE_WORDS = MATERIALS_AND_SHADES | {
    word for kind in ("color", "material", "pattern", "shape") for word in ATTRIBUTE_KINDS[kind]
}


def get_filter(name: str) -> MiningThresholds:
    """The thresholds that a name stands for."""
    if name not in FILTERS:
        raise LikewiseError(f"there is no filter {name!r}: choose {', '.join(FILTERS)}.")
    return FILTERS[name]


@dataclass(frozen=True)
class FilterStage:
    """What one filter left."""

    step: str
    why: str
    n: int
    unit: str


@dataclass(frozen=True)
class RelationTable:
    """What survived, as arrays over relations, sorted by (subject, object, row); subject and object are singulars."""

    subject: NDArray[np.int64]
    object: NDArray[np.int64]
    image: NDArray[np.int64]
    row: NDArray[np.int64]
    subject_concreteness: NDArray[np.float64]
    object_concreteness: NDArray[np.float64]
    surface_forms: dict[str, tuple[NDArray[Any], list[str]]]
    """The words as written, of `subject`, `relation` and `object`: numbers, and the texts they stand for."""

    def __len__(self) -> int:
        return len(self.subject)

    def holds(
        self, image: NDArray[np.int64], subject: NDArray[np.int64], thing: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether some caption of each image relates this subject to this object."""
        wanted = self._holding_keys(image, subject, thing)
        at = np.searchsorted(self._held, wanted)
        return np.asarray(self._held[np.minimum(at, len(self._held) - 1)] == wanted)

    @cached_property
    def _held(self) -> NDArray[np.int64]:
        return np.unique(self._holding_keys(self.image, self.subject, self.object))

    def _holding_keys(
        self, image: NDArray[np.int64], subject: NDArray[np.int64], thing: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        n_images, n_things = int(self.image.max(initial=0)) + 1, int(self.object.max(initial=0)) + 1
        return (subject * n_things + thing) * n_images + image

    def surface(self, name: str, at: pl.Series) -> pl.Series:
        """The subject, relation or object of some relations, as written."""
        codes, texts = self.surface_forms[name]
        return pl.Series(name, texts, dtype=pl.String).gather(codes[at.to_numpy()])


def filter_relations(
    folder: Path, ratings: Concreteness | None, rules: MiningThresholds
) -> tuple[RelationTable, list[FilterStage]]:
    """The relations of all shards that pass every rule, and the funnel that led to them."""
    vocabulary = Vocabulary(ratings, VISIBLE_WORDS if rules.keep_visible else frozenset())
    counts = dict.fromkeys(("read", "image", "related", "found", "rated", "concrete", "two"), 0)
    shards = read_relation_shards(folder, vocabulary, attributes=rules.attributes)
    kept = [_filter_shard(shard, vocabulary, rules, counts) for shard in shards]
    found = [np.concatenate(column) for column in zip(*kept, strict=True)]
    kept.clear()
    if not found or not len(found[0]):
        raise LikewiseError(NOTHING_LEFT)
    steps = [
        ("captions", "read", counts["read"], "captions"),
        ("captions with an image", "a caption and an image are needed", counts["image"], "captions"),
        (
            "captions with a relation",
            "the parser found a subject, a relation and an object",
            counts["related"],
            "captions",
        ),
        ("relations", "all that were found", counts["found"], "relations"),
    ]
    if ratings is not None:
        why = f"subject and object average at least {rules.relation_concreteness:g} (unrated counts as -1)"
        steps += [
            ("rated relations", "subject and object have a concreteness rating", counts["rated"], "relations"),
            ("concrete relations", why, counts["concrete"], "relations"),
        ]
    steps.append(("relations between two things", "subject and object differ", counts["two"], "relations"))
    funnel = [FilterStage(*step) for step in steps]
    key_of = np.array(vocabulary.key_of, np.int64)
    if rules.attributes and not rules.keep_names:
        found = _without_names(found, key_of, vocabulary)
        funnel.append(FilterStage("without names", WITHOUT_NAMES, len(found[0]), "relations"))
    found = found[:-1]
    image = np.unique(found[1], return_inverse=True)[1]
    for other, least, step, why in (
        ("image", rules.min_images, "frequent", f"the subject occurs in at least {rules.min_images} images"),
        ("object", rules.min_objects, "varied", f"the subject has at least {rules.min_objects} different objects"),
    ):
        beside = image if other == "image" else key_of[found[4]]
        often = _count_distinct(key_of[found[2]], beside)[key_of[found[2]]] >= least
        found, image = [column[often] for column in found], image[often]
        funnel.append(FilterStage(f"relations of {step} subjects", why, len(image), "relations"))
    if not len(image):
        raise LikewiseError(NOTHING_LEFT)
    return _sort_relations(found, image, vocabulary), funnel


def _without_names(found: list[NDArray[Any]], key_of: NDArray[np.int64], vocabulary: Vocabulary) -> list[NDArray[Any]]:
    """Relations, and attributes that are no parts of names; a colour that opens a title is no brand."""
    _, _, _, relation, thing, opening = found
    attribute = relation == vocabulary.relations.code_of.get("", -1)
    named = np.zeros(len(relation), bool)
    per_opening = np.array(vocabulary.captions_per_opening, np.int64)
    named[attribute] = name_words(key_of[thing[attribute]], opening[attribute].astype(np.int64), per_opening)
    seen = np.array([vocabulary.is_visible(word) for word in vocabulary.words.texts], bool)
    named[attribute] &= ~seen[thing[attribute]]
    return [column[~named] for column in found]


def _filter_shard(
    shard: RelationShard, vocabulary: Vocabulary, rules: MiningThresholds, counts: dict[str, int]
) -> tuple[NDArray[Any], ...]:
    """What passes of one shard: row, image, subject, relation, object; `counts` goes up by what each rule left."""
    key_of, rating_of = np.array(vocabulary.key_of), np.array(vocabulary.rating_of)
    ratings = np.stack([rating_of[shard.subject], rating_of[shard.object]]) if len(shard.row) else np.empty((2, 0))
    concrete = ratings.mean(axis=0) >= rules.relation_concreteness
    if vocabulary.ratings is None:
        concrete[:] = True
    good = concrete & (key_of[shard.subject] != key_of[shard.object]) if len(shard.row) else concrete
    for name, n in (
        ("read", shard.n_captions),
        ("image", shard.n_with_image),
        ("related", shard.n_with_relation),
        ("found", shard.n_relations),
        ("rated", int((ratings > 0).all(axis=0).sum())),
        ("concrete", int(concrete.sum())),
        ("two", int(good.sum())),
    ):
        counts[name] += n
    columns = (shard.row, shard.image, shard.subject, shard.relation, shard.object, shard.opening)
    return tuple(column[good] for column in columns)


def _count_distinct(subjects: NDArray[np.int64], beside: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per subject: how many different images, or objects, stand beside it."""
    width = int(beside.max(initial=0)) + 1
    pairs = np.unique(subjects * width + beside)
    return np.bincount(pairs // width, minlength=int(subjects.max(initial=0)) + 1)


def _sort_relations(found: list[NDArray[Any]], image: NDArray[np.int64], vocabulary: Vocabulary) -> RelationTable:
    """In the order of the alphabet, whatever the order in which words were met."""
    row, _, subject, relation, thing = found
    key_of, rating_of = np.array(vocabulary.key_of), np.array(vocabulary.rating_of)
    key_place, word_place = vocabulary.keys.alphabetical_ranks(), vocabulary.words.alphabetical_ranks()
    relation_place = vocabulary.relations.alphabetical_ranks()
    order = np.lexsort(
        (
            word_place[thing],
            word_place[subject],
            relation_place[relation],
            row,
            key_place[key_of[thing]],
            key_place[key_of[subject]],
        )
    )
    row, image, subject, relation, thing = (column[order] for column in (row, image, subject, relation, thing))
    words, relations = vocabulary.words.texts, vocabulary.relations.texts
    return RelationTable(
        key_place[key_of[subject]],
        key_place[key_of[thing]],
        image,
        row,
        rating_of[subject],
        rating_of[thing],
        {"subject": (subject, words), "relation": (relation, relations), "object": (thing, words)},
    )
