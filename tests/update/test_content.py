"""What counts as the same picture: metadata do not, names do not, and older workspaces know theirs again."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from likewise.api.workspace import Workspace
from likewise.catalog.changes import match_contents
from likewise.catalog.versions import read_history
from likewise.errors import LikewiseError
from likewise.labeling.state import read_stored_votes
from tests.conftest import draw_shape
from tests.update.conftest import change_photos, save_shape


def write_caption(path: Path, text: str) -> None:
    info = PngInfo()
    info.add_text("Title", text)
    with Image.open(path) as picture:
        picture.load()
    before = path.read_bytes()
    picture.save(path, pnginfo=info)
    assert path.read_bytes() != before


def make_older(workspace: Workspace) -> None:
    """The catalog as it was written before pictures had digests of their own."""
    pl.read_parquet(workspace.catalog_file).drop("content_digest").write_parquet(workspace.catalog_file)


def n_votes(workspace: Workspace) -> int:
    votes = read_stored_votes(workspace)
    return 0 if votes is None else len(votes)


def test_a_caption_written_into_every_file_changes_nothing(shop: Path) -> None:
    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    before, encoded = n_votes(workspace), workspace.status().status.part("vectors/shape").state
    for path in sorted(photos.rglob("*.png")):
        write_caption(path, f"photo of {path.stem}")
    assert workspace.update().update.changes.nothing
    (photos / "circle/red-0.png").rename(photos / "circle/first.png")
    write_caption(photos / "circle/first.png", "renamed and written into at once")
    assert workspace.update().update.changes.renamed == (("circle/red-0.png", "circle/first.png"),)
    assert (n_votes(workspace), workspace.status().status.part("vectors/shape").state) == (before, encoded)
    away = (photos / "circle/first.png").rename(shop / "away.png")
    workspace.update()
    assert n_votes(workspace) < before
    write_caption(away, "back again")
    away.rename(photos / "circle/back.png")
    assert workspace.update().update.changes.returned == ("circle/back.png",)
    assert n_votes(workspace) == before


def test_an_older_workspace_knows_its_files_again_and_then_its_pictures(shop: Path) -> None:
    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    make_older(workspace)
    assert workspace.update(dry_run=True).update.changes.nothing
    assert read_history(workspace)["content_digest"].null_count() == 36  # a dry run notes nothing
    assert workspace.update().update.changes.nothing
    assert read_history(workspace)["content_digest"].null_count() == 0
    write_caption(photos / "circle/red-0.png", "later")
    assert workspace.update().update.changes.nothing
    make_older(workspace)
    save_shape(photos, "circle", "gold", 0)
    change_photos(photos)
    changes = workspace.update().update.changes
    assert (len(changes.added), len(changes.renamed)) == (2, 2)
    assert (changes.changed, len(changes.removed)) == (("triangle/red-1.png",), 3)


def rows(*lines: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=["image", "digest", "content_digest"], orient="row")


def digests(fresh: pl.DataFrame, history: pl.DataFrame) -> dict[str, str]:
    return dict(match_contents(fresh, history).select("image", "digest").iter_rows())


def test_copies_with_other_metadata_stay_apart() -> None:
    """Two files with one picture: each keeps its digest, whatever is written into it and however it is called."""
    history = rows(("a", "d1", "c"), ("b", "d2", "c"), ("x", "d3", "z")).with_columns(went=pl.lit(None, pl.Int32))
    assert digests(rows(("a", "d8", "c"), ("b", "d9", "c")), history) == {"a": "d1", "b": "d2"}
    assert digests(rows(("a", "d2", "c"), ("b", "d2", "c")), history) == {"a": "d1", "b": "d2"}
    assert digests(rows(("m", "d8", "c"), ("n", "d9", "c")), history) == {"m": "d1", "n": "d2"}
    assert digests(rows(("m", "d2", "c"), ("n", "d9", "c")), history) == {"m": "d2", "n": "d1"}
    assert digests(rows(("a", "d1", "c"), ("b", "d2", "c"), ("n", "d9", "c")), history)["n"] in ("d1", "d2")
    assert digests(rows(("a", "d7", "y")), history) == {"a": "d7"}
    gone = history.with_columns(went=pl.when(pl.col("image") == "a").then(2))
    assert digests(rows(("m", "d9", "c")), gone) == {"m": "d2"}  # what is there now comes before what is gone
    older = history.with_columns(content_digest=pl.lit(None, pl.String))
    assert digests(rows(("a", "d1", "c"), ("n", "d9", "c")), older) == {"a": "d1", "n": "d9"}


def test_a_source_in_which_most_names_have_another_picture_is_refused(shop: Path) -> None:
    photos = shop / "photos"
    for number, path in enumerate(sorted(photos.rglob("*.png"))[:20]):
        draw_shape("circle", f"#{number * 9:02x}50a0", 0).save(path)
    workspace = Workspace(shop / "shoes")
    with pytest.raises(LikewiseError, match=r"20 of 36 .*20 of these names have another picture there.*--accept-rem"):
        workspace.update()
    assert len(workspace.update(accept_removals=True).update.changes.changed) == 20


def test_a_picture_whose_name_another_one_takes_is_named(shop: Path) -> None:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    away = (photos / "circle/red-0.png").rename(shop / "away.png")
    workspace.update()
    away.rename(photos / "square/red-0.png")  # comes back under the name of one that goes
    (photos / "square/blue-0.png").rename(photos / "square/green-0.png")  # and a move onto another one
    changes = workspace.update(dry_run=True).update.changes
    assert changes.returned == ("square/red-0.png",)
    assert changes.renamed == (("square/blue-0.png", "square/green-0.png"),)
    assert changes.removed == ("square/green-0.png", "square/red-0.png")
    told = " ".join(CliRunner().invoke(app, ["update", str(workspace.path)]).output.split())
    assert "2 removed: square/green-0.png (another picture has its name now), square/red-0.png (another" in told


def test_copies_among_the_new_pictures_are_counted(shop: Path) -> None:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    (photos / "circle/copy.png").write_bytes((photos / "circle/red-0.png").read_bytes())
    with Image.open(photos / "square/red-0.png") as picture:
        picture.resize((300, 300)).save(photos / "square/near.png")
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(photos / "square/like-no-other.png")
    planned = workspace.update(dry_run=True).update
    assert len(planned.changes.added) == 3
    assert planned.to_dict()["copies"] == {"images": 2, "across_items": 2}
    told = " ".join(CliRunner().invoke(app, ["update", str(workspace.path), "--dry-run"]).output.split())
    assert "2 of the new pictures have a copy, exact or near, of another item: `likewise explore " in told


def test_a_copy_is_an_image_of_its_own(shop: Path) -> None:
    """The votes of the first one are put aside when it goes, although a copy stays, and come back with it."""
    workspace, photos = Workspace(shop / "shoes"), shop / "photos"
    before = read_stored_votes(workspace)
    assert before is not None
    first, copy = photos / "circle/red-0.png", photos / "circle/copy.png"
    copy.write_bytes(first.read_bytes())
    assert workspace.update().update.changes.added == ("circle/copy.png",)
    first.unlink()
    assert workspace.update().update.changes.removed == ("circle/red-0.png",)
    without = read_stored_votes(workspace)
    assert without is not None and 0 < len(without) < len(before)
    first.write_bytes(copy.read_bytes())
    assert workspace.update().update.changes.returned == ("circle/red-0.png",)
    key = ["query", "candidate", "expert"]
    again = read_stored_votes(workspace)
    assert again is not None and again.sort(key).equals(before.sort(key))
