"""Models of timm (`argus`, `swag`, `noisystudent` stand for such ones) give what timm itself gives."""

from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import get_encoder

from .helpers import random_picture

timm = pytest.importorskip("timm", reason="not run: timm is not installed (it needs torchvision)", exc_type=ImportError)


@pytest.mark.parametrize("architecture", ["test_resnet", "test_efficientnet"])
def test_a_model_of_timm_is_prepared_and_pooled_as_timm_does(tmp_path: Path, architecture: str) -> None:
    import torch

    torch.manual_seed(0)
    model = timm.create_model(architecture, pretrained=False, num_classes=7).eval()
    timm.models.save_for_hf(model, tmp_path, safe_serialization=True)
    pictures = [random_picture(number, 300, 240) for number in range(4)]
    prepare = timm.data.create_transform(**timm.data.resolve_data_config({}, model=model))
    with torch.inference_mode():
        pixels = torch.stack([prepare(picture) for picture in pictures])
        expected = model.forward_head(model.forward_features(pixels), pre_logits=True).numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for runtime in ("torch", "onnx"):
        encoder = get_encoder(f"hf:{tmp_path}?runtime={runtime}")
        found = encoder.encode([encoder.prepare(picture) for picture in pictures])
        assert found.shape == (4, encoder.dim)
        assert np.abs(found - expected).max() < 1e-5
