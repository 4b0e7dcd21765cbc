"""`likewise encode` and `likewise list encoders` as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import BUILT_IN, DEFAULT_ENCODERS, read_vectors
from likewise.workspace import WorkspaceFolder

from ..cli.conftest import Run, run
from .conftest import Tiny
from .helpers import images_of, make_workspace

__all__ = ["run"]


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return make_workspace(tmp_path, 6)


def test_the_list_says_size_licence_and_what_is_here(run: Run) -> None:
    listed = {each["name"]: each for each in json.loads(run("list", "encoders", "--json").out)}
    assert set(BUILT_IN) < set(listed)
    lite = listed["efficientnet-lite0"]
    assert (lite["dim"], lite["megabytes"], lite["licence"], lite["here"]) == (1280, 19, "Apache-2.0", True)
    for name in ("dino", "beit", "clip", "argus", "resnet50", "convnext", "vit", "swag", "mae", "noisystudent"):
        assert listed[name]["licence"], name
        assert listed[name]["source"].startswith("hf:")
        assert not listed[name]["here"]
        assert listed[name]["stand_in"], name  # the VSD paper has a model of this name
    table = run("list", "encoders").out
    assert "DenseNet-161" in listed["argus"]["stand_in"] and "Not the VSD paper's Argus" in table
    assert "efficientnet-lite2" in table
    assert "hf:facebook/dinov2-base" in table


def test_export_and_encode_with_the_file(run: Run, tiny: Tiny, workspace: WorkspaceFolder, tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    result = json.loads(run("bundle", "encoder", f"hf:{tiny('clip')}", file, "--json").out)
    assert result["max_difference"] < 1e-5
    assert run("bundle", "encoder", "colour", file).code == 2
    ran = run("encode", workspace.path, "--with", f"onnx:{file},hf:{tiny('clip')}", "--workers", 1, "--json")
    assert [each["encoder"] for each in json.loads(ran.out)] == ["net", "clip"]
    both = [read_vectors(workspace, name, images_of(workspace)) for name in ("net", "clip")]
    assert np.abs(both[0] - both[1]).max() < 1e-5


def test_without_with_the_encoders_of_the_help_and_the_readme_run(run: Run, workspace: WorkspaceFolder) -> None:
    done = json.loads(run("encode", workspace.path, "--workers", 1, "--json").out)
    assert [each["encoder"] for each in done] == list(DEFAULT_ENCODERS)
    assert f"Without --with: {', '.join(DEFAULT_ENCODERS)}." in " ".join(run("encode", "--help").out.split())
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").lower()
    assert f"vectors: {', '.join(DEFAULT_ENCODERS)}" in readme


def test_left_out_images_are_listed(run: Run, workspace: WorkspaceFolder) -> None:
    (workspace.root / "0002.png").write_bytes(b"broken")
    ran = run("encode", workspace.path, "--with", "layout", "--workers", 1)
    assert "1 left out" in ran.out
    assert "0002.png: cannot identify image file" in ran.out
    assert json.loads(run("encode", workspace.path, "--with", "layout", "--json").out)[0]["left_out_images"] == [
        "0002.png"
    ]


def test_vectors_are_imported(run: Run, workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images = images_of(workspace)
    np.save(tmp_path / "v.npy", np.eye(6, dtype=np.float32))
    (tmp_path / "keys.csv").write_text("image\n" + "\n".join(images) + "\n")
    ran = run(
        "encode", workspace.path, "--import", tmp_path / "v.npy", "--keys", tmp_path / "keys.csv", "--name", "mine"
    )
    assert (ran.code, "mine: 6 images encoded, 6 dimensions" in ran.out) == (0, True)
    assert read_vectors(workspace, "mine", images).tolist() == np.eye(6).tolist()
    assert "does not say which image" in run("encode", workspace.path, "--import", tmp_path / "v.npy").err


def test_a_model_that_is_not_here_is_one_sentence(run: Run, workspace: WorkspaceFolder) -> None:
    ran = run("encode", workspace.path, "--with", "clip")
    assert ran.code == 2
    assert ran.err.startswith("likewise: openai/clip-vit-base-patch16 is not on this machine")
    assert ran.err.count("\n") == 1


def test_help_and_the_list_load_no_network_library() -> None:
    code = (
        "import sys; from likewise.encoders.listing import list_encoders; list_encoders(); "
        "print([m for m in ('torch', 'transformers', 'onnxruntime', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
