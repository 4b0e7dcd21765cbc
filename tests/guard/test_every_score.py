"""Every command that scores passes the guard, for every way to derive an encoder that knows the answers.

The commands are read from the app: one that is in neither list below fails here, and has to say what guards it.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

import likewise as lw
from likewise.api.workspace import method_names
from likewise.cli.app import app
from likewise.encoders.storage.exporting import export_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.stored import unbiased_encoders
from likewise.outfits.bundle import write_test
from likewise.outfits.polyvore import items_by_name
from likewise.outfits.protocol import OutfitQuestion
from likewise.workspace import read_json
from tests.cli.conftest import Run, run
from tests.guard.world import CLEAN, World, make_world

__all__ = ["run"]

SCORING = {
    "evaluate": "test_evaluate_…, test_classes_…, test_triplets_…, test_a_bundle_…",
    "report": "test_the_report_…",
    "gate": "test_a_gate_refuses_…",
    "label status": "test_the_stability_of_the_order_…",
    "label serve": "the same function as label status",
    "label goal": "tests/evaluation/test_stopping.py: a model that learned these labels is not compared",
    "bundle leaderboard": "test_a_leaderboard_…",
    "bundle mteb-results": "test_mteb_results_refuse_it",
    "train check": "test_train_check_…",
    "train perceptual": "test_train_perceptual_…",
    "train lessons": "test_lessons_leave_it_out",
    "outfits score": "test_outfits_score_…",
    "outfits benchmark": "test_outfits_benchmark_…",
    "outfits checkpoints": "tests/guard/test_outfit_models.py",
    "outfits train-weakest": "trains without the items of its tests, and screens what it trained",
    "outfits complete": "tests/outfits/test_looks.py: a look passes the guard",
    "outfits swap": "opens looks as complete does",
    "outfits rate": "tests/outfits/test_looks.py: a look passes the guard",
    "outfits order": "tests/outfits/test_training.py: marked models have no place",
    "condition evaluate": "tests/guard/test_conditions.py",
    "condition catalog": "tests/guard/test_conditions.py",
    "condition study": "tests/guard/test_conditions.py",
    "condition submit": "tests/guard/test_conditions.py",
    "condition train": "tests/guard/test_conditions.py",
    "condition two-tower": "tests/guard/test_conditions.py",
    "demo": "runs evaluate and report",
}
NOT_SCORING = {
    "new", "update", "encode", "discover", "status", "search", "explore",
    "label invite", "label revoke", "label settings", "label pause", "label resume", "label add-pairs",
    "label judge", "label remove-votes", "label export", "label sheet", "label import", "label consensus",
    "label simulate", "label backup", "label restore",
    "plan labels", "plan compute",
    "list encoders", "list readers", "list measures", "list extensions", "list lineage",
    "bundle benchmark", "bundle run", "bundle vectors", "bundle encoder",
    "condition ask", "condition mine", "condition train-text",
    "condition build", "condition audit", "condition verify", "condition verified",
    "condition crops",
    "outfits make-test", "outfits factors", "outfits wardrobe-test", "outfits show", "outfits models", "outfits train",
    "outfits rules", "outfits generate", "outfits check", "outfits stylists-test", "outfits import-test",
    "train finetune",
}  # fmt: skip
SCORING_METHODS = {"evaluate", "gate", "report", "train_check", "train_perceptual", "evaluate_conditions",
                   "train_two_tower", "train_combiner"}  # fmt: skip
OTHER_METHODS = {"new", "update", "status", "catalog", "vectors", "export_vectors", "encode", "search", "explore",
                 "discover", "labels", "import_votes", "import_vectors", "audit_template_set", "build_template_set",
                 "finetune", "generate_outfits", "train_outfit_model"}  # fmt: skip
WAYS = ("run", "pca", "whiten", "joined", "joined and reduced", "renamed", "half precision", "exported as .npz",
        "exported as .npy", "exported as .parquet", "exported as .safetensors")  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("guard"))


def commands(group: Any, path: tuple[str, ...] = ()) -> list[str]:
    if not hasattr(group, "list_commands"):
        return [" ".join(path)]
    context = get_command(app).make_context("likewise", [], resilient_parsing=True)
    return [
        name
        for each in group.list_commands(context)
        for name in commands(group.get_command(context, each), (*path, each))
    ]


def test_every_command_says_whether_it_scores() -> None:
    assert sorted(commands(get_command(app))) == sorted([*SCORING, *NOT_SCORING])


def test_every_method_of_a_workspace_says_whether_it_scores() -> None:
    assert set(method_names()) - SCORING_METHODS - OTHER_METHODS == set()
    assert set(method_names()) >= SCORING_METHODS


def test_every_way_is_there(world: World) -> None:
    assert tuple(world.derived) == WAYS


@pytest.fixture(scope="module")
def evaluated(world: World) -> dict[str, Any]:
    """What `evaluate` finds without names, and with the names of all."""
    both = {}
    for what, names in (("default", None), ("named", [*CLEAN, *world.derived.values()])):
        done = lw.Workspace(world.workspace.path).evaluate(names, store=None if names else True)
        both[what] = done
    return both


@pytest.mark.parametrize("way", WAYS)
def test_evaluate_leaves_it_out_or_marks_it(world: World, evaluated: dict[str, Any], way: str) -> None:
    name = world.derived[way]
    default, named = evaluated["default"], evaluated["named"]
    assert name not in set(default.table["encoder"]) and f"{name} learned from" in default.note
    assert named.table.filter(encoder=name)["learned"].all() and f"{name} † learned from" in named.note
    assert named.names.index(name) >= len(CLEAN)
    assert set(named.table.filter(~pl.col("learned"))["encoder"]) == set(CLEAN)


def test_evaluate_as_a_user_types_it(world: World, run: Run) -> None:
    shown = run("evaluate", world.workspace.path, "--with", "colour,components")
    assert shown.code == 0 and "Learned the answers †" in shown.out and "components † learned from" in shown.out
    told = json.loads(run("evaluate", world.workspace.path, "--protocol", "all", "--json").out)
    assert {row["encoder"] for row in told["results"]} == set(CLEAN)
    assert set(told["summary"]["lineage"]["learned_labels"]) >= set(world.derived.values())
    for table in told["tables"].values():
        assert not {row.get("encoder") for row in table} & set(world.derived.values())


def test_what_everything_learned_from_is_listed(world: World, run: Run) -> None:
    listed = json.loads(run("list", "lineage", world.workspace.path, "--json").out)
    told = {each["encoder"]: each["learned_from"] for each in listed}
    assert told["colour"] == []
    for name in world.derived.values():
        assert "train perceptual, labels of world: 40 images" in told[name]
    assert "pca=3&on=all, pictures of world: 40 images" in run("list", "lineage", world.workspace.path).out


def test_the_report_shows_only_clean_models_and_names_the_others(
    world: World, evaluated: dict[str, Any], run: Run
) -> None:
    assert evaluated and run("report", world.workspace.path).code == 0
    page = world.workspace.report_file.read_text(encoding="utf-8")
    assert 'data-encoder="colour"' in page and 'data-encoder="components"' not in page
    assert "components learned from" in page and 'id="lineage-notes"' in page


@pytest.mark.parametrize("way", WAYS)
def test_a_gate_refuses_it_as_the_old_and_as_the_new_model(world: World, way: str, run: Run) -> None:
    learned = world.derived[way]
    for old, new in (("colour", learned), (learned, "colour")):
        refused = run("gate", world.workspace.path, "--old", old, "--new", new, "--measure", "P@3")
        assert refused.code == 2 and f"{learned} learned from" in refused.err and "--half test" in refused.err
    assert not world.workspace.gate_folder.exists()


def test_mteb_results_refuse_it(world: World, run: Run, tmp_path: Path) -> None:
    learned = world.derived["pca"]
    command = ("bundle", "mteb-results", world.workspace.path, tmp_path / "results", "--task", "Shapes")
    refused = run(*command, "--with", learned)
    assert refused.code == 2 and f"{learned} learned from" in refused.err and not (tmp_path / "results").exists()
    assert run(*command).code == 0
    assert sorted(each.name for each in (tmp_path / "results").iterdir()) == sorted(CLEAN)


def test_the_stability_of_the_order_is_about_clean_models(world: World) -> None:
    assert unbiased_encoders(world.workspace) == sorted(CLEAN)


@pytest.mark.parametrize(("option", "what"), [("--classes", "item"), ("--classes", "category")])
def test_classes_leave_it_out_or_mark_it(world: World, run: Run, option: str, what: str) -> None:
    default = json.loads(run("evaluate", world.workspace.path, option, what, "--json").out)
    assert {row["encoder"] for row in default["retrieval"]} == set(CLEAN)
    names = ",".join([*CLEAN, *world.derived.values()])
    named = json.loads(run("evaluate", world.workspace.path, option, what, "--with", names, "--json").out)
    learned = {row["encoder"] for row in named["retrieval"] if row["learned"]}
    assert learned == set(world.derived.values())
    assert "components †" in run("evaluate", world.workspace.path, option, what, "--with", names).out


def test_triplets_leave_it_out_or_mark_it(world: World, run: Run) -> None:
    asked = ("evaluate", world.workspace.path, "--triplets", world.triplets, "--order", "anchor close far")
    assert {row["encoder"] for row in json.loads(run(*asked, "--json").out)} == set(CLEAN)
    names = ",".join([*CLEAN, *world.derived.values()])
    named = json.loads(run(*asked, "--with", names, "--json").out)
    assert {row["encoder"] for row in named if row["learned"]} == set(world.derived.values())


@pytest.fixture(scope="module")
def bundle(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from likewise.evaluation.bundles.bundle import make_bundle

    path = tmp_path_factory.mktemp("bundle") / "world.zip"
    make_bundle(world.workspace, path, title="World", licence="CC0-1.0")
    return path


@pytest.fixture(scope="module")
def exported(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("vectors")
    names = ["colour", *world.derived.values()]
    return {
        name: export_vectors(world.workspace, name, folder / f"{place}.npz").path for place, name in enumerate(names)
    }


def test_a_bundle_marks_it_anywhere(bundle: Path, exported: dict[str, Path], run: Run, tmp_path: Path) -> None:
    options = [option for name, file in exported.items() for option in ("--vectors", f"{name}={file}")]
    alone = np.load(exported["taught"])
    np.savez(tmp_path / "alone.npz", images=alone["images"], vectors=alone["vectors"])
    out = tmp_path / "results.parquet"
    done = run("evaluate", bundle, *options, "--vectors", tmp_path / "alone.npz", "--output", out, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    learned = {row["encoder"] for row in told["results"] if row["learned"]}
    assert learned == set(exported) - {"colour"}
    assert any("what alone learned from is not recorded" in note for note in told["notes"])
    page = tmp_path / "board.html"
    assert run("bundle", "leaderboard", page, out).code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("learned the answers: it has no rank") == len(learned)
    assert "taught † learned from" in text and "what alone learned from is not recorded" in text


def test_a_run_file_brings_it_along(world: World, bundle: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.run"
    assert (
        run("bundle", "run", world.workspace.path, file, "--with", "taught", "--candidates", "judged-pairs").code == 0
    )
    told = json.loads(run("evaluate", bundle, "--run", file, "--json").out)
    assert all(row["learned"] for row in told["results"])


@pytest.mark.parametrize("way", WAYS)
def test_train_check_refuses_a_trunk_that_knows_its_test_classes(world: World, run: Run, way: str) -> None:
    name = world.derived[way]
    done = run("train", "check", world.workspace.path, "--with", name, "--column", "item", "--name", f"c{way[0]}")
    assert done.code == 2 and f"{name} learned from" in done.err and "--half train" in done.err
    with pytest.raises(LikewiseError, match="learned from"):
        lw.Workspace(world.workspace.path).train_check(["contrastive"], column="item", encoder=name)


def test_lessons_leave_it_out(world: World, run: Run) -> None:
    few = ("--random-points", 200, "--column", "item", "--json")
    done = run("train", "lessons", world.workspace.path, *few)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert {row["encoder"] for row in told["trunks"]} == set(CLEAN)
    assert any("components learned from" in note for note in told["notes"])


@pytest.mark.parametrize("way", WAYS)
def test_train_perceptual_refuses_a_base_that_knows_the_answers(world: World, run: Run, way: str) -> None:
    name = world.derived[way]
    for more in ((), ("--triplets", world.triplets)):
        done = run("train", "perceptual", world.workspace.path, "--with", f"colour,{name}", *more)
        assert done.code == 2 and f"{name} learned from" in done.err
    with pytest.raises(LikewiseError, match="learned from"):
        lw.Workspace(world.workspace.path).train_perceptual(encoders=["colour", name])


@pytest.mark.parametrize("way", WAYS)
def test_outfits_benchmark_marks_it(world: World, run: Run, way: str) -> None:
    name = world.derived[way]
    models = [option for one in ("random", f"mean-cosine:{name}") for option in ("--model", one)]
    shown = run("outfits", "benchmark", world.workspace.path, *models)
    assert shown.code == 0 and f"mean-cosine:{name} † learned from" in shown.out
    stored = pl.read_parquet(world.workspace.results_folder / "outfits-test.parquet")["model"].unique()
    assert set(stored) == {"random", f"mean-cosine:{name} †"}


@pytest.mark.parametrize("spec", ["run:{run}", "colour+run:{run}", "run:{run}?dtype=float16"])
def test_outfits_score_marks_it(world: World, run: Run, tmp_path: Path, spec: str) -> None:
    items = items_by_name(pl.read_parquet(world.workspace.catalog_file))
    a, b, c, d = (items[f"item0{number}"] for number in range(4))
    question = OutfitQuestion("q", "AAT", (a, b), (c, d), 0, "Color", "warm tone", right=0)
    test, pictures = tmp_path / "taste.zip", world.workspace.root
    write_test(test, [question], lambda image: (pictures / image).read_bytes(), title="Taste", licence="CC0-1.0")
    model = f"mean-cosine:{spec.format(run=world.run)}"
    assert run("outfits", "score", test, "--model", model, "--model", "random", "--no-page").code == 0
    told = read_json(tmp_path / "taste-results" / "scores.json")
    assert {row["model"] for row in told["scores"]} == {"random", f"{model} †"}
    assert any(note.startswith(f"{model} † learned from") for note in told["notes"])
