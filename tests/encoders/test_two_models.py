"""A collection that holds two models is pointed out at its first import; one model, however clustered, is not."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from likewise.api.workspace import Workspace
from likewise.encoders.storage.two_models import follows_a_column, halves_of_two_models
from tests.conftest import draw_shape

Floats = NDArray[np.float64]


def seen_by(model: int, pictures: Floats, dim: int = 512) -> Floats:
    """A network of its own: random features that are never negative, as those of most networks."""
    rng = np.random.default_rng(model)
    hidden = pictures @ rng.normal(size=(pictures.shape[1], dim)) + rng.normal(size=dim)
    vectors = np.maximum(hidden, 0.0)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture
def pictures() -> Floats:
    """400 of four kinds."""
    rng = np.random.default_rng(9)
    return np.asarray(rng.normal(size=(4, 12))[np.arange(400) % 4] + rng.normal(size=(400, 12)))


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_two_models_are_told_apart(pictures: Floats, share: float) -> None:
    second = np.random.default_rng(1).random(400) < share
    halves = halves_of_two_models(np.where(second[:, None], seen_by(2, pictures), seen_by(1, pictures)))
    assert halves is not None
    assert (halves == second).all() or (halves == ~second).all()


@pytest.mark.parametrize("apart", [0.0, 1.0, 4.0])
def test_one_model_is_one_model_however_far_apart_its_clusters_are(pictures: Floats, apart: float) -> None:
    pictures = pictures.copy()
    pictures[::2, 0] += apart
    assert halves_of_two_models(seen_by(1, pictures)) is None


def test_what_a_column_or_a_folder_tells_apart_is_no_alarm() -> None:
    halves = np.arange(100) < 40
    images = pl.DataFrame({"image": [f"{number:03d}.png" for number in range(100)]})
    assert not follows_a_column(halves, images)
    assert not follows_a_column(halves, images.with_columns(kind=pl.Series(np.arange(100) % 3)))
    assert follows_a_column(halves, images.with_columns(kind=pl.Series(np.where(halves, "drawing", "photo"))))
    assert follows_a_column(
        halves, images.with_columns(image=pl.Series(np.where(halves, "a/", "b/")) + pl.col("image"))
    )


def test_the_first_import_asks(tmp_path: Path, pictures: Floats) -> None:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    (tmp_path / "photos").mkdir()
    names = [f"{number:03d}.png" for number in range(120)]
    for number, name in enumerate(names):
        draw_shape("circle", f"rgb({2 * number},90,{200 - number})", 0).save(tmp_path / "photos" / name)
    workspace = Workspace(tmp_path / "shop")
    workspace.new(tmp_path / "photos")
    second = np.random.default_rng(1).random(120) < 0.5
    one, other = (seen_by(model, pictures[:120]) for model in (1, 2))

    def bring(name: str, vectors: Floats) -> str:
        np.savez(tmp_path / f"{name}.npz", images=np.array(names), vectors=vectors)
        words = ["encode", str(workspace.path), "--import", str(tmp_path / f"{name}.npz"), "--name", name]
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0
        return " ".join(done.output.split())

    assert "are these vectors of two models?" in bring("both", np.where(second[:, None], other, one))
    assert "two models" not in bring("one", one)
