"""One walk through a catalog that lives: from the first photos to a report with two points in time."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.api.workspace import Workspace
from likewise.catalog.versions import RETIRED
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.layout import catalog_layout
from likewise.evaluation.estimates.step import CATALOG_SCHEMA
from likewise.evaluation.over_time import POOL, WHOLE_CATALOG, main_over_time, read_over_time, value_changes
from likewise.labeling.state import read_stored_votes
from likewise.labeling.store.opening import opened_votes
from likewise.labeling.store.read import read_votes
from tests.update.conftest import change_photos, save_shape, vote


def test_after_an_update_only_new_pairs_are_asked_about(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    before = pl.read_parquet(workspace.pool_file)
    change_photos(shop / "photos")
    workspace.update()
    assert workspace.status().status.next == f"likewise encode {workspace.path} --with colour,shape"
    workspace.encode("colour", "shape")
    assert workspace.status().status.part("pool").state == "behind"
    assert workspace.evaluate().table.height  # what is left of the labels still measures
    workspace.discover()
    pool = pl.read_parquet(workspace.pool_file)
    assert workspace.status().status.part("pool").state == "current"
    assert not pool.filter(pl.col("query").str.starts_with(RETIRED)).height
    n_new = vote(workspace)
    assert 0 < n_new < 0.7 * before.select("query", "candidate").n_unique()
    lists = pool.filter(pl.col("generator") == "shape").group_by("query").len()["len"]
    assert lists.min() == lists.max() == 3  # the same design: every query has its three best of today
    new = pool.filter(pl.col("round") == 2)
    assert set(new["generator"]) <= {"colour", "shape", "random"}
    assert set(pool.filter(pl.col("candidate").str.contains("gold"))["round"]) == {2}


def test_the_whole_walk(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    workspace.report()
    change_photos(shop / "photos")
    workspace.update(name="autumn")
    workspace.encode("colour", "shape")
    workspace.discover()
    vote(workspace)
    page = workspace.report().path.read_text(encoding="utf-8")
    assert "Over time" in page
    history = pl.read_parquet(workspace.results_folder / "history.parquet")
    assert history["version"].unique().sort().to_list() == [1, 2]
    spent = dict(history.select("version", "n_new_labels").unique().iter_rows())
    rounds = pl.read_parquet(workspace.pool_file).unique(["query", "candidate"])["round"]
    assert spent[2] == (rounds == 2).sum() > 0
    assert spent[1] > spent[2]
    summary = json.loads((workspace.results_folder / "summary.json").read_text())
    assert summary["catalog_version"] == 2
    then = Workspace(workspace.path, as_of="1").evaluate(store=False).table
    first = history.filter((pl.col("version") == 1) & (pl.col("encoder") == "shape") & (pl.col("measure") == "ROC_AUC"))
    again = then.filter((pl.col("encoder") == "shape") & (pl.col("measure") == "ROC_AUC"))
    assert again["value"].item() == pytest.approx(first["value"].item(), abs=0.05)  # later labels may add to it


def test_a_drawn_pool_grows_by_pairs_with_known_probabilities(shop: Path) -> None:
    from likewise.discovery.step import PoolSettings, make_pool, store_pool

    workspace = Workspace(shop / "shoes")
    settings = PoolSettings(("colour", "shape"), n_queries=12, design="sampled", n_labels=120)
    store_pool(workspace, make_pool(workspace, settings), replace=True)
    vote(workspace)
    workspace.evaluate()
    for colour in ("gold", "silver", "cyan"):
        save_shape(shop / "photos", "circle", colour, 0)
    (shop / "photos" / "square/red-0.png").unlink()
    workspace.update()
    workspace.encode("colour", "shape")
    workspace.discover()
    pool = pl.read_parquet(workspace.pool_file)
    new = pool.filter(pl.col("round") == 2)
    assert len(new)
    fresh = pl.any_horizontal(pl.col("query", "candidate").str.contains("gold|silver|cyan"))
    assert new.filter(~fresh).is_empty()  # every pair of two old images had its chance before
    assert pool.filter(fresh & (pl.col("round") == 1)).is_empty()
    assert new["probability"].is_between(0, 1, closed="right").all()
    vote(workspace)
    workspace.evaluate()
    values = pl.read_parquet(workspace.results_folder / "catalog.parquet")
    assert values.columns == list(CATALOG_SCHEMA)
    shown = main_over_time(read_over_time(workspace))
    assert shown["version"].unique().sort().to_list() == [1, 2]
    assert shown["measure"].unique().to_list() == catalog_layout(values).measures[:1]  # as in the other sections


def test_over_time_shows_what_labels_can_tell_in_every_version() -> None:
    def measure(ap_shown: tuple[bool, bool], *others: str) -> list[str]:
        names = ("ROC_AUC", "AP", "P@5", *others)
        rows = [
            (version, WHOLE_CATALOG, "shape", name, 0.5, name != "ROC_AUC" and (name != "AP" or ap_shown[version - 1]))
            for version in (1, 2)
            for name in names
            if version == 2 or name not in others
        ]
        rows += [(version, POOL, "shape", "P@5", 0.5, True) for version in (1, 2)]
        columns = ["version", "about", "encoder", "measure", "value", "shown"]
        found = main_over_time(pl.DataFrame(rows, schema=columns, orient="row"))
        assert found["version"].to_list() == [1, 2] and set(found["about"]) == {WHOLE_CATALOG}
        return found["measure"].unique().to_list()

    assert measure((True, True)) == ["AP"]
    assert measure((True, False)) == ["P@5"]
    assert measure((False, False), "P@9") == ["P@5"]  # of both versions


def test_a_change_is_one_only_beyond_its_interval() -> None:
    values = {
        "apart": ((0.50, 0.45, 0.55), (0.70, 0.65, 0.75), (0.70, 0.64, 0.76)),
        "within": ((0.90, 0.70, 0.92), (0.76, 0.74, 0.88), (0.80, 0.75, 0.85)),  # though by more than half widths
        "unknown": ((0.50, None, None), (0.90, 0.85, 0.95), (0.10, 0.05, 0.15)),
    }
    rows = [(name, number, *one) for name, each in values.items() for number, one in enumerate(each, 1)]
    table = pl.DataFrame(rows, schema=["encoder", "version", "value", "low", "high"], orient="row")
    called = [(one.encoder, one.before, one.difference > 0) for one in value_changes(table) if one.real]
    assert called == [("apart", 1, True), ("unknown", 2, False)]


@pytest.mark.parametrize("design", ["eds", "sampled", "adaptive"])
def test_discover_again_says_that_nothing_is_new(shop: Path, monkeypatch: pytest.MonkeyPatch, design: str) -> None:
    """Whatever the design; before and after an update, and also with the options that made the pool."""
    from typer.testing import CliRunner

    from likewise.cli.app import app

    monkeypatch.setenv("COLUMNS", "300")
    workspace = Workspace(shop / "shoes")
    drawn = ["--design", design, "--labels", "120"] if design != "eds" else ["--k", "3", "--random", "40"]
    options = ["--with", "colour,shape", "--n-queries", "12", *drawn]

    def discover(*words: str) -> str:
        done = CliRunner().invoke(app, ["discover", str(workspace.path), *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    discover(*options, "--replace")
    if design == "sampled":
        assert "nothing new to ask" in discover()
    vote(workspace)
    change_photos(shop / "photos")
    workspace.update()
    workspace.encode("colour", "shape")
    assert "new pairs" in discover()
    before = pl.read_parquet(workspace.pool_file)
    for again in (discover(), discover(*options)):
        assert "nothing new to ask" in again or "wait for an answer" in again
    assert pl.read_parquet(workspace.pool_file).equals(before)
    if design != "adaptive":
        assert workspace.discover().table.height
        told = json.loads(discover("--json"))
        assert (told["new_pairs"], told["versions"]) == (0, [1, 2])


@pytest.mark.parametrize("design", ["eds", "sampled"])
def test_status_of_a_date_has_the_pool_of_that_date(shop: Path, design: str) -> None:
    from likewise.discovery.step import PoolSettings, make_pool, store_pool

    workspace = Workspace(shop / "shoes")
    drawn = {"design": design, "n_labels": 120} if design == "sampled" else {"k": 3, "n_random": 40}
    store_pool(workspace, make_pool(workspace, PoolSettings(("colour", "shape"), n_queries=12, **drawn)), replace=True)
    vote(workspace)
    counts = [pl.read_parquet(workspace.pool_file).select("query", "candidate").n_unique()]
    n_labels = workspace.labels().table.height
    for number in range(3):
        save_shape(shop / "photos", "circle", ("gold", "silver", "cyan")[number], number)
        (shop / "photos" / "square" / f"{('red', 'blue', 'green')[number]}-0.png").unlink()
        workspace.update()
        if number != 1:  # an update after which nobody ran discover
            workspace.encode("colour", "shape")
            workspace.discover()
        counts.append(pl.read_parquet(workspace.pool_file).select("query", "candidate").n_unique())
    for version, count in enumerate(counts, 1):
        then = Workspace(workspace.path, as_of=str(version)).status().status
        assert then.part("pool").holds.startswith(f"{count} pairs"), version
        assert not then.stale and then.next.endswith(f"--as-of {version}")
    first = Workspace(workspace.path, as_of="1").status().status
    assert first.part("labels").holds.startswith(f"{n_labels} of the images of then")
    assert workspace.status().status.part("pool").holds.startswith(f"{counts[-1]} pairs")
    assert len(set(counts)) > 2


def test_an_adaptive_pool_grows_by_a_round_among_the_new_pairs_and_its_own_rounds_go_on(shop: Path) -> None:
    from likewise.discovery.step import PoolSettings, make_pool, read_pool, store_pool
    from likewise.labeling.rounds import next_round

    workspace = Workspace(shop / "shoes")
    settings = PoolSettings(
        ("colour", "shape"), n_queries=12, design="adaptive", n_labels=120, n_rounds=3, purpose="comparing"
    )
    store_pool(workspace, make_pool(workspace, settings), replace=True)
    vote(workspace)
    assert next_round(workspace).number == 2
    vote(workspace)
    for colour in ("gold", "silver", "cyan"):
        save_shape(shop / "photos", "circle", colour, 0)
    (shop / "photos" / "square/red-0.png").unlink()
    workspace.update()
    workspace.encode("colour", "shape")
    workspace.discover()
    pool = read_pool(workspace)
    assert pool.update_rounds == (3,)
    fresh = pl.any_horizontal(pl.col("query", "candidate").str.contains("gold|silver|cyan"))
    new = pool.rows.filter(pl.col("round") == 3)
    assert len(new)
    assert new.filter(~fresh).is_empty()
    assert pool.rows.filter(fresh & (pl.col("round") != 3)).is_empty()
    vote(workspace)
    last = next_round(workspace)
    assert (last.state, last.number) == ("drawn", 4)
    drawn = last.pool.rows.filter(pl.col("round") == 4)
    assert len(drawn) == 40
    assert drawn.filter(fresh).is_empty()  # pairs of the first version go on to have their chances
    assert drawn.join(pool.rows, on=["query", "candidate"]).is_empty()
    vote(workspace)
    assert next_round(workspace).state == "finished"
    workspace.evaluate()
    assert pl.read_parquet(workspace.results_folder / "catalog.parquet")["value"].is_not_nan().all()


def test_status_says_what_the_labels_cover_and_how_far_numbers_may_be_off(shop: Path) -> None:
    workspace = Workspace(shop / "shoes")
    change_photos(shop / "photos")
    workspace.update()
    workspace.encode("colour", "shape")
    behind = workspace.status().status.coverage
    assert behind is not None
    assert (behind.n_images, behind.n_covered_images) == (35, 32)  # two added, one changed
    assert 0 < behind.off_by["shape"] < 1
    workspace.discover()
    asked = workspace.status().status.coverage
    assert asked is not None
    assert (asked.n_covered_images, asked.share_of_pairs < 1) == (35, True)
    vote(workspace)
    done = workspace.status().status.coverage
    assert done is not None
    assert done.share_of_pairs == 1
    assert done.off_by["shape"] < asked.off_by["shape"]


def test_the_commands_of_a_living_catalog(shop: Path) -> None:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    def run(*words: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    shoes, photos = shop / "shoes", shop / "photos"
    change_photos(photos)
    planned = run("update", shoes, photos, "--dry-run")
    wanted = f"nothing was written (--dry-run) next: likewise update {shoes} {photos}"
    assert planned.replace(" ", "").endswith(wanted.replace(" ", ""))  # a long path is wrapped anywhere
    done = run("update", shoes, photos, "--name", "autumn")
    assert done.startswith(planned.partition("nothing was written")[0])  # the same summary, before it is written
    assert "written: version 2, autumn" in done
    run("encode", shoes, "--with", "colour,shape", "--workers", 1)
    assert "may be off by at most" in run("status", shoes)
    counted = read_stored_votes(Workspace(shoes))
    with opened_votes(Workspace(shoes)) as engine:
        assert counted is not None and 0 < len(counted) < len(read_votes(engine))  # some are put aside
    assert json.loads(run("label", "status", shoes, "--json"))["n_votes"] == len(counted)
    assert json.loads(run("discover", shoes, "--json"))["versions"] == [1, 2]
    then = json.loads(run("evaluate", shoes, "--as-of", "1", "--json"))
    assert (then["summary"]["catalog_version"], then["summary"]["n_images"], then["stored"]) == (1, 36, False)
    assert json.loads(run("status", shoes, "--as-of", "1", "--json"))["images"] == 36


def test_photos_that_come_and_go_cost_no_vote_with_vectors_of_elsewhere_too(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shop of 36 photos with votes: photos are added, removed, renamed and changed; every next command works."""
    import numpy as np
    from typer.testing import CliRunner

    from likewise.catalog import read_catalog
    from likewise.cli.app import app
    from likewise.encoders import read_vectors

    monkeypatch.setenv("COLUMNS", "80")
    shoes, photos = shop / "shoes", shop / "photos"
    workspace = Workspace(shoes)

    def run(*words: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    def bring_vectors(file: Path) -> None:
        images = read_catalog(workspace)["image"].to_list()
        np.savez(file, images=np.array(images), vectors=read_vectors(workspace, "shape", images))

    bring_vectors(shop / "mine.npz")
    run("encode", shoes, "--import", shop / "mine.npz", "--name", "mine")
    before = workspace.labels().table
    change_photos(photos)
    noticed = run("status", shoes)
    assert "5 of the catalog are gone, 4 are new" in noticed
    with pytest.raises(LikewiseError, match=f"`likewise update {shoes} {photos}`"):
        run("new", shoes, photos)
    steps: list[str] = []
    while len(steps) < 12:
        following = json.loads(run("status", shoes, "--json"))["next"]
        assert following not in steps, f"{following} was done and is asked for again"
        steps.append(following)
        words = following.split()
        if words[1] == "update":
            run(*words[1:])
        elif words[1] == "encode":
            run(*words[1:], "--workers", 1)
        elif words[:3] == ["likewise", "label", "serve"]:
            assert vote(workspace) > 0
        elif words[1] in ("discover", "report"):
            run(*words[1:])
        else:
            break
    assert [step.split()[1] for step in steps] == ["update", "encode", "discover", "label", "report", "at"]
    summary = json.loads((workspace.results_folder / "summary.json").read_text())
    assert summary["encoders"] == ["colour", "shape"]  # vectors of elsewhere keep nothing from going on
    assert any(note.startswith("not measured") and "mine" in note for note in summary["lineage"]["notes"])
    assert "--import FILE --name mine" in workspace.status().status.part("vectors/mine").command
    bring_vectors(shop / "next.npz")
    run("encode", shoes, "--import", shop / "next.npz", "--name", "mine")
    assert json.loads(run("status", shoes, "--json"))["next"] == f"likewise report {shoes}"
    run("report", shoes)
    assert json.loads((workspace.results_folder / "summary.json").read_text())["encoders"][1] == "mine"
    gone = ["circle/red-0.png", "square/blue-1.png", "triangle/green-0.png", "triangle/red-1.png"]
    moved = {"circle/blue-0.png": "circle/azure.png", "square/red-0.png": "attic/square.png"}
    kept = before.filter(~pl.col("query").is_in(gone) & ~pl.col("candidate").is_in(gone))
    kept = kept.with_columns(pl.col("query", "candidate").replace(moved)).select("query", "candidate", "label")
    now = workspace.labels().table
    assert kept.join(now, on=["query", "candidate", "label"], how="anti").is_empty()  # no vote is lost
    told = run("status", shoes)
    assert "stale" not in told
    assert "version 2" in told
