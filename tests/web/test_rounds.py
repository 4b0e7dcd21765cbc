"""The site deals the next round of an adaptive design by itself, and answers that come late still count."""

from collections.abc import Callable

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders.running.encode import encode_catalog
from likewise.evaluation.step import evaluate
from likewise.labeling import open_votes
from likewise.labeling.step import read_labels
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.pairs import pair_keys
from likewise.labeling.store.project import change_project
from likewise.report.step import make_report
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, OWNER_KEY, Browser, csrf_of
from .test_api import event


def same_shape(query: str, candidate: str) -> str:
    return "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar"


def answer_all(browser: Browser, engine: Engine, judge: Callable[[str, str], str], most: int) -> list[tuple[str, str]]:
    """Answer what the site gives until it gives nothing, or `most` pairs; the pairs in the order they were shown."""
    seen: list[tuple[str, str]] = []
    while len(seen) < most:
        pairs = [one["pair"] for one in browser.get("/api/next?count=1").json()["pairs"]]
        if not pairs:
            break
        keys = pair_keys(engine, pairs)
        sent = [event(pair, judge(*keys[pair])) for pair in pairs]
        assert len(browser.post("/api/answers", {"events": sent}).json()["accepted"]) == len(pairs)
        seen += keys.values()
    return seen


@pytest.mark.slow
def test_the_site_deals_the_next_round_when_the_last_is_answered(workspace: WorkspaceFolder, database: str) -> None:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    settings = PoolSettings(
        ("colour", "shape"), n_queries=8, design="adaptive", n_labels=64, n_rounds=2, purpose="finding"
    )
    store_pool(workspace, make_pool(workspace, settings))
    first = open_votes(database)
    change_project(first, repeat_share=0.0)
    first.dispose()
    site = create_app(SiteSettings(workspace, database, owner_key=OWNER_KEY))
    with TestClient(site, base_url=BASE):
        engine: Engine = site.state.site.engine
        browsers = {}
        for name in ("Anna", "Ben"):
            client = TestClient(site, base_url=BASE)
            page = client.get(f"/i/{invite_expert(engine, name)}", headers={"Accept": "text/html"})
            browsers[name] = Browser(client, csrf_of(page.text))
        of_anna = answer_all(browsers["Anna"], engine, same_shape, 31)
        assert pl.read_parquet(workspace.pool_file)["round"].max() == 1
        of_anna += answer_all(browsers["Anna"], engine, same_shape, 100)  # the 32nd answer, and then the next round
        pool = pl.read_parquet(workspace.pool_file)
        assert pool["round"].value_counts().sort("round").rows() == [(1, 32), (2, 32)]
        assert len(of_anna) == len(set(of_anna)) == 64
        likely = dict(zip(pool.select("query", "candidate").rows(), pool["probability"], strict=True))
        shown = [likely[pair] for pair in of_anna[32:]]
        assert shown != sorted(shown, reverse=True)  # the order gives away neither a rank nor a chance
        before = read_labels(workspace)
        of_ben = answer_all(browsers["Ben"], engine, lambda query, candidate: "not similar", 100)  # late, and contrary
        assert sorted(of_ben) == sorted(of_anna)
        assert [*of_ben] != of_anna
        after = read_labels(workspace)
        assert pl.read_parquet(workspace.pool_file).equals(pool)
        assert before["label"].sum() > after["label"].sum() == 0  # a tie is negative: Ben's votes count


@pytest.mark.slow
def test_the_walk_from_the_first_round_to_the_number_in_the_report(workspace: WorkspaceFolder, database: str) -> None:
    """Discover, three rounds answered on the site, a pair that somebody added by hand, evaluate, report."""
    run = CliRunner()
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    asked = ["discover", str(workspace.path), "--design", "adaptive", "--for", "comparing", "--n-queries", "12"]
    made = run.invoke(app, [*asked, "--labels", "120", "--rounds", "3"])
    assert made.exit_code == 0, made.output
    first = open_votes(database)
    change_project(first, repeat_share=0.0)
    first.dispose()
    site = create_app(SiteSettings(workspace, database, owner_key=OWNER_KEY))
    with TestClient(site, base_url=BASE):
        engine: Engine = site.state.site.engine
        client = TestClient(site, base_url=BASE)
        page = client.get(f"/i/{invite_expert(engine, 'Anna')}", headers={"Accept": "text/html"})
        browser = Browser(client, csrf_of(page.text))
        answered = answer_all(browser, engine, same_shape, 1000)
    pool = pl.read_parquet(workspace.pool_file)
    assert pool["round"].value_counts().sort("round").rows() == [(1, 40), (2, 40), (3, 40)]
    assert sorted(answered) == sorted(pool.select("query", "candidate").rows())
    done = evaluate(workspace, store=True)
    assert done.summary.catalog is not None
    assert (done.summary.catalog.design, done.summary.catalog.n_labelled) == ("adaptive", 120)
    assert done.tables["next_pairs"].is_empty()  # everything that the design drew has a label
    [value] = done.tables["catalog"].filter((pl.col("encoder") == "colour") & (pl.col("measure") == "AP"))["value"]
    text = make_report(workspace, "likewise report").read_text(encoding="utf-8")
    whole = text[text.index("<h2>The whole catalog</h2>") :]
    assert f"{100 * value:.1f}" in whole
    assert "every pair that the design drew has a label" in text
