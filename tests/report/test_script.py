"""The script of "how it was made" is run in a shell: it makes a workspace with the same labels and the same results."""

import html
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.api.workspace import Workspace
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.cli.test_road import similar_if_same_shape
from tests.conftest import write_shapes
from tests.update.conftest import SHAPES, save_shape, vote
from tests.warm import likewise_command

__all__ = ["run"]


def script_of(workspace: WorkspaceFolder) -> str:
    """What a reader copies from the page."""
    found = re.search(r'<pre id="commands"><code>(.*?)</code>', workspace.report_file.read_text(), re.DOTALL)
    assert found
    return html.unescape(found[1])


def make_again(workspace: WorkspaceFolder, tmp_path: Path) -> WorkspaceFolder:
    """Run the script where the workspace is, with this likewise as the command."""
    shell = f'PATH={shlex.quote(str(likewise_command(tmp_path / "bin")))}:"$PATH"\n{script_of(workspace)}'
    ran = subprocess.run(
        ["sh", "-eu", "-c", shell], cwd=workspace.path.parent, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return WorkspaceFolder(workspace.path.with_name(f"{workspace.path.name}-again"))


def result_tables(workspace: WorkspaceFolder) -> list[str]:
    """All but the numbers of earlier versions of the catalog."""
    names = {path.name for path in workspace.results_folder.glob("*.parquet")}
    return sorted(names - {"history.parquet"})


def assert_equal_results(old: WorkspaceFolder, new: WorkspaceFolder) -> None:
    """Pool, labels and every table of results, value by value."""
    tables = result_tables(old)
    assert len(tables) > 10
    assert tables == result_tables(new)
    for path in ("pool.parquet", "labels.parquet", *(f"results/{name}" for name in tables)):
        assert pl.read_parquet(old.path / path).equals(pl.read_parquet(new.path / path)), path
    assert new.report_file.exists()


def online_products(folder: Path) -> Path:
    """The shapes in the layout of Stanford Online Products."""
    table = pl.read_csv(write_shapes(folder))
    items = table["item"].unique(maintain_order=True).to_list()
    categories = table["category"].unique(maintain_order=True).to_list()
    lines = [
        f"{number} {items.index(item) + 1} {categories.index(category) + 1} {image}"
        for number, (image, item, category) in enumerate(table.select("image", "item", "category").iter_rows(), 1)
    ]
    header = "image_id class_id super_class_id path"
    (folder / "Ebay_train.txt").write_text("\n".join([header, *lines[:14]]) + "\n")
    (folder / "Ebay_test.txt").write_text("\n".join([header, *lines[14:]]) + "\n")
    return folder


def test_the_script_makes_the_same_labels_and_results_from_the_votes_of_people(tmp_path: Path, run: Run) -> None:
    source = online_products(tmp_path / "online products")
    target = tmp_path / "my shop"
    assert run("new", target, source, "--reader", "sop").code == 0
    workspace = WorkspaceFolder(target)
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    np.savez(tmp_path / "mine.npz", keys=images, vectors=np.random.default_rng(0).normal(size=(len(images), 5)))
    assert run("encode", target, "--import", tmp_path / "mine.npz", "--name", "mine").code == 0
    specs = "colour,shape?size=32,(colour)?pca=4&on=all&name=pc"
    assert run("encode", target, "--with", specs, "--workers", 1).code == 0
    pool = ("--with", "colour,shape_size-32", "--k", 3, "--n-queries", 8, "--by-category", "--seed", 5, "--random", 25)
    assert run("discover", target, *pool, "--queries", "split=train", "--unit", "images").code == 0
    votes = similar_if_same_shape(pl.read_parquet(workspace.pool_file))
    columns = ["query", "candidate", "expert", "answer"]
    pl.DataFrame(votes, schema=columns, orient="row").write_csv(tmp_path / "votes.csv")
    assert run("label", "import", target, tmp_path / "votes.csv", "--rule", "exclude").code == 0
    (tmp_path / "votes.csv").unlink()  # votes of a site have no file either
    assert run("evaluate", target, "--k", "1,3", "--seed", 3, "--store").code == 0
    assert run("report", target).code == 0
    assert "--reader sop" in script_of(workspace)
    assert "--rule exclude" in script_of(workspace)
    assert_equal_results(workspace, make_again(workspace, tmp_path))


DRAWN = {
    "sampled": ("--design", "sampled", "--labels", 300, "--n-queries", 20, "--seed", 4),
    "adaptive": ("--design", "adaptive", "--rounds", 2, "--labels", 300, "--n-queries", 20, "--seed", 4),
}


@pytest.mark.parametrize("design", DRAWN)
def test_the_script_draws_pairs_again(design: str, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "wardrobe"
    assert run("new", target, "--wardrobe", "--items", 40, "--views", 1, "--seed", 2).code == 0
    assert run("encode", target, "--with", "colour,shape", "--workers", 1).code == 0
    for _ in range(2 if design == "adaptive" else 1):
        assert run("discover", target, *DRAWN[design]).code == 0
        assert run("label", "simulate", target, "--experts", 3, "--seed", 6, "--rule", "dawid-skene").code == 0
    assert run("report", target).code == 0
    workspace = WorkspaceFolder(target)
    assert f"--design {design}" in script_of(workspace)
    assert_equal_results(workspace, make_again(workspace, tmp_path))


def test_the_script_imports_labels_from_elsewhere_again(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_shapes(tmp_path / "pictures")
    monkeypatch.chdir(tmp_path)
    assert run("new", "shapes", table, "--root", tmp_path / "pictures").code == 0
    assert run("encode", "shapes", "--with", "colour,shape", "--workers", 1).code == 0
    images = pl.read_csv(table)["image"].to_list()
    pairs = [(q, c, int(q.split("/")[0] == c.split("/")[0])) for q in images[:5] for c in images[::2] if q != c]
    pl.DataFrame(pairs, schema=["query", "candidate", "label"], orient="row").write_csv("labels.csv")
    fed = ("--generators", "shape", "--k", 2)
    assert run("label", "import", "shapes", "labels.csv", "--gallery", "domain=shop", *fed).code == 0
    assert run("report", "shapes").code == 0
    workspace = WorkspaceFolder(tmp_path / "shapes")
    assert_equal_results(workspace, make_again(workspace, tmp_path))


def test_the_script_of_a_catalog_that_was_updated_keeps_its_versions_and_votes(tmp_path: Path) -> None:
    photos, workspace = tmp_path / "photos", Workspace(tmp_path / "shoes")
    for shape in SHAPES:
        for colour in ("red", "orange", "blue", "green", "purple"):
            save_shape(photos, shape, colour, 0)
    workspace.new(photos)
    workspace.encode("colour", "shape")
    workspace.discover(k=3, n_queries=8, n_random=20)
    vote(workspace)
    query = pl.read_parquet(workspace.pool_file)["query"][0]
    (photos / query).unlink()  # votes about it are put aside
    save_shape(photos, "square", "brown", 1)
    (photos / "triangle/red-0.png").rename(photos / "triangle/scarlet-0.png")
    workspace.update()
    workspace.encode("colour", "shape")
    workspace.discover()
    vote(workspace)
    workspace.report()
    assert_equal_results(workspace, make_again(workspace, tmp_path))
