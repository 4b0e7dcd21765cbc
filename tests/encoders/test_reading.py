"""Damaged or missing vectors are errors with a sentence each, never wrong numbers."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.encoders import common_images, encode_catalog, encoded_images, read_vectors
from likewise.encoders.storage.reading import vectors_parts
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet

from .helpers import images_of, make_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    workspace = make_workspace(tmp_path, 10)
    encode_catalog(workspace, ["layout"], workers=1, shard_rows=4)
    return workspace


@pytest.fixture
def shard(workspace: WorkspaceFolder) -> Path:
    return workspace.vectors_folder / "layout" / "shard-00001.npy"


def refused(workspace: WorkspaceFolder, match: str) -> None:
    with pytest.raises(LikewiseError, match=match) as caught:
        read_vectors(workspace, "layout", images_of(workspace))
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_no_vectors_yet_names_the_command(workspace: WorkspaceFolder) -> None:
    with pytest.raises(LikewiseError, match=r"no colour vectors in .* yet \(there are layout\): run .* --with colour"):
        read_vectors(workspace, "colour", ["0000.png"])


def test_an_incomplete_run_is_not_read(workspace: WorkspaceFolder) -> None:
    path = workspace.vectors_folder / "layout" / "meta.json"
    write_json(read_json(path) | {"complete": False}, path)
    refused(workspace, "is not complete yet: run `likewise encode .* --with layout`")


def test_a_truncated_shard_is_refused_and_the_others_are_still_read(workspace: WorkspaceFolder, shard: Path) -> None:
    shard.write_bytes(shard.read_bytes()[:-8])
    refused(workspace, "shard-00001.npy is missing or damaged: .*--force")
    assert len(read_vectors(workspace, "layout", ["0000.png", "0009.png"])) == 2


def test_a_shard_that_is_no_npy_file_is_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    shard.write_bytes(b"\0" * 5000)
    refused(workspace, "shard-00001.npy is missing or damaged")


def test_an_empty_shard_file_is_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    shard.write_bytes(b"")
    refused(workspace, "shard-00001.npy is missing or damaged")


def test_a_missing_shard_is_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    shard.unlink()
    refused(workspace, "shard-00001.npy is missing or damaged")


def test_a_shard_with_too_few_rows_is_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    np.save(shard, np.load(shard)[:3])
    refused(workspace, r"float32 \(3, \d+\) instead of float32 \(4, \d+\)")


def forget_checksums(workspace: WorkspaceFolder) -> None:
    """As earlier versions wrote the description."""
    path = workspace.vectors_folder / "layout" / "meta.json"
    write_json({key: value for key, value in read_json(path).items() if key != "shards"}, path)


def test_a_value_that_is_no_number_is_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    forget_checksums(workspace)
    vectors = np.load(shard)
    vectors[2, 5] = np.nan
    np.save(shard, vectors)
    refused(workspace, r"not a number \(row 2, 0006.png\)")


def test_damaged_meta_and_rows_are_refused(workspace: WorkspaceFolder, shard: Path) -> None:
    rows, meta = shard.with_name("rows.parquet"), shard.with_name("meta.json")
    rows.write_bytes(b"PAR1")
    refused(workspace, "rows.parquet cannot be read")
    meta.write_text('{"encoder": "layout"}')
    refused(workspace, "meta.json does not describe vectors")


def test_rows_that_were_given_to_other_images_are_refused_and_named_by_status(
    workspace: WorkspaceFolder, shard: Path
) -> None:
    path = shard.with_name("rows.parquet")
    rows = pl.read_parquet(path)
    write_parquet(rows.with_columns(pl.col("shard", "row").reverse()), path)
    refused(workspace, "another rows.parquet than was written with its vectors")
    [part] = [part for part in vectors_parts(workspace) if part.name == "vectors/layout"]
    assert part.state == "unfinished" and part.command.endswith("--with layout --force")
    write_parquet(rows, path)
    assert all(part.state == "current" for part in vectors_parts(workspace))


def test_missing_images_are_counted_and_three_are_named(workspace: WorkspaceFolder) -> None:
    wanted = ["0000.png", "a.png", "b.png", "c.png", "d.png"]
    with pytest.raises(LikewiseError, match=r"4 of 5 images .*\(first: a.png, b.png, c.png\)"):
        read_vectors(workspace, "layout", wanted)


def test_common_images_are_those_all_encoders_have_in_the_given_order(workspace: WorkspaceFolder) -> None:
    (workspace.root / "0002.png").write_bytes(b"broken")
    encode_catalog(workspace, ["colour"], workers=1)
    assert encoded_images(workspace, "layout") == images_of(workspace)
    assert "0002.png" not in encoded_images(workspace, "colour")
    assert common_images(workspace, ["layout", "colour"], ["0009.png", "0002.png", "0001.png", "x.png"]) == [
        "0009.png",
        "0001.png",
    ]


def test_a_name_cannot_lead_out_of_the_workspace(workspace: WorkspaceFolder) -> None:
    with pytest.raises(LikewiseError, match="cannot name an encoder's vectors"):
        read_vectors(workspace, "../layout", [])


def test_one_changed_number_is_noticed(workspace: WorkspaceFolder, shard: Path) -> None:
    """Shape and type fit, every value is a number: only the checksum tells."""
    vectors = np.load(shard)
    vectors[2, 0] += 0.25
    np.save(shard, vectors)
    refused(workspace, "shard-00001.npy is damaged")
    (part,) = vectors_parts(workspace)
    assert (part.state, part.why) == ("unfinished", "is damaged or incomplete (shard-00001.npy)")
    assert part.command.endswith("--with layout --force")


def test_a_shard_that_is_gone_is_named_before_anything_reads_it(workspace: WorkspaceFolder, shard: Path) -> None:
    assert [part.state for part in vectors_parts(workspace)] == ["current"]
    shard.touch()  # newer than its summary, with the same content
    assert [part.state for part in vectors_parts(workspace)] == ["current"]
    shard.unlink()
    assert [part.state for part in vectors_parts(workspace)] == ["unfinished"]


def test_another_file_with_an_older_date_is_named_too(workspace: WorkspaceFolder, shard: Path) -> None:
    before = shard.stat()
    read_vectors(workspace, "layout", images_of(workspace))  # its checksum was right a moment ago
    other = shard.with_name("from elsewhere.npy")
    np.save(other, np.load(shard)[::-1])
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(shard)
    assert [part.state for part in vectors_parts(workspace)] == ["unfinished"]
    refused(workspace, "shard-00001.npy is damaged")


def test_vectors_of_earlier_versions_without_checksums_are_read(workspace: WorkspaceFolder) -> None:
    forget_checksums(workspace)
    assert len(read_vectors(workspace, "layout", images_of(workspace))) == 10
