"""Encoding a catalog: the same bytes whatever happens on the way, and nothing done twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.catalog.images import load_image
from likewise.encoders import BUILT_IN, encode_catalog, get_encoder, read_vectors
from likewise.encoders.running import pipeline
from likewise.encoders.running.chunk import Chunk, PreparedChunk, encode_chunk
from likewise.encoders.storage.files import EncodedChunk, digest_of_places
from likewise.errors import LikewiseError
from likewise.lineage.files import lineage_file, record_digest
from likewise.workspace import WorkspaceFolder, read_json, write_json

from .helpers import files, images_of, make_workspace, random_picture, write_catalog

PICTURES = 30
SHARD = 5


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return make_workspace(tmp_path, PICTURES)


def encode(workspace: WorkspaceFolder, *specs: str, workers: int = 1, force: bool = False) -> dict[str, int]:
    """How many images each encoder went through in this run."""
    done = encode_catalog(workspace, specs, workers=workers, shard_rows=SHARD, force=force)
    return {each.encoder: each.new_images for each in done}


def test_what_was_encoded_is_read_back_in_any_order(workspace: WorkspaceFolder) -> None:
    assert encode(workspace, *BUILT_IN) == dict.fromkeys(BUILT_IN, PICTURES)
    wanted = [images_of(workspace)[number] for number in (29, 0, 17, 17, 8)]
    for name in BUILT_IN:
        encoder = get_encoder(name)
        expected = encoder.encode([encoder.prepare(load_image(workspace.root / image)) for image in wanted])
        assert read_vectors(workspace, name, wanted).tobytes() == expected.tobytes()
    assert workspace.encoders() == sorted(BUILT_IN)
    assert read_vectors(workspace, "colour", []).shape == (0, get_encoder("colour").dim)


def test_shards_are_joined_by_their_number_not_by_their_name(
    workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond 99,999 shards the names are longer, and shard 100,000 would stand before 10,001."""

    def short_name(folder: Path, shard: int) -> Path:
        return folder / f"shard-{shard}.json"

    monkeypatch.setattr("likewise.encoders.storage.writing.shard_rows_file", short_name)
    encode_catalog(workspace, ["colour"], workers=1, shard_rows=2)
    image = images_of(workspace)[21]  # of shard 10
    encoder = get_encoder("colour")
    expected = encoder.encode([encoder.prepare(load_image(workspace.root / image))])
    assert read_vectors(workspace, "colour", [image]).tobytes() == expected.tobytes()


def test_only_shards_rows_meta_and_lineage_remain(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout")
    shards = [f"shard-{number:05d}.npy" for number in range(6)]
    folder = workspace.vectors_folder / "layout"
    assert sorted(path.name for path in folder.iterdir()) == ["lineage.parquet", "meta.json", "rows.parquet", *shards]
    assert read_json(folder / "meta.json") == {
        "encoder": "layout",
        "version": get_encoder("layout").version,
        "dim": get_encoder("layout").dim,
        "rows": PICTURES,
        "lineage": record_digest(lineage_file(folder)),
        "shard_rows": SHARD,
        "complete": True,
        "left_out": [],
        "digest": read_json(folder / "meta.json")["digest"],
        "shards": read_json(folder / "meta.json")["shards"],
        "places": digest_of_places(pl.read_parquet(folder / "rows.parquet")),
    }


def test_any_number_of_workers_writes_the_same_bytes(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    twin = make_workspace(tmp_path / "twin", PICTURES)
    encode(workspace, "blend", "layout", workers=1)
    environment = dict(os.environ)
    encode(twin, "layout", "blend", workers=2)
    assert dict(os.environ) == environment
    for name in ("blend", "layout"):
        assert files(workspace.vectors_folder / name) == files(twin.vectors_folder / name)


def test_a_combination_is_the_same_alone_and_beside_its_parts(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    encode(workspace, "blend")
    twin = make_workspace(tmp_path / "twin", PICTURES)
    encode(twin, "blend", "shape", "colour", "layout", "texture")
    assert files(workspace.vectors_folder / "blend") == files(twin.vectors_folder / "blend")
    alone = make_workspace(tmp_path / "alone", PICTURES)
    encode(alone, "shape")
    assert files(alone.vectors_folder / "shape") == files(twin.vectors_folder / "shape")


def test_a_second_run_does_nothing(workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    encode(workspace, "layout")
    before = {path: path.stat().st_mtime_ns for path in (workspace.vectors_folder / "layout").iterdir()}
    monkeypatch.setattr(pipeline, "encode_chunk", None)  # would fail when called
    assert encode(workspace, "layout", "layout") == {"layout": 0}
    assert {path: path.stat().st_mtime_ns for path in (workspace.vectors_folder / "layout").iterdir()} == before


HALF_A_RUN = """
import sys, time
from pathlib import Path
from likewise.encoders import encode_catalog
from likewise.workspace import WorkspaceFolder

if __name__ == "__main__":
    def wait_to_be_killed(stage, done, total):
        if done >= 15:  # with two shards written and a third at hand
            time.sleep(600)
    workspace, workers = WorkspaceFolder(Path(sys.argv[1])), int(sys.argv[2])
    encode_catalog(workspace, ["layout"], workers=workers, shard_rows=5, on_progress=wait_to_be_killed)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_is_continued_and_leaves_no_trace(
    workspace: WorkspaceFolder, tmp_path: Path, workers: int
) -> None:
    script = tmp_path / "run.py"
    script.write_text(HALF_A_RUN)
    folder = workspace.vectors_folder / "layout"
    running = subprocess.Popen([sys.executable, str(script), str(workspace.path), str(workers)])
    deadline = time.monotonic() + 120
    while len(list(folder.glob("shard-*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    children = child_processes(running.pid)
    running.send_signal(signal.SIGKILL)
    running.wait()
    finished = {path: path.stat() for path in folder.glob("shard-*.npy") if path.with_suffix(".json").exists()}
    assert len(finished) == 2, "the run was to be killed in the middle"
    assert len(children) >= workers - 1
    (folder / ".shard-00005.npy.99.likewise.tmp").write_bytes(b"half a shard")  # what a kill inside a write leaves
    with pytest.raises(LikewiseError, match=r"not complete yet: run `likewise encode .* --with layout`"):
        read_vectors(workspace, "layout", [])

    assert encode(workspace, "layout") == {"layout": PICTURES - SHARD * len(finished)}
    for path, before in finished.items():
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    twin = make_workspace(tmp_path / "twin", PICTURES)
    encode(twin, "layout")
    assert files(folder) == files(twin.vectors_folder / "layout")
    wait_until_gone(children)


def child_processes(pid: int) -> list[int]:
    task = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in task.read_text().split()] if task.exists() else []


def wait_until_gone(pids: list[int]) -> None:
    """Workers end with their parent instead of waiting forever."""
    deadline = time.monotonic() + 120  # to give up, not to be quick
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False


def test_a_damaged_finished_shard_is_made_again_when_continuing(
    workspace: WorkspaceFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(5, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        encode(workspace, "layout")
    monkeypatch.undo()
    folder = workspace.vectors_folder / "layout"
    shard = folder / "shard-00001.npy"
    shard.write_bytes(shard.read_bytes()[:-100])
    assert encode(workspace, "layout") == {"layout": PICTURES - 4 * SHARD}
    twin = make_workspace(tmp_path / "twin", PICTURES)
    encode(twin, "layout")
    assert files(folder) == files(twin.vectors_folder / "layout")


def stop_after(n_chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt an in-process run after so many chunks."""
    calls: list[Chunk] = []

    def limited(chunk: Chunk) -> dict[str, EncodedChunk | PreparedChunk]:
        calls.append(chunk)
        if len(calls) > n_chunks:
            raise KeyboardInterrupt
        return encode_chunk(chunk)

    monkeypatch.setattr(pipeline, "encode_chunk", limited)


def test_a_killed_worker_is_reported_in_one_sentence(workspace: WorkspaceFolder) -> None:
    """One picture a shard: after the first, most have not been given to a worker yet."""

    def kill_a_child(stage: str, done: int, total: int) -> None:
        if done:
            for child in child_processes(os.getpid()):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(child, signal.SIGKILL)

    with pytest.raises(LikewiseError, match=r"a worker process ended unexpectedly .* running again continues"):
        encode_catalog(workspace, ["layout", "texture"], workers=2, shard_rows=1, on_progress=kill_a_child)
    encode_catalog(workspace, ["layout"], workers=1, shard_rows=1)
    assert len(read_vectors(workspace, "layout", images_of(workspace))) == PICTURES


def test_a_catalog_that_grew_keeps_its_vectors_and_needs_only_those_of_new_images(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout")
    folder = workspace.vectors_folder / "layout"
    before = {name: content for name, content in files(folder).items() if name.startswith("shard-")}
    random_picture(1000).save(workspace.root / "0000a.png")
    (workspace.root / "0005.png").rename(workspace.root / "moved.png")
    write_catalog(workspace)
    with pytest.raises(LikewiseError, match=r"no vectors of 1 of the catalog's 31 images yet: run .* --with layout`"):
        read_vectors(workspace, "layout", ["0000.png"])
    assert encode(workspace, "layout") == {"layout": 1}
    assert {name: files(folder)[name] for name in before} == before
    there = read_vectors(workspace, "layout", images_of(workspace))
    assert encode(workspace, "layout", force=True) == {"layout": PICTURES + 1}
    assert np.array_equal(there, read_vectors(workspace, "layout", images_of(workspace)))


def test_vectors_of_a_picture_that_became_another_are_made_again(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout")
    [before] = read_vectors(workspace, "layout", ["0003.png"])
    random_picture(1000).save(workspace.root / "0003.png")
    write_catalog(workspace)
    assert encode(workspace, "layout") == {"layout": 1}
    assert not np.array_equal(before, read_vectors(workspace, "layout", ["0003.png"])[0])


def test_vectors_of_another_version_are_neither_read_nor_overwritten(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout")
    path = workspace.vectors_folder / "layout" / "meta.json"
    write_json(read_json(path) | {"version": "layout@0"}, path)
    with pytest.raises(LikewiseError, match="made by layout@0, this is layout@"):
        read_vectors(workspace, "layout", ["0000.png"])
    with pytest.raises(LikewiseError, match=r"meta.json is of another version of the encoder \(layout@0, now"):
        encode(workspace, "layout")
    assert encode(workspace, "layout", force=True) == {"layout": PICTURES}
    read_vectors(workspace, "layout", ["0000.png"])


def test_an_unreadable_picture_is_left_out_and_reported(workspace: WorkspaceFolder) -> None:
    (workspace.root / "0003.png").write_bytes(b"not a picture")
    (workspace.root / "0009.png").unlink()
    whole = (workspace.root / "0010.png").read_bytes()
    (workspace.root / "0010.png").write_bytes(whole[: len(whole) // 2])
    [done] = encode_catalog(workspace, ["layout"], workers=2, shard_rows=SHARD)
    assert (done.images, done.left_out) == (PICTURES - 3, 3)
    meta = read_json(workspace.vectors_folder / "layout" / "meta.json")
    assert [each["image"] for each in meta["left_out"]] == ["0003.png", "0009.png", "0010.png"]
    assert all(each["why"] and str(workspace.root) not in each["why"] for each in meta["left_out"])
    others = [image for image in images_of(workspace) if image not in ("0003.png", "0010.png")]
    assert np.isfinite(read_vectors(workspace, "layout", others)).all()
    with pytest.raises(LikewiseError, match=r"2 of 3 images have no layout vector \(first: 0003.png, 0009.png\)"):
        read_vectors(workspace, "layout", ["0003.png", "0009.png", "0000.png"])


def test_a_picture_that_was_mended_is_tried_again(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    away = {name: (workspace.root / name).read_bytes() for name in ("0003.png", "0009.png", "0021.png")}
    joined = "layout+colour"
    untouched = tmp_path / "untouched"
    shutil.copytree(workspace.path, untouched / "workspace")
    shutil.copytree(workspace.root, untouched / "pictures")
    encode_catalog(WorkspaceFolder(untouched / "workspace"), [joined], workers=1, shard_rows=SHARD)
    (workspace.root / "0003.png").write_bytes(b"not a picture")
    (workspace.root / "0009.png").unlink()
    (workspace.root / "0021.png").write_bytes(b"")
    [done] = encode_catalog(workspace, [joined], workers=1, shard_rows=SHARD)
    assert done.left_out == 3
    [same] = encode_catalog(workspace, [joined], workers=1, shard_rows=SHARD)
    assert (same.left_out, same.new_images) == (3, 0)  # nothing changed, nothing is done
    (workspace.root / "0003.png").write_bytes(b"another thing, no picture either")
    (workspace.root / "0021.png").write_bytes(away["0021.png"])
    [done] = encode_catalog(workspace, [joined], workers=1, shard_rows=SHARD)
    assert (done.left_out, done.images) == (2, PICTURES - 2)
    for name, content in away.items():
        (workspace.root / name).write_bytes(content)
    [done] = encode_catalog(workspace, [joined], workers=1, shard_rows=SHARD)
    assert (done.left_out, done.images) == (0, PICTURES)
    for encoder in ("layout", "colour", joined):
        whole = read_vectors(WorkspaceFolder(untouched / "workspace"), encoder, images_of(workspace))
        assert np.array_equal(read_vectors(workspace, encoder, images_of(workspace)), whole)


def test_a_catalog_whose_pictures_are_all_gone_is_an_error_that_can_be_mended(workspace: WorkspaceFolder) -> None:
    away = workspace.root.rename(workspace.root.with_name("away"))
    with pytest.raises(LikewiseError, match=r"none of the 30 images .* still where they were"):
        encode(workspace, "layout")
    away.rename(workspace.root)
    assert encode(workspace, "layout") == {"layout": PICTURES}


def test_progress_ends_at_the_total_and_never_goes_back(workspace: WorkspaceFolder) -> None:
    seen: list[tuple[str, int, int]] = []
    encode_catalog(
        workspace, ["layout", "colour"], workers=1, shard_rows=SHARD, on_progress=lambda *step: seen.append(step)
    )
    assert {stage for stage, _, _ in seen} == {"layout, colour"}
    done = [done for _, done, _ in seen]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, PICTURES)
    assert {total for _, _, total in seen} == {PICTURES}


def test_two_runs_at_once_do_not_write_into_each_other(workspace: WorkspaceFolder) -> None:
    def start_another(stage: str, done: int, total: int) -> None:
        with pytest.raises(LikewiseError, match=r"another process is writing vectors into .*layout"):
            encode_catalog(workspace, ["layout"], workers=1)

    encode_catalog(workspace, ["layout"], workers=1, shard_rows=SHARD, on_progress=start_another)


def test_an_unknown_encoder_stops_before_any_work(workspace: WorkspaceFolder) -> None:
    with pytest.raises(LikewiseError, match="did you mean 'layout'"):
        encode_catalog(workspace, ["colour", "layuot"])
    assert workspace.encoders() == []
