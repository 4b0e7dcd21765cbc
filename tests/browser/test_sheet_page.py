"""The offline sheet in a browser: keys answer, nothing gives a pair away, and the saved file is imported as votes."""

from pathlib import Path

import polars as pl
from playwright.sync_api import Page, expect

from likewise.workspace import WorkspaceFolder

from ..cli.conftest import Run, run

__all__ = ["run"]


def test_a_sheet_is_answered_offline_and_comes_back_as_votes(
    workspace: WorkspaceFolder,
    page: Page,
    run: Run,
    tmp_path: Path,
) -> None:
    assert run("encode", workspace.path, "--with", "colour,shape").code == 0
    assert run("discover", workspace.path, "--k", 2, "--n-queries", 3, "--random", 0).code == 0
    assert run("label", "settings", workspace.path, "--repeats", 0.5).code == 0
    sheet = tmp_path / "anna.html"
    assert run("label", "sheet", workspace.path, sheet, "--expert", "anna").code == 0
    text = sheet.read_text(encoding="utf-8")
    assert not [shape for shape in ("circle", "square", "triangle", "colour") if shape in text.partition("<body>")[2]]
    page.context.set_offline(True)
    page.goto(sheet.as_uri())
    expect(page.get_by_role("heading", name="Do these two look alike?")).to_be_visible()
    page.keyboard.press("f")
    page.get_by_role("button", name="Not similar").click()
    page.reload()  # what was answered is still there
    expect(page.locator("#number")).to_have_text("3")
    while "All pairs are answered" not in page.locator("#state").inner_text():
        page.keyboard.press("j")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the answers").click()
    download.value.save_as(tmp_path / "anna.csv")
    assert run("label", "import", workspace.path, tmp_path / "anna.csv").code == 0
    labels = pl.read_parquet(workspace.labels_file)
    assert labels["label"].sum() == 1
    assert labels.height == pl.read_parquet(workspace.pool_file).select("query", "candidate").n_unique()
