"""From drawn pairs over votes to a settled question on the command line, on the owner's page, and on the report."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from likewise.encoders import read_vectors
from likewise.evaluation.bundles.bundle import open_bundle
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import make_labelled, make_wardrobe

from .conftest import Run


@pytest.fixture(scope="module")
def wardrobe(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    return make_wardrobe(tmp_path_factory.mktemp("settled"), 80, 40, 1600)


def test_status_and_the_owners_page_say_when_to_stop(wardrobe: WorkspaceFolder, run: Run) -> None:
    path = wardrobe.path
    assert f"likewise label goal {path} --better MODEL" in run("label", "goal", path).out
    assert "--better A --than B" in run("label", "goal", path, "--better", "shape").err
    assert "name one goal" in run("label", "goal", path, "--recall", "--remove").err
    named = run("label", "goal", path, "--better", "shape", "--than", "colour")
    assert named.code == 0, named.err
    assert "1,600 labels were there already" in named.out
    status = run("label", "status", path)
    assert "Is shape better than colour by P@10?" in status.out
    assert "Yes, stop: shape is better than colour by P@10." in status.out
    goal = json.loads(run("label", "status", path, "--json").out)["goal"]
    assert goal["settlement"]["settled"] and goal["labels_left"] == 0
    app = create_app(SiteSettings(workspace=wardrobe, owner_key="key"))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = client.get("/owner/enter/key").text
    assert "Yes, stop: shape is better than colour by P@10." in page
    assert ">settled</span>" in page
    assert run("label", "goal", path, "--remove").code == 0
    assert json.loads(run("label", "status", path, "--json").out)["goal"]["goal"] is None


def test_the_whole_catalog_stands_first_in_report_and_leaderboard(
    wardrobe: WorkspaceFolder, run: Run, tmp_path: Path
) -> None:
    path = wardrobe.path
    assert run("report", path).code == 0
    page = wardrobe.report_file.read_text()
    assert page.index("The whole catalog</h2>") < page.index("The labelled pairs alone</h2>")
    assert "labels drawn with known chances (design sampled) among all 3,160" in page
    values = json.loads(run("evaluate", path, "--json").out)["tables"]["catalog"]
    [best] = [row for row in values if row["measure"] == "AP" and row["place"] == 1]
    shown = re.findall(r'<tr data-encoder="(\w+)">\s*<th', page)
    assert shown[0] == best["encoder"]
    assert f'<h1 id="verdict">{best["encoder"]} ' in page
    bundle = tmp_path / "w.zip"
    assert run("bundle", "benchmark", path, bundle, "--title", "W", "--licence", "CC0-1.0").code == 0
    np.save(tmp_path / "mine.npy", read_vectors(wardrobe, "layout", open_bundle(bundle).images))
    ran = run("evaluate", bundle, "--vectors", tmp_path / "mine.npy", "--output", tmp_path / "mine.parquet")
    assert ran.code == 0, ran.err
    assert ran.out.index("Estimated for the whole catalog") < ran.out.index("Over the labelled pairs alone")
    board = tmp_path / "board.html"
    assert run("bundle", "leaderboard", board, path, tmp_path / "mine.parquet").code == 0
    text = board.read_text()
    first, second = text.index("Estimated for the whole catalog"), text.index("Over the labelled pairs alone")
    assert first < second
    assert {"mine", "shape", "colour", "layout"} <= set(re.findall(r'data-encoder="(\w+)"', text[first:second]))


def test_an_eds_pool_says_what_its_numbers_are(tmp_path: Path, run: Run) -> None:
    pooled = make_labelled(tmp_path)
    assert "The labels are of an EDS pool" in run("evaluate", pooled.path).out
    assert run("report", pooled.path).code == 0
    page = pooled.report_file.read_text()
    assert "The numbers describe those pairs, not the whole catalog" in page
    assert 'id="catalog"' not in page
