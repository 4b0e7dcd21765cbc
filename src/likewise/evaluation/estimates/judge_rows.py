"""A judge's table lined up with the drawn labels: rows of queries and units, drawn pairs all among them."""

import numpy as np
import polars as pl

from likewise.discovery.designs.units import CatalogUnits
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.judge import JudgeAnswers


def judge_answers(
    rows: pl.DataFrame, drawn: LabelledDraw, queries: list[str], gallery: list[str], units: CatalogUnits
) -> JudgeAnswers:
    """From rows of query, candidate, probability and answer; a unit shown by two images counts once."""
    names = pl.Series(queries).gather(drawn.queries)
    asked = (
        rows.join(pl.DataFrame({"query": names, "row": np.arange(len(names))}), on="query")
        .join(pl.DataFrame({"candidate": gallery, "unit": units.unit_of_image}), on="candidate")
        .group_by("row", "unit")
        .agg(pl.col("probability").max(), pl.col("answer").sort_by("probability", "candidate").drop_nulls().last())
    )
    people = pl.DataFrame({"row": drawn.query, "unit": drawn.unit}).join(asked, on=["row", "unit"], how="anti")
    missing = people.with_columns(probability=pl.lit(0.0), answer=pl.lit(None, pl.Float64))
    both = pl.concat([asked.select(missing.columns), missing]).sort("row", "unit")
    return JudgeAnswers(
        both["row"].to_numpy().astype(np.int64),
        both["unit"].to_numpy().astype(np.int64),
        both["probability"].to_numpy(),
        both["answer"].fill_null(float("nan")).to_numpy(),
    )
