"""A catalog that lives: what is still there stays labelled, what is gone comes back as it was."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from typer.testing import CliRunner

from likewise.api.workspace import Workspace
from likewise.catalog import read_catalog
from likewise.catalog.versions import read_history, read_versions
from likewise.cli.app import app
from likewise.discovery.step import read_pool
from likewise.encoders import read_vectors
from likewise.errors import LikewiseError
from likewise.labeling.state import read_stored_votes
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder, read_json, write_json
from tests.conftest import draw_shape
from tests.update.conftest import change_photos, save_shape, vote


def votes_of(workspace: WorkspaceFolder) -> pl.DataFrame:
    votes = read_stored_votes(workspace)
    assert votes is not None
    return votes


def test_changes_are_found_by_content(shop: Path) -> None:
    change_photos(shop / "photos")
    done = Workspace(shop / "shoes").update(dry_run=True).update
    assert done.changes.added == ("circle/gold-0.png", "square/gold-1.png")
    assert done.changes.removed == ("circle/red-0.png", "square/blue-1.png", "triangle/green-0.png")
    assert done.changes.renamed == (("circle/blue-0.png", "circle/azure.png"), ("square/red-0.png", "attic/square.png"))
    assert done.changes.changed == ("triangle/red-1.png",)
    assert not done.written


def test_a_moved_picture_that_takes_another_category_is_named(shop: Path) -> None:
    """Its folder is its category: the move changes what the picture is, and the summary says so before."""
    change_photos(shop / "photos")
    done = Workspace(shop / "shoes").update(dry_run=True).update
    assert done.other_category == (("attic/square.png", "square", "attic"),)
    assert done.to_dict()["other_category"] == (("attic/square.png", "square", "attic"),)
    told = " ".join(CliRunner().invoke(app, ["update", str(shop / "shoes")]).output.split())
    assert "1 of those renamed or moved with another category now: attic/square.png (square -> attic)" in told
    catalog = read_catalog(WorkspaceFolder(shop / "shoes"))
    assert catalog.filter(pl.col("image") == "attic/square.png")["category"].to_list() == ["attic"]


def test_a_dry_run_writes_nothing(shop: Path) -> None:
    before = {path: path.read_bytes() for path in (shop / "shoes").rglob("*") if path.is_file()}
    change_photos(shop / "photos")
    Workspace(shop / "shoes").update(dry_run=True)
    assert {path: path.read_bytes() for path in (shop / "shoes").rglob("*") if path.is_file()} == before


def test_votes_and_vectors_stay_with_their_pictures(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    before, moved = (
        votes_of(workspace),
        {"circle/blue-0.png": "circle/azure.png", "square/red-0.png": "attic/square.png"},
    )
    vectors = read_vectors(workspace, "shape", list(moved))
    change_photos(shop / "photos")
    workspace.update()
    encoded = {row["encoder"]: row for row in workspace.encode("colour", "shape").table.iter_rows(named=True)}
    assert encoded["shape"]["images"] == 35
    assert np.array_equal(read_vectors(workspace, "shape", list(moved.values())), vectors)
    gone = ["circle/red-0.png", "square/blue-1.png", "triangle/green-0.png", "triangle/red-1.png"]
    expected = before.filter(~pl.col("query").is_in(gone) & ~pl.col("candidate").is_in(gone)).with_columns(
        pl.col("query", "candidate").replace(moved)
    )
    key = ["query", "candidate", "expert"]
    assert votes_of(workspace).sort(key).equals(expected.sort(key))
    assert len(before) > len(expected) > 0.6 * len(before)
    assert "35 images" in workspace.catalog().title


def test_what_comes_back_finds_its_votes_and_vectors_again(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    before, pool = votes_of(workspace), pl.read_parquet(workspace.pool_file)
    away = (shop / "photos" / "circle/red-0.png").rename(shop / "away.png")
    workspace.update()
    assert len(votes_of(workspace)) < len(before)
    draw_shape("square", "white", 1).save(shop / "photos" / "circle/red-0.png")  # another picture under its name
    workspace.update()
    assert not votes_of(workspace).filter(pl.col("query") == "circle/red-0.png").height
    away.rename(shop / "photos" / "circle/back.png")
    assert workspace.update().update.changes.returned == ("circle/back.png",)
    renamed = before.with_columns(pl.col("query", "candidate").replace({"circle/red-0.png": "circle/back.png"}))
    key = ["query", "candidate", "expert"]
    assert votes_of(workspace).sort(key).equals(renamed.sort(key))
    assert len(pl.read_parquet(workspace.pool_file)) == len(pool)


def test_a_table_stays_the_source_and_the_root_of_its_pictures_is_remembered(shop: Path) -> None:
    def run(*words: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in words])
        return " ".join([*done.output.split(), str(done.exception or "")])

    photos, table = shop / "photos", shop / "lists" / "spring.csv"
    rows = pl.DataFrame({"image": sorted(p.relative_to(photos).as_posix() for p in photos.rglob("*.png"))})
    rows = rows.with_columns(item=pl.col("image").str.slice(0, 8), price=pl.int_range(pl.len()))
    table.parent.mkdir()
    rows.write_csv(table)
    workspace = Workspace(shop / "listed")
    workspace.new(table, root=photos)
    (photos / rows["image"][0]).unlink()
    assert workspace.status().status.next == f"likewise update {workspace.path} {table}"
    with pytest.raises(LikewiseError, match=f"made from a table, and {photos} is a folder"):
        workspace.update(photos)  # which would lose items and prices
    rows[1:].write_csv(table.with_name("summer.csv"))
    summer = table.with_name("summer.csv")
    planned = run("update", workspace.path, summer, "--name", "summer", "--dry-run").replace(" ", "")
    assert (
        f"nothing was written (--dry-run) next: likewise update {workspace.path} {summer} --name summer".replace(
            " ", ""
        )
        in planned
    )
    assert workspace.update(summer).update.changes.counts()["removed"] == 1
    assert workspace.status().status.missing_pictures == 0


def test_names_that_change_places_take_their_votes_along(shop: Path) -> None:
    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    before = votes_of(workspace)
    first, second = photos / "circle/red-0.png", photos / "square/red-0.png"
    first.rename(photos / "between.png")
    second.rename(first)
    (photos / "between.png").rename(second)
    assert len(workspace.update().update.changes.renamed) == 2
    swapped = {"circle/red-0.png": "square/red-0.png", "square/red-0.png": "circle/red-0.png"}
    renamed = before.with_columns(pl.col("query", "candidate").replace(swapped))
    key = ["query", "candidate", "expert"]
    assert votes_of(workspace).sort(key).equals(renamed.sort(key))


def test_rows_know_when_they_came_and_went(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    change_photos(shop / "photos")
    workspace.update(name="autumn")
    rows = {(row["image"], row["came"]): row["went"] for row in read_history(workspace).iter_rows(named=True)}
    assert rows["circle/gold-0.png", 2] is None
    assert rows["circle/red-0.png", 1] == 2
    assert (rows["circle/blue-0.png", 1], rows["circle/azure.png", 2]) == (2, None)
    assert (rows["triangle/red-1.png", 1], rows["triangle/red-1.png", 2]) == (2, None)
    then = read_catalog(WorkspaceFolder(workspace.path, as_of=1))["image"].to_list()
    assert len(then) == 36
    assert "circle/red-0.png" in then


def test_a_changed_picture_brings_no_label_to_the_one_before_it(shop: Path) -> None:
    """Later pictures may have names of then: their votes and pool rows are not those of the pictures of then."""
    workspace = Workspace(shop / "shoes")
    before, pool = workspace.labels().table, pl.read_parquet(workspace.pool_file)
    draw_shape("square", "white", 1).save(shop / "photos" / "triangle/red-1.png")
    workspace.update()
    workspace.encode("colour", "shape")
    done = CliRunner().invoke(app, ["discover", str(workspace.path), "--json"], catch_exceptions=False)
    assert vote(workspace) == json.loads(done.output)["new_pairs"] > 0  # what it says is what is asked
    of_picture = (pl.col("query") == "triangle/red-1.png") | (pl.col("candidate") == "triangle/red-1.png")
    pair = ["query", "candidate"]
    assert workspace.labels().table.filter(of_picture).height > 0
    then = WorkspaceFolder(workspace.path, as_of=1)
    for found, known in ((current_labels(then), before), (read_pool(then).rows, pool)):
        ours, theirs = (table.filter(of_picture).select(pair).unique().sort(pair) for table in (found, known))
        assert ours.equals(theirs) and len(ours) > 0


def test_attributes_that_changed_are_a_version_of_their_own(workspace: WorkspaceFolder, shapes_table: Path) -> None:
    shapes_table.write_text(shapes_table.read_text().replace("square-red,square,wild", "square-red,square,studio"))
    done = Workspace(workspace.path).update(shapes_table).update
    assert done.changes.attributes == ("square/red-1.png",)
    assert read_catalog(workspace).filter(image="square/red-1.png")["domain"].item() == "studio"
    assert (
        read_catalog(WorkspaceFolder(workspace.path, as_of=1)).filter(image="square/red-1.png")["domain"].item()
        == "wild"
    )


def test_a_source_that_lacks_most_images_is_refused(shop: Path) -> None:
    save_shape(shop / "new", "circle", "gold", 0)
    with pytest.raises(LikewiseError, match=r"36 of 36 images are not in .*--accept-removals"):
        Workspace(shop / "shoes").update(shop / "new")


def test_imported_vectors_grow_by_a_file_with_the_new_images(shop: Path) -> None:
    from likewise.encoders.storage.importing import import_vectors

    workspace = Workspace(shop / "shoes")
    everything = shop / "mine.npz"
    images = read_catalog(workspace)["image"].to_list()
    np.savez(everything, images=np.array(images), vectors=read_vectors(workspace, "shape", images))
    import_vectors(workspace, "mine", everything)
    change_photos(shop / "photos")
    workspace.update()
    part = workspace.status().status.part("vectors/mine")
    assert part.state == "stale"
    assert part.command == f"likewise encode {workspace.path} --import FILE --name mine"
    images = read_catalog(workspace)["image"].to_list()
    workspace.encode("shape")
    vectors = read_vectors(workspace, "shape", images)
    np.savez(shop / "next.npz", images=np.array(images), vectors=vectors)
    assert import_vectors(workspace, "mine", shop / "next.npz").new_images == 3
    assert np.array_equal(read_vectors(workspace, "mine", images), vectors)
    save_shape(shop / "photos", "circle", "silver", 1)
    workspace.update()
    images = read_catalog(workspace)["image"].to_list()
    np.savez(shop / "other.npz", images=np.array(images), vectors=np.eye(len(images), vectors.shape[1]))
    with pytest.raises(LikewiseError, match=r"another vector of .* than the one stored as mine"):
        import_vectors(workspace, "mine", shop / "other.npz")


def test_status_notices_photos_that_are_gone_or_new(shop: Path) -> None:
    change_photos(shop / "photos")
    found = Workspace(shop / "shoes").status().status
    assert (found.missing_pictures, found.new_pictures) == (5, 4)
    assert found.next.startswith("likewise update")


def test_status_notices_a_photo_that_was_edited_and_not_one_that_was_only_stored_again(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    first, second, third = read_catalog(workspace)["image"].to_list()[:3]
    with Image.open(shop / "photos" / first) as picture:
        edited = ImageOps.mirror(ImageOps.invert(picture.convert("RGB")))
    edited.save(shop / "photos" / first)
    (shop / "photos" / second).touch()
    with Image.open(shop / "photos" / third) as picture:
        caption = PngInfo()
        caption.add_text("caption", "only metadata")
        picture.save(shop / "photos" / third, pnginfo=caption)
    found = workspace.status().status
    assert (found.missing_pictures, found.new_pictures, found.edited_pictures) == (0, 0, 1)
    assert found.next.startswith("likewise update")
    workspace.update()
    found = workspace.status().status
    assert found.edited_pictures == 0
    assert found.next.startswith("likewise encode")


def test_status_notices_a_photo_in_whose_place_an_older_one_was_put(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    first = read_catalog(workspace)["image"].to_list()[0]
    other = shop / "other.png"
    with Image.open(shop / "photos" / first) as picture:
        ImageOps.mirror(ImageOps.invert(picture.convert("RGB"))).save(other)
    os.utime(other, (0, 0))
    other.replace(shop / "photos" / first)
    assert workspace.status().status.edited_pictures == 1


def test_status_notices_an_edit_while_the_clock_is_behind_the_catalog(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    first = read_catalog(workspace)["image"].to_list()[0]
    file = shop / "photos" / first
    with Image.open(file) as picture:
        edited = ImageOps.mirror(ImageOps.invert(picture.convert("RGB")))
    edited.save(file)
    catalog, ahead = workspace.catalog_file, time.time() + 3600
    os.utime(catalog, (ahead, ahead))  # written an hour from now, by the clock as it was then
    assert workspace.status().status.edited_pictures == 1


def test_a_version_is_never_dated_before_the_one_it_follows(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    settings = read_json(workspace.settings_file)
    settings["versions"] = [{"version": 1, "date": "2999-12-31", "images": settings["images"]}]
    write_json(settings, workspace.settings_file)
    sorted((shop / "photos").rglob("*.png"))[0].unlink()
    workspace.update()
    assert [each.date for each in read_versions(workspace)] == ["2999-12-31", "2999-12-31"]


def test_status_notices_photos_whose_time_of_writing_is_older_than_the_catalog(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    names = [shop / "photos" / image for image in read_catalog(workspace)["image"].to_list()[:4]]
    (shop / "aside").mkdir()
    names[0].rename(shop / "aside" / "first")  # two change places: both keep their time
    names[1].rename(names[0])
    (shop / "aside" / "first").rename(names[1])
    shutil.copy2(names[3], names[2])  # one is a copy of another, with its time
    assert workspace.status().status.edited_pictures == 3
    workspace.update()
    assert workspace.status().status.edited_pictures == 0


def store_again(photos: Path) -> None:
    """Every photo with another pixel in its corner: to a catalog that is another picture under the same name."""
    for path in photos.rglob("*.png"):
        with Image.open(path) as picture:
            picture.load()
        picture.putpixel((0, 0), (1, 2, 3))
        picture.save(path)


def test_where_every_picture_changed_status_still_says_what_comes_next(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    store_again(shop / "photos")
    workspace.update(accept_removals=True)
    found = workspace.status().status
    assert found.part("pool").why == "none of its queries is in the catalog any more"
    assert found.part("labels").state == "stale"  # its votes are put aside
    assert found.next.startswith("likewise encode")
    workspace.encode("colour", "shape")
    assert workspace.status().status.next == f"likewise discover {workspace.path}"
    with pytest.raises(LikewiseError, match="likewise discover"):
        workspace.evaluate()


KILLED = """
import os, sys
from likewise.api.workspace import Workspace

left = int(sys.argv[2])

def counted(call):
    def stop_at_the_last(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return call(*arguments, **options)
    return stop_at_the_last

for name in ("replace", "fsync", "rename", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
Workspace(sys.argv[1]).update()
"""


def state(workspace: Workspace) -> tuple[object, ...]:
    """Everything that an update may change, as a reader sees it."""
    key = ["query", "candidate", "expert"]
    return (
        read_catalog(workspace).write_json(),
        votes_of(workspace).drop("time").sort(key).write_json(),
        workspace.labels().table.write_json(),
        pl.read_parquet(workspace.pool_file).write_json(),
        json.loads(workspace.pool_settings_file.read_text()),
        pl.read_parquet(workspace.problems_file).write_json(),
    )


@pytest.mark.slow
def test_a_kill_at_any_write_leaves_the_old_catalog_or_the_new_one(shop: Path, tmp_path: Path) -> None:
    change_photos(shop / "photos")
    old = state(Workspace(shop / "shoes"))
    shutil.copytree(shop / "shoes", tmp_path / "whole")
    Workspace(tmp_path / "whole").update()
    new = state(Workspace(tmp_path / "whole"))
    assert old != new
    seen = []
    for stop in range(200):
        trial = Workspace(tmp_path / f"trial-{stop}")
        shutil.copytree(shop / "shoes", trial.path)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(trial.path), str(stop)], check=False, capture_output=True
        )
        assert done.returncode in (0, 9), done.stderr.decode()
        seen.append(state(trial))
        assert seen[-1] in (old, new), f"stopped at write {stop}"
        if seen[-1] == old:
            trial.update()
            assert state(trial) == new, f"stopped at write {stop}, then again"
        shutil.rmtree(trial.path)
        if done.returncode == 0:
            break
    assert seen.count(old) > 5
    assert seen.count(new) > 2
