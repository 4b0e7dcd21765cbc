"""The sentence above the whole-catalog estimates, where the labels cannot tell the value of the model that leads."""

import polars as pl

from likewise.evaluation.estimates.step import CATALOG_SCHEMA
from likewise.report.catalog_board import catalog_board, catalog_verdict


def values(shown_of_a: bool, *, with_b: bool = True) -> pl.DataFrame:
    rows = [
        (encoder, measure, 0.5, 0.4, 0.6, 0.05, 40, 1000, shown_of_a or encoder == "b", place)
        for place, encoder in enumerate("ab" if with_b else "a", 1)
        for measure in ("AP", "P@5")
    ]
    return pl.DataFrame(rows, schema=CATALOG_SCHEMA, orient="row")


def test_a_model_whose_value_is_not_shown_may_lead_without_a_number() -> None:
    title, numbers = catalog_verdict(catalog_board(values(shown_of_a=False)), None)
    assert title == "a is probably the best, but these labels cannot tell how good it is"
    assert numbers.endswith("AP of a; P@5 of a.")
    alone, _ = catalog_verdict(catalog_board(values(shown_of_a=False, with_b=False)), None)
    assert alone == "These labels cannot tell how good a is"
    assert (
        catalog_verdict(catalog_board(values(shown_of_a=True)), None)[0]
        == "a has the highest AP over the whole catalog"
    )
