"""ONNX equals torch, is made once, is used by itself where it is faster and equal, and says what it needs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from likewise.encoders import get_encoder
from likewise.encoders.networks import choose_runtime, onnx_export
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.onnx_export import ExportCheck, cached_export
from likewise.encoders.networks.runtimes import onnx_runtime
from likewise.encoders.protocol import Vectors
from likewise.encoders.running.export import export_encoder
from likewise.errors import LikewiseError

from .conftest import Tiny
from .helpers import random_picture

PICTURES = [random_picture(number, 70, 50 + number) for number in range(9)]


def vectors(spec: str, batch: int = 9) -> Vectors:
    encoder = get_encoder(spec)
    prepared = [encoder.prepare(picture) for picture in PICTURES]
    return np.concatenate([encoder.encode(prepared[start : start + batch]) for start in range(0, 9, batch)])


def neighbours(found: Vectors) -> list[list[int]]:
    scores = found.astype(np.float64) @ found.T.astype(np.float64)
    return [[int(each) for each in np.argsort(-row)] for row in scores]


@pytest.mark.parametrize(("name", "pixels"), [("efficientnet-lite1", 240), ("efficientnet-lite2", 260)])
def test_the_larger_ones_see_larger_pictures_and_tell_them_apart(name: str, pixels: int) -> None:
    found = vectors(f"{name}?runtime=torch")
    assert get_encoder(name).prepare(PICTURES[0]).shape == (3, pixels, pixels)
    assert found.shape == (9, 1280)
    assert [row[0] for row in neighbours(found)] == list(range(9))


def test_an_exported_file_is_an_encoder_that_needs_no_more_words(tiny: Tiny, tmp_path: Path) -> None:
    spec, file = f"hf:{tiny('dinov2')}", tmp_path / "net.onnx"
    result = export_encoder(spec, file)
    assert result.max_difference < 1e-5
    assert min(result.torch_images_per_second, result.onnx_images_per_second) > 0
    encoder = get_encoder(f"onnx:{file}")
    assert (encoder.name, encoder.dim) == ("net", 24)
    assert np.abs(vectors(f"onnx:{file}") - vectors(f"{spec}?runtime=torch")).max() < 1e-5
    assert json.loads((tmp_path / "net.onnx.json").read_text())["resize"] == 40


def test_without_a_sidecar_the_spec_or_the_file_says_it(tiny: Tiny, tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    export_encoder(f"hf:{tiny('vit')}", file)
    (tmp_path / "net.onnx.json").unlink()
    halves = "mean=0.5/0.5/0.5&std=0.5/0.5/0.5"
    found = get_encoder(f"onnx:{file}?{halves}")  # the size stands in the file
    assert found.prepare(PICTURES[0]).shape == (3, 32, 32)
    squashed = vectors(f"onnx:{file}?{halves}&frame=squash&input=pixels&output=features")
    bicubic_instead_of_bilinear = np.abs(squashed - vectors(f"hf:{tiny('vit')}")).max()
    assert bicubic_instead_of_bilinear < 0.1
    (tmp_path / "net.json").write_text('{"size": 32, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}')
    get_encoder.cache_clear()
    assert np.abs(vectors(f"onnx:{file}") - vectors(f"onnx:{file}?{halves}&frame=centre")).max() < 1e-6


def test_mistakes_with_onnx_files_are_one_sentence(tiny: Tiny, tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    export_encoder(f"hf:{tiny('vit')}", file)
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"nothing")
    for spec, said in (
        (f"onnx:{tmp_path}/none.onnx", "does not exist"),
        (f"onnx:{broken}?size=32", "cannot be opened as an ONNX model"),
        (f"onnx:{file}?input=x", "has no input 'x': it has pixels"),
        (f"onnx:{file}?output=y", "has no output 'y': it has features"),
        (f"onnx:{file}?std=0/0/0", "std without zeros"),
    ):
        with pytest.raises(LikewiseError, match=said) as caught:
            print(get_encoder(spec).dim)  # noqa: T201
        assert "\n" not in str(caught.value)
    with pytest.raises(LikewiseError, match="colour is no torch network"):
        export_encoder("colour", file)
    (tmp_path / "net.onnx.json").write_text('{"colour": 1}')
    get_encoder.cache_clear()
    with pytest.raises(LikewiseError, match="does not describe a preparation"):
        get_encoder(f"onnx:{file}")


@pytest.mark.parametrize("shape", [[1 << 20, 1 << 20, 1 << 10], [7]])
def test_a_file_that_opens_and_fails_when_it_is_run_is_one_sentence(tmp_path: Path, shape: list[int]) -> None:
    """It asks for more than any memory, or answers with another number of rows than pictures."""
    wanted = onnx.numpy_helper.from_array(np.array(shape, np.int64), "shape")
    given, said = (onnx.helper.make_tensor_value_info(name, 1, None) for name in ("x", "y"))
    nodes = [
        onnx.helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        onnx.helper.make_node("Expand", ["sum", "shape"], ["y"]),
    ]
    graph = onnx.helper.make_graph(nodes, "graph", [given], [said], initializer=[wanted])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    run = onnx_runtime(made.SerializeToString())
    with pytest.raises(LikewiseError, match="opens and fails when it is run on 2 pictures") as caught:
        run(np.zeros((2, 3, 8, 8), np.float32))
    assert "\n" not in str(caught.value)


def model_of(spec: str) -> NetworkModel:
    encoder = get_encoder(spec)
    assert isinstance(encoder, Network)
    return encoder.model


def test_the_export_is_made_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(f"hf:{tiny('convnext')}")
    first = cached_export(model, insist=True)
    monkeypatch.setattr(onnx_export, "_export_and_check", None)  # would fail when called
    assert first is not None
    assert cached_export(model, insist=True) == first


@pytest.mark.parametrize(
    ("result", "used"),
    [
        (ExportCheck(1e-7, 10.0, 30.0), True),
        (ExportCheck(1e-7, 30.0, 10.0), False),  # slower
        (ExportCheck(1e-3, 10.0, 30.0), False),  # not equal
        (ExportCheck(float("inf"), 0.0, 0.0, "no such operator"), False),
    ],
)
def test_onnx_is_used_only_where_it_is_faster_and_equal(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: ExportCheck, used: bool
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path))

    def pretend(model: NetworkModel, module: object, target: Path) -> ExportCheck:
        if not result.problem:
            target.write_bytes(b"a network")
        return result

    monkeypatch.setattr(onnx_export, "_export_and_check", pretend)
    assert (cached_export(model_of(f"hf:{tiny('vit')}")) is not None) == used
    assert (cached_export(model_of(f"hf:{tiny('vit')}")) is not None) == used  # as remembered


def test_a_network_that_cannot_be_exported_runs_with_torch(tiny: Tiny, tmp_path: Path) -> None:
    import torch

    class Odd(torch.nn.Module):
        def forward(self, pixels: torch.Tensor) -> torch.Tensor:
            rows: torch.Tensor = torch.linalg.matrix_exp(pixels[:, 0])[:, 0]  # no ONNX operator
            return rows

    model = replace(model_of(f"hf:{tiny('vit')}"), label="odd", load=Odd, find_digest=lambda: "odd")
    with pytest.raises(LikewiseError, match="odd cannot be exported to ONNX"):
        onnx_export.export_to_onnx(model, tmp_path / "odd.onnx")
    assert not (tmp_path / "odd.onnx").exists()
    network = Network("odd", model)
    assert network.encode([network.prepare(PICTURES[0])]).shape == (1, 32)


def test_a_batch_that_the_export_gets_wrong_is_noticed(tiny: Tiny, tmp_path: Path) -> None:
    import torch

    class Sizes(torch.nn.Module):
        def forward(self, pixels: torch.Tensor) -> torch.Tensor:
            return pixels.mean((2, 3)) * torch.tensor([1.0, float(len(pixels)), 1.0])  # frozen by tracing

    model = replace(model_of(f"hf:{tiny('vit')}"), label="sizes", load=Sizes, find_digest=lambda: "sizes")
    with pytest.raises(LikewiseError, match="its vectors differ by"):
        onnx_export.export_to_onnx(model, tmp_path / "sizes.onnx")


def test_a_damaged_file_in_the_cache_is_replaced(tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path))
    model = model_of(f"hf:{tiny('vit')}")
    made = cached_export(model, insist=True)
    assert made is not None
    made.write_bytes(b"damaged")
    network = Network("vit", model, runtime="onnx")
    assert network.encode([network.prepare(PICTURES[0])]).shape == (1, 24)
    assert not made.exists()
    assert cached_export(model, insist=True) == made


def test_a_gpu_is_used_with_torch(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_DEVICE", "cpu:0")  # anything but the plain CPU
    monkeypatch.setattr(choose_runtime, "cached_export", None)  # would fail when called
    network = Network("vit", model_of(f"hf:{tiny('vit')}"))
    assert np.abs(network.encode([network.prepare(PICTURES[0])]) - vectors(f"hf:{tiny('vit')}")[:1]).max() < 1e-5
