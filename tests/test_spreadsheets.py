"""No cell of an exported CSV is a formula, and every text comes back as it was."""

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import likewise
from likewise.evaluation.exchange.labels_io import labels_content, read_labels_file
from likewise.spreadsheets import defuse_formulas, restore_formulas


@given(st.lists(st.text("'=+-@\t\rab", max_size=6), min_size=1, max_size=8))
def test_formulas_are_defused_and_restored(texts: list[str]) -> None:
    table = pl.DataFrame({"expert": texts, "n": range(len(texts))}, schema={"expert": pl.String, "n": pl.Int64})
    defused = defuse_formulas(table)
    assert not [text for text in defused["expert"] if text[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert restore_formulas(defused).equals(table)


def test_labels_with_keys_like_formulas_go_there_and_back(tmp_path: Path) -> None:
    rows = [("=1+1.png", "@SUM(A1).png", 1), ("b.png", "-2.png", 0)]
    labels = pl.DataFrame(rows, schema={"query": pl.String, "candidate": pl.String, "label": pl.Int8}, orient="row")
    for ending in (".csv", ".tsv"):
        path = tmp_path / f"labels{ending}"
        path.write_bytes(labels_content(labels, ending, path.name))
        cells = [
            cell for line in path.read_text().splitlines() for cell in line.split("\t" if ending == ".tsv" else ",")
        ]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert set(read_labels_file(path).labels.select("query", "candidate").iter_rows()) == {row[:2] for row in rows}


def test_tables_for_people_are_written_in_one_way_only() -> None:
    """A `.write_csv(` elsewhere would let formulas through; one that is only hashed is nobody's file."""
    source = Path(likewise.__file__).parent
    found = {file.relative_to(source).as_posix() for file in source.rglob("*.py") if ".write_csv(" in file.read_text()}
    assert found - {"conditional/study.py"} == {"spreadsheets.py"}
