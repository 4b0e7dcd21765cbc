"""The main road on 24 small pictures, command by command, and what a user reads when something is wrong."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.cli.moved import MOVED
from likewise.workspace import WorkspaceFolder

from .conftest import Run


def similar_if_same_shape(pool: pl.DataFrame) -> list[tuple[str, str, str, str]]:
    """Three experts who call pictures similar when they show the same figure; the third one errs on red ones."""
    pairs = pool.select("query", "candidate").unique().sort("query", "candidate")
    votes = []
    for query, candidate in pairs.iter_rows():
        same = query.split("/")[0] == candidate.split("/")[0]
        for expert in ("anna", "ben", "carla"):
            answer = same if expert != "carla" or "red" not in candidate else not same
            votes.append((query, candidate, expert, "similar" if answer else "not similar"))
    return votes


@pytest.fixture
def pooled(tmp_path: Path, shapes_table: Path, run: Run) -> WorkspaceFolder:
    target = tmp_path / "shapes"
    assert run("new", target, shapes_table).code == 0
    assert run("encode", target, "--with", "colour,shape", "--workers", 1).code == 0
    assert run("discover", target, "--k", 3, "--n-queries", 6, "--random", 20).code == 0
    return WorkspaceFolder(target)


@pytest.fixture
def labelled(pooled: WorkspaceFolder, run: Run) -> WorkspaceFolder:
    votes = pooled.path / "votes.csv"
    columns = ["query", "candidate", "expert", "answer"]
    pl.DataFrame(similar_if_same_shape(pl.read_parquet(pooled.pool_file)), schema=columns, orient="row").write_csv(
        votes
    )
    assert run("label", "import", pooled.path, votes).code == 0
    return pooled


def test_the_road_from_pictures_to_a_report(labelled: WorkspaceFolder, run: Run) -> None:
    labels = pl.read_parquet(labelled.labels_file)
    assert (labels["label"] == 1).to_list() == [
        query.split("/")[0] == candidate.split("/")[0]
        for query, candidate in labels.select("query", "candidate").rows()
    ]
    ran = run("evaluate", labelled.path, "--json", "--k", "1,3", "--store")
    assert ran.code == 0
    numbers = json.loads(ran.out)
    macro = {row["encoder"]: row["value"] for row in numbers["results"] if row["measure"] == "ROC_AUC"}
    assert macro["shape"] > 0.9 > macro["colour"]  # the experts look at the figure, not at its colour
    assert {row["measure"] for row in numbers["results"]} >= {"P@1", "P@3", "VSD_MRR@3", "Judged@3", "AP"}
    assert numbers["summary"]["truth"] is None
    stored = pl.read_parquet(labelled.results_folder / "discovery.parquet")
    assert stored["value"].to_list() == [row["value"] for row in numbers["results"]]
    printed = run("evaluate", labelled.path)
    lines = [line.split()[:2] for line in printed.out.splitlines() if line.split()]
    assert lines.index(["Generators"]) < lines.index(["–", "shape"]) < lines.index(["–", "colour"])
    assert "too few different models proposed the labelled pairs" in " ".join(printed.out.split())
    assert "majority of 3 experts" in printed.out
    ran = run("report", labelled.path)
    assert ran.code == 0
    assert str(labelled.report_file) in ran.out.replace("\n", "")
    assert "data:image/jpeg;base64," in labelled.report_file.read_text()


def test_the_band_and_the_number_of_sampled_negatives_are_options(labelled: WorkspaceFolder, run: Run) -> None:
    assert "no sampled negatives" in run("evaluate", labelled.path).out  # 24 pictures have no rank 100
    options = ("--negative-ranks", "4-9", "--negatives-per-positive", 2)
    printed = " ".join(run("evaluate", labelled.path, *options, "--store").out.split())
    words = "from ranks 4 to 9 (from 0) of the generators' lists, 2 per similar candidate"
    assert f"sampled negatives: {words}" in printed
    assert run("report", labelled.path).code == 0  # with the options that are stored
    page = labelled.report_file.read_text().replace("&#39;", "'")
    assert page.count(words) >= 2 and "--negative-ranks 4-9 --negatives-per-positive 2" in page
    for wrong in (("--negative-ranks", "9"), ("--negative-ranks", "9-4"), ("--negatives-per-positive", 0)):
        refused = run("evaluate", labelled.path, *wrong)
        assert refused.code == 2 and "negative" in refused.err


def test_report_evaluates_when_labels_are_newer(labelled: WorkspaceFolder, run: Run) -> None:
    assert not (labelled.results_folder / "discovery.parquet").exists()
    assert run("report", labelled.path).code == 0
    first = (labelled.results_folder / "summary.json").stat().st_mtime_ns
    assert run("report", labelled.path).code == 0
    assert (labelled.results_folder / "summary.json").stat().st_mtime_ns == first
    assert run("label", "consensus", labelled.path, "--rule", "exclude").code == 0
    assert run("report", labelled.path).code == 0
    assert (labelled.results_folder / "summary.json").stat().st_mtime_ns > first


def test_sheet_is_blind_and_comes_back_as_votes(pooled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "anna.csv"
    assert run("label", "settings", pooled.path, "--repeats", 0).code == 0
    assert run("label", "sheet", pooled.path, sheet, "--expert", "anna").code == 0
    table = pl.read_csv(sheet)
    assert table.columns == ["query", "candidate", "expert", "question", "answer"]
    pairs = pl.read_parquet(pooled.pool_file).select("query", "candidate").unique()
    assert table.height == pairs.height
    shown = {*table["query"], *table["candidate"]}
    assert shown == {picture.stem for picture in (tmp_path / "anna_pictures").iterdir()}
    assert not shown & {*pairs["query"], *pairs["candidate"]}  # paths would tell the category
    again = run("label", "sheet", pooled.path, sheet, "--expert", "anna")
    assert again.code == 2
    assert "already exists, perhaps with answers" in again.err
    table.with_columns(answer=pl.Series(["yes"] * 3 + [None] * (table.height - 3))).write_csv(sheet)
    ran = run("label", "import", pooled.path, sheet)
    assert f"3 votes added, 0 already stored, {table.height - 3} left blank" in ran.out
    labels = pl.read_parquet(pooled.labels_file)
    assert labels.height == 3 and labels.join(pairs, on=["query", "candidate"]).height == 3
    one = pairs.head(1).with_columns(expert=pl.lit("adjudicator"), answer=pl.lit("yes"))
    one.write_csv(tmp_path / "settled.csv")
    assert (
        "an adjudicator's: they count in the labels"
        in run("label", "import", pooled.path, tmp_path / "settled.csv").out
    )


def test_budget_before_and_after_labels(pooled: WorkspaceFolder, run: Run) -> None:
    ran = run("plan", "labels", pooled.path, "--k", 4, "--n-queries", 6, "--json")
    told = json.loads(ran.out)
    assert told["random_pairs_needed"] == 2000  # Eq. 3 for one percent, except with probability 5 %
    table = pl.DataFrame(told["choices"])
    assert table.filter(pl.col("generators") == "colour+shape")["k"].to_list() == [1, 2, 3, 4]
    assert table["expected_positives"].null_count() == len(table)
    assert "spearman" not in table.columns  # nobody knows the truth of these pictures
    ran = run("plan", "labels", pooled.path, "--k", 2, "--error", 0.004, "--probability", 0.1)
    assert "likewise discover --random 2500" in " ".join(ran.out.split())
    assert run("plan", "labels", pooled.path, "--error", 2).code == 2


def test_budget_is_about_the_queries_of_the_stored_pool(pooled: WorkspaceFolder, run: Run) -> None:
    words = ["--k", 3, "--n-queries", 5, "--queries", "domain=wild", "--gallery", "domain=shop", "--seed", 4]
    assert (
        run("discover", pooled.path, "--with", "colour", *words, "--unit", "images", "--random", 0, "--replace").code
        == 0
    )
    n_pairs = pl.read_parquet(pooled.pool_file).height
    table = pl.DataFrame(json.loads(run("plan", "labels", pooled.path, "--k", 4, "--json").out)["choices"])
    assert table.filter(pl.col("k") == 3).select("generators", "n_pairs").rows() == [("colour", n_pairs)]
    fewer = pl.DataFrame(
        json.loads(run("plan", "labels", pooled.path, "--k", 3, "--n-queries", 2, "--json").out)["choices"]
    )
    assert fewer["n_pairs"].to_list() == [2, 4, 6]
    both = pl.DataFrame(
        json.loads(run("plan", "labels", pooled.path, "--with", "colour,shape", "--k", 2, "--json").out)["choices"]
    )
    assert set(both["generators"]) == {"colour", "shape", "colour+shape"}


def test_wild_queries_against_the_shop(pooled: WorkspaceFolder, run: Run) -> None:
    ran = run("discover", pooled.path, "--k", 3, "--queries", "domain=wild", "--gallery", "domain=shop", "--replace")
    assert ran.code == 0
    pool = pl.read_parquet(pooled.pool_file)
    assert pool["query"].str.contains("-1.png").all()
    assert pool["candidate"].str.contains("-0.png").all()
    item = pl.read_parquet(pooled.catalog_file).select("image", "item")
    both = pool.join(item, left_on="query", right_on="image").join(item, left_on="candidate", right_on="image")
    assert (both["item"] != both["item_right"]).all()
    votes = pooled.path / "wild.csv"
    columns = ["query", "candidate", "expert", "answer"]
    pl.DataFrame(similar_if_same_shape(pool), schema=columns, orient="row").write_csv(votes)
    assert run("label", "import", pooled.path, votes).code == 0
    numbers = json.loads(run("evaluate", pooled.path, "--json", "--k", "1,3").out)
    macro = [row for row in numbers["results"] if row["measure"] == "ROC_AUC"]
    assert {row["encoder"]: row["value"] > 0.9 for row in macro} == {"colour": False, "shape": True}
    assert numbers["summary"]["n_gallery"] == 12


def test_status_says_what_is_next(workspace: WorkspaceFolder, run: Run) -> None:
    assert f"likewise encode {workspace.path}" in run("status", workspace.path).out.replace("\n", "")
    facts = json.loads(run("status", workspace.path, "--json").out)
    assert facts["images"] == 24
    assert {part["name"]: part["state"] for part in facts["parts"]}["pool"] == "missing"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["encode", "{none}"], "is not a workspace"),
        (["new", "{ws}", "{none}"], "already holds a workspace"),
        (["new", "{other}"], "give either a folder or table"),
        (["new", "{other}", "{none}"], "does not exist"),
        (["encode", "{ws}", "--with", "color"], "colour"),
        (["discover", "{ws}"], "there are no vectors"),
        (["label", "import", "{ws}", "{none}.csv"], "does not exist"),
        (["label", "consensus", "{ws}"], "holds no votes yet"),
        (["label", "sheet", "{ws}", "{other}.csv", "--expert", "a"], "run `likewise discover"),
        (["label", "simulate", "{ws}"], "simulated experts know only what was drawn here"),
        (["evaluate", "{ws}"], "there are no vectors"),
        (["report", "{ws}"], "there are no vectors"),
    ],
)
def test_every_mistake_is_one_sentence(
    workspace: WorkspaceFolder, run: Run, arguments: list[str], sentence: str
) -> None:
    names = {"ws": workspace.path, "none": workspace.path.parent / "none", "other": workspace.path.parent / "other"}
    ran = run(*(argument.format(**names) for argument in arguments))
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


def test_a_pool_asks_for_an_hour_unless_told_otherwise_and_its_cost_is_said_before_it_is_written(
    pooled: WorkspaceFolder, run: Run
) -> None:
    before = pooled.pool_file.read_bytes()
    refused = run("discover", pooled.path, "--seconds-per-pair", 60)  # 60 pairs in an hour
    assert refused.code == 2 and pooled.pool_file.read_bytes() == before
    assert "hours of an expert at 60 s per pair" in " ".join(refused.out.split())
    assert run("discover", pooled.path, "--seconds-per-pair", 60, "--replace").code == 0
    by_default = pl.read_parquet(pooled.pool_file).select("query", "candidate").n_unique()
    assert 30 <= by_default <= 60
    assert run("discover", pooled.path, "--seconds-per-pair", 60, "--n-queries", 100, "--replace").code == 0
    assert pl.read_parquet(pooled.pool_file).select("query", "candidate").n_unique() > 60


def test_mistakes_further_down_the_road(labelled: WorkspaceFolder, run: Run, shapes_table: Path) -> None:
    other = run("discover", labelled.path, "--k", 2)
    assert (other.code, "made with other settings" in other.err) == (2, True)
    assert "there is no consensus rule 'loudest'" in run("label", "consensus", labelled.path, "--rule", "loudest").err
    assert "--k takes whole numbers" in run("evaluate", labelled.path, "--k", "five").err
    assert "whole numbers from 1" in run("evaluate", labelled.path, "--k", "0").err
    assert "did you mean nDCG?" in run("evaluate", labelled.path, "--measures", "P@5 NDCG@5").err
    assert "did you mean 'colour'" in run("evaluate", labelled.path, "--with", "colur").err
    (shapes_table.parent / "circle" / "red-0.png").write_bytes(
        (shapes_table.parent / "square" / "red-0.png").read_bytes()
    )
    assert run("new", labelled.path, shapes_table, "--replace").code == 0
    assert run("encode", labelled.path, "--with", "colour,shape", "--workers", 1).code == 0  # vectors are of pictures
    assert "made for another catalog" in run("evaluate", labelled.path).err


def test_labels_of_other_pictures_are_refused(labelled: WorkspaceFolder, run: Run, shapes_table: Path) -> None:
    """The same keys, another picture: after encoding and pooling anew the old votes must not pass for the new ones."""
    figure = shapes_table.parent / "circle" / "red-0.png"
    figure.write_bytes((shapes_table.parent / "square" / "blue-0.png").read_bytes())
    assert run("new", labelled.path, shapes_table, "--replace").code == 0
    assert run("encode", labelled.path, "--with", "colour,shape", "--workers", 1, "--force").code == 0
    assert run("discover", labelled.path, "--k", 3, "--n-queries", 6, "--random", 20, "--replace").code == 0
    refused = run("evaluate", labelled.path)
    assert refused.code == 2
    assert "labels.parquet was made for another catalog" in refused.err


def test_a_half_written_step_is_noticed(labelled: WorkspaceFolder, run: Run) -> None:
    labelled.labels_settings_file.unlink()
    labels = labelled.labels_file.read_bytes()
    assert run("evaluate", labelled.path).code == 0  # votes are there: the labels are made again
    assert labelled.labels_file.read_bytes() == labels
    labelled.labels_settings_file.unlink()
    labelled.votes_file.unlink()
    assert "is incomplete: run `likewise label consensus" in run("evaluate", labelled.path).err
    labelled.pool_settings_file.unlink()
    assert "is incomplete: run `likewise discover" in run("label", "add-pairs", labelled.path).err


def test_the_rule_of_the_labels_stays_until_another_is_asked_for(labelled: WorkspaceFolder, run: Run) -> None:
    assert run("label", "consensus", labelled.path, "--rule", "exclude").code == 0
    assert run("label", "import", labelled.path, labelled.path / "votes.csv").code == 0
    assert json.loads(run("label", "consensus", labelled.path, "--json").out)["consensus"]["rule"] == "exclude"


def test_report_keeps_the_settings_of_the_evaluation_before(labelled: WorkspaceFolder, run: Run) -> None:
    assert run("evaluate", labelled.path, "--k", "2,4", "--seed", 7, "--store").code == 0
    assert run("encode", labelled.path, "--with", "layout", "--workers", 1).code == 0
    assert run("report", labelled.path).code == 0  # two models of three had been measured: measured again
    results = pl.read_parquet(labelled.results_folder / "discovery.parquet")
    assert set(results["encoder"]) == {"colour", "layout", "shape"}
    assert {"P@2", "P@4"} <= set(results["measure"])


def test_other_options_become_the_reports_only_when_asked_to(labelled: WorkspaceFolder, run: Run) -> None:
    """Printed, and said so, for every option that changes a number; `--store` stores, and so do the default options."""

    def stored() -> bytes | None:
        path = labelled.results_folder / "summary.json"
        return path.read_bytes() if path.exists() else None

    for options in (
        ("--k", "2"),
        ("--measures", "P@5"),
        ("--seed", 1),
        ("--next-pairs", 3),
        ("--seconds-per-pair", 4),
        ("--with", "colour"),
    ):
        ran = run("evaluate", labelled.path, *options)
        assert (ran.code, "not stored" in ran.out, stored()) == (0, True, None), options
    default = run("evaluate", labelled.path)
    assert "stored in" in default.out and "in place of" not in default.out
    before = stored()
    assert before is not None
    told = json.loads(run("evaluate", labelled.path, "--k", "2", "--json").out)
    assert (told["stored"], stored()) == (False, before)
    ran = run("evaluate", labelled.path, "--k", "2", "--seconds-per-pair", 4, "--store")
    assert "in place of one with the default options" in " ".join(ran.out.split())
    assert stored() != before
    same = run("evaluate", labelled.path, "--k", "2", "--seconds-per-pair", 4)  # the options that are stored
    assert "stored in" in same.out and "not stored" not in same.out
    assert "one with --k 2 --seconds-per-pair 4" in " ".join(run("evaluate", labelled.path).out.split())
    refused = run("evaluate", labelled.path, "--with", "colour", "--store")
    assert refused.code == 2 and "results/ is about every encoder" in refused.err


def test_a_summary_that_cannot_be_read_is_made_again(labelled: WorkspaceFolder, run: Run) -> None:
    assert run("evaluate", labelled.path).code == 0
    summary = labelled.results_folder / "summary.json"
    for broken in ("{", '{"encoders": []}'):
        summary.write_text(broken)
        assert run("evaluate", labelled.path).code == 0
        assert json.loads(summary.read_text())["encoders"] == ["colour", "shape"]


def test_names_given_twice_and_names_with_brackets(tmp_path: Path, shapes_table: Path, run: Run) -> None:
    target = tmp_path / "my[old]shapes"
    made = run("new", target, shapes_table)
    assert made.code == 0
    assert "my[old]shapes" in made.out
    assert run("encode", target, "--with", "colour,colour", "--workers", 1).code == 0
    assert run("discover", target, "--with", "colour,colour", "--k", 2, "--n-queries", 4).code == 0
    assert not pl.read_parquet(WorkspaceFolder(target).pool_file, glob=False).is_duplicated().any()
    assert run("plan", "labels", target, "--with", "colour,colour", "--k", 2, "--n-queries", 4).code == 0
    assert "my[old]shapes" in run("status", target).out
    WorkspaceFolder(target).pool_file.write_bytes(b"damaged")
    damaged = run("status", target)
    assert (damaged.code, "cannot be read" in damaged.err) == (2, True)


def test_demo_does_not_touch_another_workspace(workspace: WorkspaceFolder, run: Run) -> None:
    refused = run("demo", workspace.path)
    assert refused.code == 2
    assert "holds a different workspace" in refused.err
    assert not workspace.vectors_folder.exists()


def test_every_command_shows_an_example(run: Run) -> None:
    listed = run("--help").out
    for command in ("new", "encode", "discover", "evaluate", "report", "status", "demo"):
        assert command in listed
        assert f"Example: likewise {command}" in run(command, "--help").out
    for group, commands in {
        "label": ("sheet", "import", "export", "consensus", "simulate"),
        "plan": ("labels", "compute"),
        "list": ("encoders", "readers", "measures", "extensions"),
        "bundle": ("benchmark", "leaderboard", "run", "encoder"),
    }.items():
        assert group in listed
        for command in commands:
            assert f"Example: likewise {group} {command}" in run(group, command, "--help").out


def test_the_help_is_one_screen_and_old_commands_name_the_new_ones(run: Run) -> None:
    lines = run("--help").out.splitlines()
    assert run().out.splitlines() == lines
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert sum(line.startswith("  ") for line in lines) <= 18
    for words, new in MOVED.items():
        told = run(*words)
        assert told.code == 2 and f"is now `likewise {new}`" in told.err
