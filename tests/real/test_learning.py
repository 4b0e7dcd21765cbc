"""Learning from a crowd: the adapter agrees with people more than any of its encoders, on answers it has not seen."""

from pathlib import Path

import polars as pl
import pytest

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.encoders import encode_catalog
from likewise.training.perceptual.settings import PerceptualSettings
from likewise.training.perceptual.step import train_perceptual
from likewise.workspace import WorkspaceFolder

from .places import real_data


@pytest.mark.slow
def test_materials_from_four_descriptors(tmp_path: Path) -> None:
    source = real_data("materials")
    workspace = WorkspaceFolder(tmp_path / "materials")
    reading = read(source / "catalog.csv")
    make_catalog(workspace, reading.rows, reading.root, "table")
    encode_catalog(workspace, ["colour", "texture", "shape", "layout"], workers=1)
    settings = PerceptualSettings(
        triplets=source / "triplets.csv", test="split=test", unseen=("answers", "items"), hidden=(0,), n_folds=3
    )
    done = train_perceptual(workspace, settings)
    assert (done.summary.n_answers, done.summary.n_test_answers) == (22_801, 3_000)
    for unseen in ("given test", "answers", "items"):
        rows = done.results.filter((pl.col("unseen") == unseen) & (pl.col("measure") == "majority"))
        assert rows["encoder"][0] == "perceptual"
        assert rows["gain_low"][1:].min() > 0.0  # type: ignore[operator]
    test = done.results.filter((pl.col("unseen") == "given test") & (pl.col("measure") == "majority"))
    assert test["value"][0] > 0.85 and test["n_answers"][0] == 3_000 - 262
    assert done.reliability.expected_error < 0.03
