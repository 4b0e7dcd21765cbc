"""What a measure is: a value whose text is its name, applied to one encoder's ranked results.

`P @ 5` and `ROC_AUC(average="micro")` are frozen objects; `str()` of them is the text that stands in result files and
on the command line, and `parse_measure` reads it back. The notation is that of ir_measures (MacAvaney et al. 2022).
"""

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal, Self, TypedDict, get_args

from likewise.errors import LikewiseError
from likewise.evaluation.measures.ranked import MicroAverage, PairScores, RankedResults
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.intervals import Estimate

Average = Literal["macro", "micro"]
Negatives = Literal["annotated", "gallery", "sampled"]


class AreaParameters(TypedDict, total=False):
    average: Average
    negatives: Negatives


@dataclass(frozen=True, repr=False)
class Measure:
    """A named way to turn ranked results into a number."""

    NAME: ClassVar[str] = ""

    def estimate(self, results: RankedResults) -> Estimate:
        raise NotImplementedError

    @property
    def cutoff(self) -> int | None:
        """How many candidates of a list it looks at, if it looks at lists."""
        return None

    def pairs_of(self, results: RankedResults) -> PairScores | None:
        """The judged pairs it rests on; None where there are none of the wanted kind."""
        return results.annotated

    @property
    def title(self) -> str:
        """The name without parameters, for the heading of a column."""
        return self.NAME

    @property
    def subtitle(self) -> str:
        """What people want to read under the heading."""
        return ""

    def __str__(self) -> str:
        return self.NAME

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class CutoffMeasure(Measure):
    """A measure of the first k candidates of each list."""

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and (not isinstance(self.k, int) or self.k < 1):
            raise LikewiseError(f"{self.NAME}@{self.k}: a cutoff is a whole number from 1, as in {self.NAME}@5.")

    def __matmul__(self, k: int) -> Self:
        return replace(self, k=k)

    def estimate(self, results: RankedResults) -> QuerySums:
        raise NotImplementedError

    @property
    def cutoff(self) -> int:
        if self.k is None:
            raise LikewiseError(f"{self.NAME} needs a cutoff here, as in {self.NAME}@5.")
        return self.k

    @property
    def title(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.NAME if self.k is None else f"{self.NAME}@{self.k}"


@dataclass(frozen=True, repr=False)
class AreaMeasure(Measure):
    """A measure of the order of judged pairs: per query and then the mean (macro), or all pairs in one list (micro)."""

    average: Average = "macro"
    negatives: Negatives = "annotated"

    def __post_init__(self) -> None:
        for name, allowed in (("average", get_args(Average)), ("negatives", get_args(Negatives))):
            if getattr(self, name) not in allowed:
                raise LikewiseError(
                    f"{self.NAME}({name}={getattr(self, name)!r}): {name} is {' or '.join(map(repr, allowed))}."
                )

    def __call__(self, *, average: Average | None = None, negatives: Negatives | None = None) -> Self:
        return replace(self, average=average or self.average, negatives=negatives or self.negatives)

    @property
    def subtitle(self) -> str:
        if self.negatives == "annotated":
            return self.average
        return "gallery" if self == type(self)(negatives="gallery") else f"{self.average}, {self.negatives} negatives"

    def pairs_of(self, results: RankedResults) -> PairScores | None:
        kinds = {"annotated": results.annotated, "gallery": results.gallery, "sampled": results.sampled}
        return kinds[self.negatives]

    def per_query(self, pairs: PairScores) -> Floats:
        """One value per query, NaN where it is undefined."""
        raise NotImplementedError

    def estimate(self, results: RankedResults) -> Estimate:
        if (pairs := self.pairs_of(results)) is None:
            raise LikewiseError(f"{self} needs {self.negatives} negatives, and there are none here.")
        if self.average == "macro":
            return QuerySums.mean_of(self.per_query(pairs))
        return MicroAverage(pairs, self.NAME)

    def __str__(self) -> str:
        given = [
            f'{field.name}="{getattr(self, field.name)}"'
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.NAME}({', '.join(given)})" if given else self.NAME


@dataclass(frozen=True, repr=False)
class PairMeasure(Measure):
    """A measure of the order of a query's judged pairs, best first."""

    def estimate(self, results: RankedResults) -> QuerySums:
        if results.annotated is None:
            raise LikewiseError(f"{self} needs judged pairs, and there are none here.")
        return self.of_pairs(results.annotated)

    def of_pairs(self, pairs: PairScores) -> QuerySums:
        raise NotImplementedError
