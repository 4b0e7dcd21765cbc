"""Pictures for training come from disk by worker processes, the same ones in the same order, in bounded memory."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.running.picture_reader import PictureReader, read_prepared
from likewise.errors import LikewiseError

N, SIDE = 60, 8
RECIPE = Recipe(resize=(SIDE, SIDE), cut=None)


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    noise = np.random.default_rng(0).integers(0, 256, (N, 12, 12, 3), dtype=np.uint8)
    for number, each in enumerate(noise):
        Image.fromarray(each).save(tmp_path / f"{number:02d}.png")
    return [f"{number:02d}.png" for number in range(N)]


def test_batches_are_the_same_whoever_decodes_them_and_memory_stays_bounded(tmp_path: Path, images: list[str]) -> None:
    read = partial(read_prepared, tmp_path, RECIPE)
    wanted = np.stack([read(image) for image in images])
    order = np.random.default_rng(1).permutation(N)
    batches = [order[start : start + 16] for start in range(0, N, 16)]
    limit = 5 * 3 * SIDE * SIDE
    for workers in (1, 2):
        reader = PictureReader(images, read, workers=workers, max_cache_bytes=limit)
        for _ in range(2):  # epochs
            seen = [reader[rows] for rows in reader.ahead(batches)]
            assert np.array_equal(np.concatenate(seen), wanted[order])
        assert np.array_equal(reader[np.array([3, 3, 0])], wanted[[3, 3, 0]])
        assert reader._cache_bytes <= limit and not reader._coming
        reader.close()


def test_a_picture_that_cannot_be_read_is_a_sentence(tmp_path: Path, images: list[str]) -> None:
    (tmp_path / images[7]).write_bytes(b"no picture")
    for workers in (1, 2):
        reader = PictureReader(images, partial(read_prepared, tmp_path, RECIPE), workers=workers)
        with pytest.raises(LikewiseError, match=r"07\.png"):
            reader.take(range(N))
        reader.close()


def test_few_pictures_on_a_cpu_start_no_processes(images: list[str]) -> None:
    assert PictureReader(images, read_nothing).workers == 1
    assert PictureReader(images * 100, read_nothing).workers >= 1


def read_nothing(image: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    raise AssertionError
