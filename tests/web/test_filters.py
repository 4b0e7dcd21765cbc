"""What pages offer to filter a catalog by."""

import polars as pl

from likewise.web.filters import filter_columns


def test_columns_that_describe_come_before_those_that_name() -> None:
    colours, n = ["red", "blue"], 12
    catalog = pl.DataFrame(
        {
            "image": [f"{row}.jpg" for row in range(n)],
            "item": [f"item{row}" for row in range(n)],
            "title": [f"a {colours[row % 2]} coat, number {max(row, 1)}" for row in range(n)],
            "shop": ["one"] * n,
            "colour": [colours[row % 2] for row in range(n)],
            "words": [["a"]] * n,
        }
    )
    offered = filter_columns(catalog)
    assert [each["name"] for each in offered] == ["colour", "item", "title"]
    assert offered[0]["values"] == ["blue", "red"]
