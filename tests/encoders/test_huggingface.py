"""Transformers models in the real format give what transformers itself gives, pictures and texts."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.encoders import encode_text, get_encoder
from likewise.encoders.families.huggingface.hub import SECONDS_TO_CONNECT
from likewise.encoders.families.huggingface.image_processor import load_processor
from likewise.encoders.families.huggingface.model import load_network
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError

from .conftest import Tiny
from .helpers import random_picture
from .tiny import MAKERS

AT_MOST = {"padding": "max_length", "truncation": True, "max_length": 16}
PICTURES = [random_picture(number, 60 + number, 50) for number in range(6)]


def vectors(spec: str) -> Vectors:
    encoder = get_encoder(spec)
    found = encoder.encode([encoder.prepare(picture) for picture in PICTURES])
    assert found.shape == (len(PICTURES), encoder.dim)
    return found


def unit(features: Any) -> NDArray[np.float64]:
    rows = features.detach().numpy().astype(np.float64)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def by_transformers(folder: Path, family: str) -> NDArray[np.float64]:
    """The embedding as a model's card would have it."""
    import torch

    network = load_network(str(folder))
    pixels = load_processor(str(folder))(images=PICTURES, return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        if family == "clip":
            return unit(network.visual_projection(network.vision_model(pixels).pooler_output))
        if family == "siglip":
            return unit(network.vision_model(pixels).pooler_output)
        if family == "mae":
            network.config.mask_ratio = 0.0
        output = network(pixels)
        if family in ("vit", "dinov2", "dinov3"):
            return unit(output.last_hidden_state[:, 0])
        if family in ("beit", "mae"):
            return unit(output.last_hidden_state[:, 1:].mean(1))
        return unit(output.pooler_output.flatten(1))


@pytest.mark.parametrize("family", sorted(MAKERS))
def test_every_family_gives_what_its_model_card_says(tiny: Tiny, family: str) -> None:
    folder = tiny(family)
    expected = by_transformers(folder, family)
    assert np.abs(vectors(f"hf:{folder}?runtime=torch") - expected).max() < 1e-5
    assert np.abs(vectors(f"hf:{folder}") - expected).max() < 1e-5  # exported, where that works


def test_pooling_can_be_chosen(tiny: Tiny) -> None:
    folder = tiny("dinov2")
    network = load_network(str(folder))
    pixels = load_processor(str(folder))(images=PICTURES, return_tensors="pt")["pixel_values"]
    hidden = network(pixels).last_hidden_state
    assert np.abs(vectors(f"hf:{folder}?pooling=mean") - unit(hidden[:, 1:].mean(1))).max() < 1e-5
    assert np.abs(vectors(f"hf:{folder}?pooling=cls") - vectors(f"hf:{folder}")).max() == 0
    assert get_encoder(f"hf:{folder}").version != get_encoder(f"hf:{folder}?pooling=mean").version
    clip = tiny("clip")
    assert get_encoder(f"hf:{clip}").dim == 20
    assert vectors(f"hf:{clip}?pooling=pooler").shape == (6, 24)


def test_another_size_is_seen_by_the_network(tiny: Tiny) -> None:
    folder = tiny("vit")
    larger = vectors(f"hf:{folder}?size=64")
    assert get_encoder(f"hf:{folder}?size=64").prepare(PICTURES[0]).shape == (3, 64, 64)
    assert np.abs(larger - vectors(f"hf:{folder}")).max() > 1e-4
    assert get_encoder(f"hf:{folder}?frame=pad").prepare(PICTURES[0]).shape == (3, 32, 32)


def test_flipping_makes_a_picture_and_its_mirror_image_equal(tiny: Tiny) -> None:
    encoder = get_encoder(f"hf:{tiny('vit')}?flip=1")
    prepared = encoder.prepare(PICTURES[0])
    seen, mirrored = encoder.encode([prepared]), encoder.encode([prepared[..., ::-1]])
    assert np.abs(seen - mirrored).max() < 1e-6


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_texts_live_in_the_space_of_pictures(tiny: Tiny, family: str) -> None:
    import torch
    from transformers import AutoTokenizer

    folder, texts = tiny(family), ["a red shoe", "the green bag with dots", "a"]
    found = encode_text(f"hf:{folder}", texts)
    assert found.shape == (3, get_encoder(f"hf:{folder}").dim)
    tokens = AutoTokenizer.from_pretrained(folder)(texts, **AT_MOST, return_tensors="pt")
    network = load_network(str(folder))
    with torch.inference_mode():
        output = network.text_model(**tokens).pooler_output
        expected = unit(network.text_projection(output) if family == "clip" else output)
    assert np.abs(found - expected).max() < 1e-5
    assert encode_text(f"hf:{folder}", []).shape == (0, found.shape[1])
    with pytest.raises(LikewiseError, match="has no text side"):
        encode_text(f"hf:{tiny('vit')}", texts)
    with pytest.raises(LikewiseError, match="has no text side"):
        encode_text("colour", texts)


def test_a_model_that_is_not_here_is_answered_at_once_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def refuse(address: tuple[str, int], timeout: float) -> None:
        asked.append(timeout)
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.create_connection", refuse)
    specs = ("hf:facebook/dinov2-base", "dino", "beit", "clip", "siglip2", "fashionclip")

    def refused() -> list[float]:
        asked.clear()
        for spec in specs:
            with pytest.raises(LikewiseError, match=r"is not on this machine.*`hf download .*copy the folder to"):
                get_encoder(spec)
        return asked

    assert refused() == []  # the tests are told that they are offline
    with monkeypatch.context() as base:
        base.setitem(sys.modules, "transformers", None)  # nobody is sent to fetch what could not be opened
        base.setattr("likewise.optional_dependencies.find_spec", lambda _: None)
        with pytest.raises(LikewiseError, match=r"hf:openai/.* needs transformers, .*pip install 'likewise\[torch\]'"):
            get_encoder("clip")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert refused() == [SECONDS_TO_CONNECT] * len(specs)
    with pytest.raises(LikewiseError, match="there is no transformers model in /no/such/folder"):
        get_encoder("hf:/no/such/folder")
    with pytest.raises(LikewiseError, match="MoCo has no public weights"):
        get_encoder("moco")


def test_a_folder_put_into_the_models_folder_is_found_by_id_and_short_name(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_MODELS", str(tmp_path))
    shutil.copytree(tiny("dinov2"), tmp_path / "facebook" / "dinov2-base")
    get_encoder.cache_clear()
    assert get_encoder("dinov2").dim == 24
    assert get_encoder("dinov2").name == "dinov2"
    assert get_encoder("hf:facebook/dinov2-base").name == "dinov2-base"
    get_encoder.cache_clear()


def test_a_damaged_model_is_one_sentence(tiny: Tiny, tmp_path: Path) -> None:
    damages: list[tuple[Callable[[Path], object], str]] = [
        (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 100), "cannot be loaded"),
        (lambda folder: (folder / "preprocessor_config.json").unlink(), "has no preprocessor_config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json cannot be read"),
        (lambda folder: (folder / "config.json").write_text("{}"), "names no model_type"),
    ]
    for damage, said in damages:
        folder = tmp_path / said.split()[-1]
        shutil.copytree(tiny("vit"), folder)
        damage(folder)
        with pytest.raises(LikewiseError, match=said) as caught:
            encoder = get_encoder(f"hf:{folder}")
            assert encoder.version
            encoder.encode([encoder.prepare(PICTURES[0])])
        assert "\n" not in str(caught.value)


def test_a_wrong_pooling_is_one_sentence(tiny: Tiny) -> None:
    with pytest.raises(LikewiseError, match="pooling=median is unknown"):
        get_encoder(f"hf:{tiny('vit')}?pooling=median")
    with pytest.raises(LikewiseError, match="a vit model has no image_embeds"):
        get_encoder(f"hf:{tiny('vit')}?pooling=image_embeds")
