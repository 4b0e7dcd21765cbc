"""Files of labels for tests."""

from pathlib import Path

import polars as pl

from likewise.evaluation.exchange.labels_io import labels_content


def write_labels_file(labels: pl.DataFrame, path: Path) -> None:
    """In the form that the ending asks for."""
    path.write_bytes(labels_content(labels, path.suffix, path.name))
