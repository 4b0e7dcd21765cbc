"""How whole-catalog estimates are laid out for people: which measures, in which order models stand, what is left out.

Models are ordered by AP, shown or not: of all measures its order is most often that of the truth, also where labels
cannot tell the value (docs/sampling.md). Where AP is not shown for every model, the main measure is P@k.
"""

from dataclasses import dataclass

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.measures import AP, P, cutoff_of


@dataclass(frozen=True)
class CatalogLayout:
    """Measures with the main one first, encoders best first, and sentences about the order and what is left out."""

    measures: list[str]
    encoders: list[str]
    notes: list[str]


def catalog_layout(values: pl.DataFrame) -> CatalogLayout:
    """From the rows of `CATALOG_SCHEMA`; list measures at the largest k."""
    if not {"shown", "place"} <= set(values.columns):
        raise LikewiseError(
            "the estimates for the whole catalog are of an earlier version: run `likewise evaluate` again."
        )
    found = values["measure"].unique(maintain_order=True).to_list()
    largest = max(filter(None, map(cutoff_of, found)), default=10)
    kept = [name for name in found if cutoff_of(name) in (None, largest)]
    hidden = {name: values.filter(pl.col("measure") == name, ~pl.col("shown"))["encoder"].to_list() for name in kept}
    n_encoders = values["encoder"].n_unique()
    measures = [name for name in kept if len(hidden[name]) < n_encoders]
    main = next((name for name in (str(AP), str(P @ largest)) if name in kept and not hidden[name]), str(P @ largest))
    ordered = values.filter(pl.col("measure") == (str(AP) if str(AP) in found else main)).sort("place", "encoder")
    if not ordered["place"].is_unique().all():  # of results that were made one by one
        ordered = values.filter(pl.col("measure") == main).sort("value", "encoder", descending=[True, False])
    encoders, others = ordered["encoder"].to_list(), [name for name in measures if name != main]
    shown = values.filter(pl.col("measure") == main, pl.col("shown"))
    by_encoder = dict(shown.select("encoder", "value").iter_rows())
    in_order = [by_encoder[encoder] for encoder in encoders if encoder in by_encoder]
    notes = [_order_note(main, in_order), _left_out(hidden, n_encoders)]
    return CatalogLayout([main, *others], encoders, [note for note in notes if note])


def _order_note(main: str, values: list[float]) -> str:
    if values == sorted(values, reverse=True):
        return ""
    by = "" if main == str(AP) else ", by AP"
    return (
        f"Models stand in the order that is most likely right{by}: for it, what chance can explain counts less than in "
        f"the values, so a higher {main} may stand below a lower one."
    )


def _left_out(hidden: dict[str, list[str]], n_encoders: int) -> str:
    everywhere = [name for name, encoders in hidden.items() if len(encoders) == n_encoders]
    parts = [", ".join(everywhere)] if everywhere else []
    parts += [f"{name} of {', '.join(some)}" for name, some in hidden.items() if 0 < len(some) < n_encoders]
    if not parts:
        return ""
    return f"Not shown, because these labels cannot tell it closely enough or without bias: {'; '.join(parts)}."
