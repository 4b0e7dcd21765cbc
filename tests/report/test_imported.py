"""Labels that came without votes: the report says so, and claims nothing about experts."""

from pathlib import Path

import polars as pl

from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.step import evaluate
from likewise.report import write_report
from likewise.workspace import WorkspaceFolder
from tests.evaluation.label_files import write_labels_file
from tests.report.test_page import Page


def test_a_report_on_imported_labels(shop: WorkspaceFolder, tmp_path: Path) -> None:
    labels = tmp_path / "my tags.json"
    write_labels_file(pl.read_parquet(shop.labels_file), labels)
    import_labels(shop, labels, replace=True)
    evaluate(shop, store=True)
    page = Page(write_report(shop).read_text(encoding="utf-8"))
    n_labels = len(pl.read_parquet(shop.labels_file))
    assert "imported without votes" in page.text
    assert f"The {n_labels} labels" in page.text
    assert "likewise label import 'small shop-again' 'small shop-again'/imported.parquet" in page.text
    for claim in ("0 experts", "None for", "Fleiss’ κ undefined"):
        assert claim not in page.text
