"""The facts that go with an evaluation's tables: `results/summary.json` as a dataclass."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Self, TypeVar, get_args, get_origin, get_type_hints

from likewise.discovery.prevalence import SECONDS_PER_PAIR, Prevalence
from likewise.discovery.unit import Unit
from likewise.errors import LikewiseError
from likewise.evaluation.discovery import DEFAULT_MEASURES, KS, default_measures
from likewise.evaluation.estimates.step import CatalogFacts
from likewise.evaluation.expert_groups import ExpertGroupsSummary
from likewise.evaluation.fidelity import TruthCoverage
from likewise.evaluation.gallery_negatives import PER_QUERY
from likewise.evaluation.identification import TwoOrders
from likewise.evaluation.measures import Measure, cutoffs, parse_measure
from likewise.evaluation.pool_recall import PoolRecall
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING, NegativeSampling
from likewise.evaluation.stability import Stability
from likewise.labeling.agreement import InterAnnotatorAgreement
from likewise.labeling.consensus import ConsensusSummary

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NEXT_PAIRS = 200
OPTION_FIELDS = {
    "--seed": "seed",
    "--next-pairs": "n_next_pairs",
    "--gallery-sample": "gallery_per_query",
    "--unit": "unit",
    "--seconds-per-pair": "seconds_per_pair",
    "--half": "half",
}
T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True)
class EvaluationSettings:
    """The options of an evaluation: measures by their names, list lengths, the seed of what is drawn."""

    measures: tuple[str, ...] = tuple(map(str, DEFAULT_MEASURES))
    ks: tuple[int, ...] = KS
    seed: int = 0
    n_next_pairs: int = NEXT_PAIRS
    seconds_per_pair: float = SECONDS_PER_PAIR
    unit: Unit | None = None  # of the counts of pairs; None: the pool's
    gallery_per_query: int = PER_QUERY  # items drawn for ROC_AUC(negatives="gallery")
    negatives: NegativeSampling = DEFAULT_SAMPLING
    half: str | None = None
    """Only queries and candidates of one half of the items."""

    @classmethod
    def of_measures(cls, measures: Sequence[Measure] | None, ks: Sequence[int] | None = None) -> Self:
        """For these measures; list lengths follow from the measures, or the measures from the list lengths."""
        lengths = tuple((measures and cutoffs(measures)) or KS) if ks is None else tuple(ks)
        return cls(tuple(map(str, default_measures(lengths) if measures is None else measures)), lengths)

    @property
    def are_default_measures(self) -> bool:
        return self.measures == tuple(map(str, default_measures(self.ks)))

    def parsed_measures(self) -> tuple[Measure, ...]:
        return tuple(map(parse_measure, self.measures))

    @property
    def half_note(self) -> str:
        """What must be said where the numbers are about one half of the items; empty where they are about all."""
        return f"only the items of the half {self.half}" if self.half else ""

    def command_options(self) -> list[str]:
        """What one types after `likewise evaluate` for these settings: the options that differ from the defaults."""
        default = DEFAULT_SETTINGS
        parts = [f"--k {','.join(map(str, self.ks))}"] if self.ks != default.ks else []
        parts += [] if self.are_default_measures else [f"--measures {shlex.quote(' '.join(self.measures))}"]
        sampling = self.negatives
        if sampling.band != default.negatives.band:
            parts.append(f"--negative-ranks {sampling.first_rank}-{sampling.last_rank}")
        if sampling.per_positive != default.negatives.per_positive:
            parts.append(f"--negatives-per-positive {sampling.per_positive:g}")
        if sampling.per_query is not None:
            parts.append(f"--negatives-per-query {sampling.per_query}")
        for option, name in OPTION_FIELDS.items():
            value = getattr(self, name)
            if value != getattr(default, name):
                parts.append(f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}")
        return parts


DEFAULT_SETTINGS = EvaluationSettings()


@dataclass(frozen=True)
class LabelsNote:
    """What the labels rest on (labels.json)."""

    consensus: ConsensusSummary
    agreement: InterAnnotatorAgreement
    sources: list[str]
    simulated: bool
    hasty: tuple[str, ...] = ()  # experts who answered faster than anybody can look


@dataclass(frozen=True)
class PoolNote:
    """How the pool was made."""

    generators: list[str]
    k: int
    seed: int
    duplicate_share: float | None
    n_different: float | None = None  # generators it is worth (different_generators.py)


@dataclass(frozen=True)
class LineageNotes:
    """What the guard found: encoders that learned these labels, or the items of these images, and its sentences."""

    learned_labels: list[str]
    learned_items: list[str]
    notes: list[str]


@dataclass(frozen=True)
class EvaluationSummary:
    """Counts, costs and settings of one evaluation; None where a fact is not known or not asked for."""

    prevalence: Prevalence
    labels: LabelsNote
    pool: PoolNote
    n_images: int
    n_items: int
    n_queries: int
    n_gallery: int
    n_queries_without_vectors: int
    n_gallery_without_vectors: int
    n_labels_outside: int
    encoders: list[str]
    lineage: LineageNotes
    settings: EvaluationSettings
    rests_on: dict[str, str]  # digests of everything that decides the numbers
    tables: dict[str, str]  # digests of the tables of this evaluation
    sampled_negatives: int | None = None
    no_sampled_negatives: str | None = None
    pool_recall: PoolRecall | None = None
    truth: TruthCoverage | None = None
    orders: TwoOrders | None = None
    expert_groups: ExpertGroupsSummary | None = None
    stability: Stability | None = None
    catalog: CatalogFacts | None = None
    catalog_version: int = 1
    n_query_items: int | None = None  # that the queries show; fewer than queries where labels ask about several images

    @property
    def shared_items_note(self) -> str | None:
        """What intervals and tests are over, where several queries show one item."""
        if self.n_query_items is None or self.n_query_items >= self.n_queries:
            return None
        return f"the {self.n_queries:,} queries show {self.n_query_items:,} items: intervals and tests are over items"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        return from_json(cls, content)


def from_json(kind: type[T], content: Mapping[str, Any]) -> T:
    """A dataclass of dataclasses from what `asdict` made of it; keys it does not know are left out."""
    hints = get_type_hints(kind)
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    missing = [name for name in needed if name not in content]
    if missing:
        raise LikewiseError(
            f"the summary of results has no {', '.join(missing)}, as if another version of likewise had written it: "
            "run `likewise evaluate` again."
        )
    return kind(**{name: _value(hint, content[name]) for name, hint in hints.items() if name in content})


def _value(hint: Any, value: Any) -> Any:
    if get_origin(hint) is UnionType:
        [hint] = [part for part in get_args(hint) if part is not NoneType] or [NoneType]
    if value is None:
        return None
    if is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, value)
    if get_origin(hint) in (list, tuple):
        inner = get_args(hint)[0]
        return get_origin(hint)(_value(inner, each) for each in value)
    return value
