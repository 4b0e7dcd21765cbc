"""Both features of a two-tower encoder, with the length of their features kept."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from likewise.catalog import load_image
from likewise.conditional.search import Searcher
from likewise.conditional.towers import FeatureWorkspace, TwoTower, encoded_towers, normalize
from likewise.encoders import encode_catalog, encode_text, get_encoder
from likewise.encoders.families.huggingface.image_processor import load_processor
from likewise.encoders.families.huggingface.model import load_network
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.encoders.conftest import Tiny


def test_features_are_those_of_transformers_unscaled(drawn: WorkspaceFolder, tower: TwoTower, tiny: Tiny) -> None:
    import torch

    images = tower.encoded_images(drawn)[:6]
    small = get_encoder(tower.spec).pixels
    pictures = [load_image(drawn.root / image, at_least=small) for image in images]
    found = tower.image_features(drawn, images)
    pixels = load_processor(str(tiny("clip")))(images=pictures, return_tensors="pt")["pixel_values"]
    network = load_network(str(tiny("clip")))
    with torch.inference_mode():
        expected = network.visual_projection(network.vision_model(pixels).pooler_output).numpy()
    assert np.allclose(found, expected, atol=1e-4)
    assert not np.allclose(np.linalg.norm(expected, axis=1), 1.0, atol=0.05)
    assert np.allclose(tower.picture_features(pictures), found, atol=1e-5)
    scaled = get_encoder(tower.spec)
    assert np.allclose(normalize(found), scaled.encode([scaled.prepare(picture) for picture in pictures]), atol=1e-5)


def test_texts_keep_their_order_and_length(tower: TwoTower) -> None:
    texts = ["red", "a bag", "red", "striped"]
    found = tower.text_features(texts)
    assert np.array_equal(found[0], found[2])
    assert np.allclose(normalize(found), encode_text(tower.spec, texts), atol=1e-6)
    assert not np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=0.05)


def test_what_has_no_text_side_is_refused(tiny: Tiny, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    for spec in ("colour", f"hf:{tiny('vit')}", f"{tower.spec}?pooling=cls", "colour+shape"):
        with pytest.raises(LikewiseError, match="no text side"):
            TwoTower.from_spec(spec)
    with pytest.raises(LikewiseError, match="length one"):
        encode_catalog(drawn, [tower.unscaled], workers=1)
    assert not Path(drawn.vectors_folder, f"{tower.name}_unscaled").exists()
    with pytest.raises(LikewiseError, match="leave `dtype` out"):
        encode_catalog(FeatureWorkspace(drawn.path), [f"{tower.unscaled}&dtype=float16"], workers=1)


def test_a_tower_is_found_again_from_another_folder_and_after_a_move(
    tmp_path: Path, workspace: WorkspaceFolder, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny("clip"), workspace.path / "tower")
    monkeypatch.chdir(workspace.path)
    TwoTower.from_spec("hf:tower").encode(workspace, workers=1)
    TwoTower(f"hf:{tiny('vit')}").encode(workspace, workers=1)  # features without a text side, which nobody can ask
    monkeypatch.chdir(tmp_path.parent)
    assert encoded_towers(workspace) == [f"hf:{workspace.path.resolve()}/tower"]
    assert Searcher.open(workspace, workers=1).search(text="red", top_k=3).height == 3
    moved = workspace.path.rename(tmp_path / "moved")
    assert encoded_towers(WorkspaceFolder(moved)) == [f"hf:{moved.resolve()}/tower"]
