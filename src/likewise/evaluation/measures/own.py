"""A user's own measure: a function with a name, from one query's judged pairs to a number.

    @register_measure
    def first_is_right(labels, scores):
        return labels[0]

`labels` (1 positive, 0 negative) and `scores` of the query's judged pairs come best first, equal scores by candidate.
The value of the measure is the mean over queries; NaN leaves a query out. It gets intervals, paired tests and a column
like any other, by its name. On the command line `python:module:function` names such a function.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.measures.base import PairMeasure
from likewise.evaluation.measures.ranked import PairScores
from likewise.evaluation.query_sums import Floats, QuerySums

PYTHON = "python:"
QueryFunction = Callable[[NDArray[np.integer], Floats], float]


@dataclass(frozen=True, repr=False)
class OwnMeasure(PairMeasure):
    name: str
    function: QueryFunction

    @property
    def title(self) -> str:
        return self.name.rpartition(":")[2]

    def of_pairs(self, pairs: PairScores) -> QuerySums:
        labels, scores = pairs.label[pairs.best_first], pairs.score[pairs.best_first]
        ends = np.cumsum(pairs.n_judged)
        values = np.full(pairs.n_queries, np.nan)
        for query, (end, n) in enumerate(zip(ends.tolist(), pairs.n_judged.tolist(), strict=True)):
            if n:
                values[query] = self._value(labels[end - n : end], scores[end - n : end])
        return QuerySums.mean_of(values)

    def _value(self, labels: NDArray[np.integer], scores: Floats) -> float:
        try:
            return float(self.function(labels, scores))
        except Exception as error:
            raise LikewiseError(
                f"the measure {self.name} failed on a query with {len(labels)} judged pairs: "
                f"{type(error).__name__}: {error}"
            ) from error

    def __call__(self, labels: NDArray[np.integer], scores: Floats) -> float:
        return self.function(labels, scores)

    def __str__(self) -> str:
        return self.name


def python_function(text: str) -> QueryFunction:
    """The function that `python:module:function` names; the current folder is searched too, as `python -m` does."""
    module, colon, name = text.removeprefix(PYTHON).partition(":")
    if not colon:
        raise LikewiseError(f"{text!r} must be python:MODULE:FUNCTION.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise LikewiseError(f"{text!r}: there is no module {error.name!r} here or installed.") from error
    except AttributeError as error:
        raise LikewiseError(f"{text!r}: the module {module} has no {name!r}.") from error
    if not callable(found):
        raise LikewiseError(f"{text!r} is not a function of (labels, scores).")
    function: QueryFunction = found.function if isinstance(found, OwnMeasure) else found
    return function
