"""Graded answers from the site to the report: keys and taps become votes, labels with grades, and nDCG."""

import sys
from pathlib import Path

import polars as pl
import pytest
import pytrec_eval
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from likewise.cli import main
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.evaluation.exchange.labels_export import export_labels
from likewise.evaluation.exchange.run_export import export_run
from likewise.evaluation.exchange.trec import read_run
from likewise.labeling.state import read_labels_note
from likewise.workspace import WorkspaceFolder
from tests.browser.site import PHONE, TOO_SOON_MS, Site, enter, make_workspace, opened, press, saved, shown

GRADES = {"1": "exact", "2": "similar", "3": "substitute", "4": "different"}


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    made = make_workspace(tmp_path)
    encode_catalog(made, ["colour", "shape"], workers=1)
    store_pool(made, make_pool(made, PoolSettings(("colour", "shape"), k=3, n_queries=6, n_random=0)), replace=True)
    return made


def test_grades_from_the_site_to_the_report(
    browser: Browser, workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = Site(workspace)
    site.start()
    try:
        site.change(graded=True)
        with opened(browser) as page:
            enter(page, site, "Anna")
            pairs = [press(page, key) for key in ("1", "2", "3", "4", "1")]
            saved(page)
            keys = site.keys_of_pairs()
            given = {keys[pair]: GRADES[key] for pair, key in zip(pairs, "12341", strict=True)}
            assert given.items() <= site.votes("Anna").items()
            assert not page.get_by_role("link", name="Grid").count()
            page.goto(f"{site.url}/grid")
            assert page.url.endswith("/work")
        site.answer("Anna", "different", but=0)
        with opened(browser, **PHONE) as phone:
            enter(phone, site, "Ben")
            for answer in ("Exact", "Similar", "Substitute", "Different"):
                pair = shown(phone)
                button = phone.get_by_role("button", name=answer, exact=False)
                box = button.bounding_box()
                assert box is not None and box["height"] >= 40 and box["y"] + box["height"] <= 844
                phone.wait_for_timeout(TOO_SOON_MS)
                button.tap()
                expect(phone.locator(f"#main[data-pair='{pair}']")).to_have_count(0)
            saved(phone)
            assert sorted(set(site.votes("Ben").values())) == ["different", "exact", "similar", "substitute"]
            assert Axe().run(phone).violations_count == 0
        monkeypatch.setattr(sys, "argv", ["likewise", "report", str(workspace.path)])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
    finally:
        site.kill()

    assert read_labels_note(workspace)["grades"]["similar"] == "grade >= 2"
    qrels: dict[str, dict[str, int]] = {}
    for line in export_labels(workspace, ".qrels").content.decode().splitlines():
        query, _, candidate, grade = line.split()
        qrels.setdefault(query, {})[candidate] = int(grade)
    assert {grade for of in qrels.values() for grade in of.values()} == {0, 1, 2, 3}
    with opened(browser) as report:
        report.goto(workspace.report_file.as_uri())
        expect(report.get_by_text("α of the grades (ordinal)")).to_be_attached()
    for encoder in ("colour", "shape"):
        run: dict[str, dict[str, float]] = {}
        export_run(workspace, encoder, tmp_path / "model.run")
        for query, candidate, rank, _ in read_run(tmp_path / "model.run").rows.rows():
            run.setdefault(query, {})[candidate] = -float(rank)
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5"}).evaluate(run)
        gains = [one["ndcg_cut_5"] for query, one in theirs.items() if any(qrels[query].values())]
        results = pl.read_parquet(workspace.path / "results" / "discovery.parquet")
        ours = results.filter((pl.col("encoder") == encoder) & (pl.col("measure") == "nDCG@5"))["value"][0]
        assert ours == pytest.approx(sum(gains) / len(gains), abs=1e-9)
