"""On real photographs the network built from its weights gives the vectors that torch gives."""

import numpy as np
import polars as pl
import pytest

from likewise.catalog.images import load_image
from likewise.encoders import get_encoder

from .places import real_data

N_PHOTOS = 24
MAX_DIFFERENCE = 1e-5


@pytest.mark.parametrize("name", ["efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"])
def test_onnx_and_torch_agree_on_photographs(name: str) -> None:
    folder = real_data("clothing")
    images = pl.read_csv(folder / "catalog.csv")["image"].sample(N_PHOTOS, seed=0)
    by_onnx, by_torch = get_encoder(f"{name}?runtime=onnx"), get_encoder(f"{name}?runtime=torch")
    prepared = [by_onnx.prepare(load_image(folder / image, at_least=by_onnx.pixels)) for image in images]
    difference = np.abs(by_onnx.encode(prepared) - by_torch.encode(prepared)).max()
    assert difference < MAX_DIFFERENCE
