"""A package from outside adds one of everything: it is installed by pip as a user would, and seen working."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import likewise
from tests.warm import warm

PACKAGE = Path(__file__).parent / "example_package"
OWNERS_PAGE = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from likewise.labeling.store.experts import open_owner_session
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

app = create_app(SiteSettings(WorkspaceFolder(Path(sys.argv[1])), None, owner_key="only-for-this-test-0123456789"))
with TestClient(app, base_url="http://127.0.0.1:8000") as client:
    print(client.get("/owner/brightness").status_code)
    client.cookies.set(SESSION_COOKIE, open_owner_session(app.state.site.engine))
    print(client.get("/owner/brightness").text)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Python that has the example; building leaves files, so a copy is installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, folder / "source")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        folder / "packages",
        folder / "source",
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    paths = [str(folder / "packages"), str(Path(likewise.__file__).parents[1])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture(scope="module")
def shop(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace made with the example's reader and encoder, and taken to the report."""
    from tests.conftest import write_shapes

    folder = tmp_path_factory.mktemp("road")
    catalog = pl.read_csv(write_shapes(folder / "pictures"))
    (folder / "pictures" / "list.txt").write_text("\n".join(catalog["image"]) + "\n", encoding="utf-8")
    workspace = folder / "shop"
    run(installed, "new", workspace, folder / "pictures" / "list.txt", "--reader", "lines")
    run(installed, "encode", workspace, "--with", "colour,brightness")
    run(installed, "discover", workspace, "--with", "colour,brightness", "--k", "3", "--n-queries", "6")
    pairs = pl.read_parquet(workspace / "pool.parquet").select("query", "candidate").unique().sort("query", "candidate")
    folders = [pl.col(name).str.split("/").list.first() for name in ("query", "candidate")]
    answer = pl.when(folders[0] == folders[1]).then(pl.lit("similar")).otherwise(pl.lit("not similar"))
    pairs.with_columns(expert=pl.lit("ann"), answer=answer).write_csv(folder / "votes.csv")
    run(installed, "label", "import", workspace, folder / "votes.csv")
    run(installed, "evaluate", workspace)
    run(installed, "report", workspace)
    return workspace


def run(environment: dict[str, str], *arguments: str | Path) -> str:
    """Standard output of a `likewise` command."""
    return python(environment, "-m", "likewise", *arguments)


def python(environment: dict[str, str], *arguments: str | Path) -> str:
    ran = subprocess.run([*warm(), *arguments], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_its_command_and_its_workspace_method(installed: dict[str, str], shop: Path) -> None:
    assert "Print how bright the pictures are" in " ".join(run(installed, "--help").split())
    brightness = json.loads(run(installed, "brightness", shop, "--json"))["brightness"]
    assert 0.5 < brightness < 1  # shapes on white
    code = f"import likewise, pathlib; print(likewise.Workspace(pathlib.Path({str(shop)!r})).mean_brightness())"
    assert float(python(installed, "-c", code)) == pytest.approx(brightness)


def test_its_reader_is_listed_and_made_the_catalog(installed: dict[str, str], shop: Path) -> None:
    assert "one picture per line" in run(installed, "list", "readers", "--json")
    assert json.loads((shop / "workspace.json").read_text())["source"] == "lines"
    assert len(pl.read_parquet(shop / "catalog.parquet")) == 24


def test_its_encoder_made_vectors_and_is_measured(shop: Path) -> None:
    results = pl.read_parquet(shop / "results" / "discovery.parquet")
    assert set(results["encoder"]) == {"brightness", "colour"}


def test_its_section_stands_where_it_asks_to(shop: Path) -> None:
    page = (shop / "report" / "index.html").read_text(encoding="utf-8")
    order = [page.index(f'<section id="{name}"') for name in ("gallery", "brightness", "mistakes")]
    assert order == sorted(order)


def test_its_page_is_for_the_owner_and_between_the_owners_pages(installed: dict[str, str], shop: Path) -> None:
    status, _, page = python(installed, "-c", OWNERS_PAGE, shop).partition("\n")
    assert status == "401"
    assert "% bright" in page
    assert '<a href="/owner/brightness" aria-current="page">Brightness</a>' in page
    assert '<a href="/owner">Progress</a>' in page
