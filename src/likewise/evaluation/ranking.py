"""Which model stands where: one order for the terminal, the report, the leaderboard page and Python.

A pool's labelled negatives are mistakes of its generators, and its lists of labelled pairs are theirs. So measures over
labelled pairs (ROC_AUC, AP, bpref) punish the generators, measures of lists (P@k, nDCG@k) favour them,
and neither ranks a generator beside a new model. The one measure that treats both equally is the chance that an item
labelled similar scores above an item drawn at random from the gallery, each by its best image,
ROC_AUC(negatives="gallery"). Models are ranked by it, all together; equal ones by name, undefined ones last. On every
other measure a model is compared within its group only, generators or new models (VSD's Tables 5 and 6).
Nearly equal models change places with the pool, so a model's place is a range, from what is significantly better to
what is significantly worse. docs/generators.py measures how often both hold.
"""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from likewise.evaluation.measures import ROC_AUC, Measure
from likewise.lineage.guard import MARK

MAIN = ROC_AUC(negatives="gallery")
MAIN_NAME = "gallery ROC-AUC"  # in sentences


@dataclass(frozen=True)
class Group:
    """Models that may be compared on every measure: all are generators, or none is; or none has a rank."""

    id: str
    name: str
    what: str
    encoders: list[str]


def treats_alike(measure: str) -> bool:
    """Whether a measure, by its name, may compare a generator with a new model."""
    return 'negatives="gallery"' in measure


def measure_is(measure: Measure) -> pl.Expr:
    """The rows of one measure."""
    return pl.col("measure") == str(measure)


def rank_encoders(results: pl.DataFrame) -> list[str]:
    """Encoders by falling gallery ROC-AUC; those without one come later, those that learned the answers last."""
    main = results.filter(measure_is(MAIN)).select("encoder", "value")
    every = results.select("encoder", "learned").unique().join(main, on="encoder", how="left")
    order = every.sort("learned", "value", "encoder", descending=[False, True, False], nulls_last=True)
    return order["encoder"].to_list()


def group_encoders(results: pl.DataFrame) -> list[Group]:
    """Generators, new models and those without a rank, in the order of `ranked`; none without models."""
    fed, learned = (set(results.filter(pl.col(name))["encoder"]) for name in ("generator", "learned"))
    fair = [name for name in rank_encoders(results) if name not in learned]
    groups = [
        Group("fed", "Generators", "they contributed to the pool", [name for name in fair if name in fed]),
        Group("new", "New models", "they did not", [name for name in fair if name not in fed]),
        Group("learned", f"Learned the answers {MARK}", "they have no rank", sorted(learned)),
    ]
    return [group for group in groups if group.encoders]


@dataclass(frozen=True)
class PlaceRange:
    """The places, from 1, that a model may have: all that no significant difference excludes."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def place_ranges(differences: pl.DataFrame, ranked: list[str]) -> dict[str, PlaceRange]:
    """Of each of these models: behind whoever is significantly better, and before whoever is significantly worse.

    Empty where not every two of them were compared.
    """
    known = differences.filter(measure_is(MAIN)).drop_nulls("difference")
    rows = known.filter(pl.col("encoder_a").is_in(ranked) & pl.col("encoder_b").is_in(ranked))
    if 2 * len(rows) != len(ranked) * (len(ranked) - 1):
        return {}
    better, worse = Counter[str](), Counter[str]()
    for a, b, difference in rows.filter("significant").select("encoder_a", "encoder_b", "difference").iter_rows():
        ahead, behind = (a, b) if difference > 0 else (b, a)
        better[behind] += 1
        worse[ahead] += 1
    return {name: PlaceRange(1 + better[name], len(ranked) - worse[name]) for name in ranked}


def differences_from_best(differences: pl.DataFrame, best: str) -> pl.DataFrame:
    """Gallery ROC-AUC of `best` minus that of each other `encoder`: difference, low, high, p_holm, significant."""
    rows = differences.filter(measure_is(MAIN))
    ahead = rows.filter(pl.col("encoder_a") == best).rename({"encoder_b": "encoder"})
    behind = rows.filter(pl.col("encoder_b") == best).rename({"encoder_a": "encoder", "low": "high", "high": "low"})
    behind = behind.with_columns(-pl.col("difference", "low", "high"))
    columns = ["encoder", "difference", "low", "high", "p_holm", "significant"]
    return pl.concat([ahead.select(columns), behind.select(columns)])


def not_significantly_worse(differences: pl.DataFrame, order: list[str]) -> list[str]:
    """The models that may be as good as the first of `order`: chance explains what they are behind."""
    if not order:
        return []
    close = differences_from_best(differences, order[0]).filter(
        ~pl.col("significant") & pl.col("difference").is_not_null()
    )
    return [name for name in order if name in set(close["encoder"])]
