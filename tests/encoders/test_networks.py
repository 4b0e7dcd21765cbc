"""Networks in the encode pipeline: pictures of every kind, workers, a kill in the middle, the catalog's boxes."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders import encode_catalog, get_encoder, left_out_images, read_vectors
from likewise.encoders.families.efficientnet import SIZES, STAGES
from likewise.encoders.networks.network import Network
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, write_parquet

from .conftest import Tiny
from .helpers import files, images_of, make_workspace, random_picture, write_catalog
from .test_encode import child_processes, wait_until_gone

PICTURES = 40
SHARD = 10


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return make_workspace(tmp_path, PICTURES)


def test_workers_and_built_in_companions_change_nothing(workspace: WorkspaceFolder, tiny: Tiny, tmp_path: Path) -> None:
    deep, flipped = f"hf:{tiny('dinov2')}", f"hf:{tiny('vit')}?flip=1"
    alone = make_workspace(tmp_path / "alone", PICTURES)
    for spec in (deep, flipped, "layout"):
        encode_catalog(alone, [spec], workers=1, shard_rows=SHARD)
    done = encode_catalog(workspace, [deep, "layout", flipped], workers=2, shard_rows=SHARD)
    assert [each.encoder for each in done] == ["dinov2", "layout", "vit_flip"]
    assert [each.new_images for each in done] == [PICTURES] * 3
    for name in ("dinov2", "layout", "vit_flip"):
        assert files(workspace.vectors_folder / name) == files(alone.vectors_folder / name)
    assert encode_catalog(workspace, [deep], shard_rows=SHARD)[0].new_images == 0
    assert encode_catalog(workspace, ["vit_flip"])[0].new_images == 0, "known by its name, too"
    encoder = get_encoder(deep)
    expected = encoder.encode([encoder.prepare(load_image(workspace.root / "0007.png"))])
    assert np.abs(read_vectors(workspace, "dinov2", ["0007.png"]) - expected).max() < 1e-5
    assert (
        read_vectors(workspace, deep, ["0007.png"]).tobytes()
        == read_vectors(workspace, "dinov2", ["0007.png"]).tobytes()
    )


RUN = """
import sys, time
from pathlib import Path
from likewise.encoders import encode_catalog
from likewise.workspace import WorkspaceFolder

if __name__ == "__main__":
    def wait_to_be_killed(stage, done, total):
        if done >= 20:  # with one shard written and a second at hand
            time.sleep(600)
    workspace = WorkspaceFolder(Path(sys.argv[1]))
    encode_catalog(workspace, [sys.argv[2]], workers=2, shard_rows=10, on_progress=wait_to_be_killed)
"""


def test_a_killed_run_of_a_network_is_continued_and_leaves_no_trace(
    workspace: WorkspaceFolder, tiny: Tiny, tmp_path: Path
) -> None:
    spec = f"hf:{tiny('dinov2')}"
    twin = make_workspace(tmp_path / "twin", PICTURES)
    encode_catalog(twin, [spec], workers=1, shard_rows=SHARD)
    script = tmp_path / "run.py"
    script.write_text(RUN)
    folder = workspace.vectors_folder / "dinov2"
    running = subprocess.Popen([sys.executable, str(script), str(workspace.path), spec])
    deadline = time.monotonic() + 120
    while not list(folder.glob("shard-*.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    children = child_processes(running.pid)
    running.send_signal(signal.SIGKILL)
    running.wait()
    finished = len([path for path in folder.glob("shard-*.npy") if path.with_suffix(".json").exists()])
    assert finished == 1, "the run was to be killed in the middle"
    with pytest.raises(LikewiseError, match="not complete yet"):
        read_vectors(workspace, "dinov2", [])
    [done] = encode_catalog(workspace, [spec], workers=1, shard_rows=SHARD)
    assert done.new_images == PICTURES - SHARD * finished
    assert files(folder) == files(twin.vectors_folder / "dinov2")
    wait_until_gone(children)


def strange_pictures(folder: Path) -> None:
    """Everything that turns up in a real folder, under names that end in png so that the catalog takes them."""
    base = random_picture(0, 300, 200)
    base.convert("CMYK").save(folder / "cmyk.png", "JPEG")
    Image.fromarray(np.arange(300 * 200, dtype=np.uint16).reshape(200, 300)).save(folder / "sixteen.png", "PNG")
    base.quantize(16).save(folder / "palette.png", "PNG")
    base.save(folder / "animated.png", "GIF", save_all=True, append_images=[random_picture(1, 300, 200)])
    Image.new("RGB", (20_000, 40), "red").save(folder / "long.png", "PNG")
    Image.new("L", (20_000, 4_000), 128).save(folder / "large.png", "JPEG", quality=10)
    whole = (folder / "cmyk.png").read_bytes()
    (folder / "truncated.png").write_bytes(whole[: len(whole) // 2])
    (folder / "corrupt.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"rubbish" * 50)
    (folder / "empty.png").write_bytes(b"")


@pytest.mark.parametrize("spec", ["colour", "hf"])
def test_strange_pictures_are_read_and_broken_ones_listed(tmp_path: Path, tiny: Tiny, spec: str) -> None:
    workspace = make_workspace(tmp_path, 3)
    strange_pictures(workspace.root)
    write_catalog(workspace)
    spec = f"hf:{tiny('vit')}" if spec == "hf" else spec
    [done] = encode_catalog(workspace, [spec], workers=2)
    left_out = left_out_images(workspace, spec)
    assert [each.image for each in left_out] == ["corrupt.png", "empty.png", "truncated.png"]
    assert all(each.why for each in left_out)
    assert (done.images, done.left_out) == (9, 3)
    kept = [image for image in images_of(workspace) if image not in {each.image for each in left_out}]
    vectors = read_vectors(workspace, spec, kept)
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-5)


def with_boxes(workspace: WorkspaceFolder, boxes: dict[str, list[float] | None]) -> None:
    catalog = pl.read_parquet(workspace.catalog_file)
    rows: list[list[float] | list[None]] = [boxes.get(image) or [None] * 4 for image in catalog["image"]]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("x1", "y1", "x2", "y2"))}
    write_parquet(
        catalog.with_columns(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64))), workspace.catalog_file
    )


def test_the_catalogs_box_is_what_the_encoder_sees(workspace: WorkspaceFolder, tiny: Tiny) -> None:
    scene = random_picture(3, 1600, 1200)
    thing = random_picture(4, 400, 300)
    scene.paste(thing, (800, 600))
    scene.save(workspace.root / "0000.png", "JPEG", quality=95)  # decoded at a fraction of its size
    thing.save(workspace.root / "0001.png")
    catalog = pl.read_parquet(workspace.catalog_file).head(3)
    size = {"width": pl.Series([1600, 400, 40], dtype=pl.Int64), "height": pl.Series([1200, 300, 30], dtype=pl.Int64)}
    write_parquet(catalog.with_columns(**size), workspace.catalog_file)
    spec = f"hf:{tiny('vit')}?runtime=torch"  # else whichever is faster just now, equal but for the last bits
    with pytest.raises(LikewiseError, match="box=1 needs boxes in the catalog: columns x1, y1, x2, y2"):
        encode_catalog(workspace, [f"{spec}&box=1"], workers=1)
    with_boxes(workspace, {"0000.png": [800, 600, 1200, 900]})
    for boxed, plain in ((f"{spec}&box=1", spec), ("colour?box=1", "colour")):
        encode_catalog(workspace, [boxed, plain], workers=1)
        cut, whole = read_vectors(workspace, boxed, ["0000.png", "0001.png"])
        assert cut @ whole > 0.99
        assert cut @ whole > read_vectors(workspace, plain, ["0000.png"])[0] @ whole + 0.003
        same = [read_vectors(workspace, name, ["0001.png"]).tobytes() for name in (boxed, plain)]
        assert same[0] == same[1], "without a box the whole picture"


def test_a_box_that_cannot_be_is_an_error_and_one_outside_leaves_its_image_out(workspace: WorkspaceFolder) -> None:
    with_boxes(workspace, {"0002.png": [5, 5, 5, 9]})
    with pytest.raises(LikewiseError, match=r"the catalog's box of 0002.png is empty \(5, 5, 5, 9\)"):
        encode_catalog(workspace, ["layout?box=1"], workers=1)
    with_boxes(workspace, {"0002.png": [50, 50, 60, 60]})
    encode_catalog(workspace, ["layout?box=1"], workers=1)
    [left_out] = left_out_images(workspace, "layout_box")
    assert (left_out.image, "lies outside the picture" in left_out.why) == ("0002.png", True)


def test_boxes_in_one_column_are_read_as_list_text_or_struct(workspace: WorkspaceFolder) -> None:
    from likewise.encoders.running.boxes import catalog_boxes

    catalog = pl.read_parquet(workspace.catalog_file).head(2)
    for column in (
        pl.Series("bbox", [[1, 2, 3, 4], None]),
        pl.Series("bbox", ["[1, 2, 3, 4]", None]),
        pl.Series("bbox", [{"x1": 1, "y1": 2, "x2": 3, "y2": 4}, None]),
    ):
        assert catalog_boxes(catalog.with_columns(column)) == [(1, 2, 3, 4, 40), None]
    with pytest.raises(LikewiseError, match="not x1, y1, x2, y2"):
        catalog_boxes(catalog.with_columns(pl.Series("bbox", [[1, 2, 3], None])))


def test_the_base_install_answers_with_the_command_that_adds_torch(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, 2)
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None; from likewise.cli import main; "
        f"sys.argv = ['likewise', 'encode', {str(workspace.path)!r}, '--workers', '1', '--with', sys.argv[1]]; main()"
    )
    for spec, library in (("efficientnet-lite0?pooling=stages", "torch"), ("hf:facebook/dinov2-base", "transformers")):
        environment = os.environ | {"LIKEWISE_CACHE": str(tmp_path / "empty")}
        ran = subprocess.run(
            [sys.executable, "-c", code, spec], capture_output=True, text=True, env=environment, check=False
        )
        assert ran.returncode == 2
        assert f"needs {library}, which is not installed: run `pip install 'likewise[torch]'`." in ran.stderr
        assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", SIZES)
def test_every_stage_of_an_efficientnet_is_read(name: str) -> None:
    """Its last block and no other, and as many numbers come out as the encoder says."""
    torch = pytest.importorskip("torch")
    encoder = get_encoder(f"{name}?pooling=stages&size=64")
    assert isinstance(encoder, Network) and encoder.model.load is not None
    module: Any = encoder.model.load()
    stages = STAGES[name]
    widths = [block._project_conv.out_channels for block in module.network._blocks]
    assert widths == [width for width, n in zip(stages.widths, stages.blocks, strict=True) for _ in range(n)]
    last = [number for number, pair in enumerate(pairwise([*widths, 0])) if pair[0] != pair[1]]
    assert list(stages.of_last_block) == last[1:]
    with torch.inference_mode():
        assert module(torch.zeros(2, 3, 64, 64)).shape == (2, encoder.dim)
