"""`likewise train check`: every method searched, trained again and measured under one protocol (Reality Check, sec. 3).

All searches come first; only then the test classes are opened.  Whatever is done already is not done again, so the
same command continues a run that was stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.families.run_files import SETTINGS, read_run
from likewise.errors import LikewiseError
from likewise.training.card import card
from likewise.training.claims import read_claims, write_claims
from likewise.training.discovery import discovery_of
from likewise.training.export import export_onnx, export_winner
from likewise.training.extras import best_values_table, checked_runs, curve_table, importance_table
from likewise.training.final import PRETRAINED, evaluate_pretrained, evaluate_rerun, train_again
from likewise.training.methods import Method
from likewise.training.network import SMALL
from likewise.training.other_methods import find_methods
from likewise.training.plan import Plan
from likewise.training.relative import relative_table
from likewise.training.runs import Run, begin, run_of
from likewise.training.search import Heard, Trial, best_of, search
from likewise.training.stage import Runner, Setting, Stage, open_stage
from likewise.training.tables import accuracy_table, difference_table, reruns_of, trial_table
from likewise.workspace import Workspace, read_json, write_json, write_parquet, write_text

PAPERS_TRUNK = "BN-Inception with ImageNet weights"
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Checked:
    """What a check found; the same is in the run's folder."""

    run: Run
    accuracy: pl.DataFrame
    differences: pl.DataFrame
    summary: dict[str, Any]


def check(
    workspace: Workspace,
    methods: Sequence[str],
    plan: Plan,
    runner: Runner,
    *,
    column: str = "item",
    encoder: str | None = None,
    name: str = "check",
    seed: int = 0,
    storage: str | None = None,
    claims: Path | None = None,
    beside: Sequence[Path] = (),
    on_progress: Listener | None = None,
) -> Checked:
    """Search, train again, measure, compare; everything is written to `runs/<name>`.

    `beside` are finished checks on other data, to see how the best hyper-parameters move.
    """
    cited, others = read_claims(claims) if claims else None, checked_runs(beside)
    setting, run, chosen = prepare(workspace, methods, plan, column, encoder, name, seed)
    trials = search_all(setting, run, chosen, seed, storage, runner, on_progress)
    stage = open_stage(setting)
    best = {method.name: best_of(trials[method.name]) for method in chosen}
    stage.door.open_test()  # from here on, and nowhere else
    dims = measure(stage, run, best, seed, runner, on_progress)
    worked = [method.name for method in chosen if best[method.name]]
    found = {each: reruns_of(run, each, plan.n_reruns) for each in (PRETRAINED, *worked)}
    accuracy, differences = accuracy_table(found), difference_table(found, seed)
    summary = summarise(stage, run, chosen, trials, best, dims) | {"encoder_made": made_encoder(run)}
    made = read_run(run.encoder_folder) if summary["encoder_made"] else None
    summary["discovery"] = discovery_of(stage, made, seed) if made else None
    where = storage or str(run.search_file)
    tables = {
        "accuracy": accuracy,
        "differences": differences,
        "curves": curve_table(run, worked, plan.n_reruns),
        "importance": importance_table(where, run, worked),
        "best_values": best_values_table(run, summary, others),
        "relative": relative_table(accuracy),
    }
    for each, table in tables.items():
        write_parquet(table, run.table(each))
    if cited:
        write_claims(cited, run.path / "claims.json")
    if made:
        write_text(card(summary, accuracy), run.card_file)
    write_json(summary, run.summary_file)
    return Checked(run, accuracy, differences, summary)


def prepare(
    workspace: Workspace, methods: Sequence[str], plan: Plan, column: str, encoder: str | None, name: str, seed: int
) -> tuple[Setting, Run, list[Method]]:
    """The run's folder and settings; a sentence where something is missing."""
    chosen = find_methods(methods)
    setting = Setting(workspace.path.resolve(), column, trunk_encoder(workspace, plan, encoder), plan)
    run = run_of(workspace, name)
    open_stage(setting)  # whatever is wrong with the data is said before anything is written
    begin(run, setting, [each.name for each in chosen], seed, catalog_fingerprint(read_catalog(workspace)))
    return setting, run, chosen


def trunk_encoder(workspace: Workspace, plan: Plan, encoder: str | None) -> str:
    """The vectors or the network that a trunk needs."""
    if plan.trunk == "small":
        if encoder and encoder.partition("?")[0] != SMALL:
            raise LikewiseError(
                "the small trunk starts from nothing: leave --with out (or say its pictures' size, small?size=32), or "
                "use --trunk whole."
            )
        return encoder or SMALL
    if encoder:
        return encoder
    there = workspace.encoders()
    if plan.trunk == "frozen" and len(there) == 1:
        return there[0]
    what = f"vectors ({', '.join(there) or 'none yet: run `likewise encode`'})" if plan.trunk == "frozen" else "network"
    raise LikewiseError(f"which {what} should be trained on? Name one with --with.")


def search_all(
    setting: Setting,
    run: Run,
    methods: Sequence[Method],
    seed: int,
    storage: str | None,
    runner: Runner,
    on_progress: Listener | None = None,
) -> dict[str, list[Trial]]:
    """The trials of every method, and their table."""
    trials: dict[str, list[Trial]] = {}
    n_all = len(methods) * (setting.plan.n_trials + setting.plan.n_reruns)
    for place, method in enumerate(methods):

        def hear(heard: Heard, before: int = place * setting.plan.n_trials) -> None:
            if on_progress:
                best = "" if heard.best is None else f", best {100 * heard.best:.1f}"
                what = f"{heard.method}: trial {min(heard.n_finished + 1, heard.n_trials)} of {heard.n_trials}{best}"
                on_progress(what, before + heard.n_finished, n_all)

        where = storage or str(run.search_file)
        trials[method.name] = search(setting, method.name, where, run.name, seed, runner, hear)
    write_parquet(trial_table([each for several in trials.values() for each in several]), run.table("trials"))
    return trials


def measure(
    stage: Stage,
    run: Run,
    best: dict[str, Trial | None],
    seed: int,
    runner: Runner,
    on_progress: Listener | None = None,
) -> dict[str, int]:
    """Every rerun that is not there yet, and the pretrained trunk; the dimensions left of the latter."""
    plan = stage.setting.plan
    done, n_all = len(best) * plan.n_trials, len(best) * (plan.n_trials + plan.n_reruns)
    if not run.rerun(PRETRAINED, 0).exists():
        evaluate_pretrained(stage, run)
    for method, trial in best.items():
        for rerun in range(plan.n_reruns):
            done += 1
            if trial is None or run.rerun(method, rerun).exists():
                continue
            if on_progress:
                on_progress(f"{method}: rerun {rerun + 1} of {plan.n_reruns}", done - 1, n_all)
            folds = train_again(stage, method, trial.params, rerun, seed, runner)
            if rerun == 0 and method == winner(best):
                export_winner(stage, run, method, folds)
            evaluate_rerun(stage, run, method, rerun, folds)
    if on_progress:
        on_progress("done", n_all, n_all)
    dims: dict[str, int] = read_json(run.curves(PRETRAINED, 0))
    return dims


def summarise(
    stage: Stage,
    run: Run,
    methods: Sequence[Method],
    trials: dict[str, list[Trial]],
    best: dict[str, Trial | None],
    dims: dict[str, int],
) -> dict[str, Any]:
    """The facts around the tables."""
    split, plan = stage.split, stage.setting.plan
    won = winner(best)
    return {
        "run": run.name,
        "workspace": Path(stage.setting.workspace).name,
        "column": stage.setting.column,
        "trunk": plan.trunk,
        "encoder": stage.setting.encoder,
        "trunk_dim": stage.trunk_dim,
        "papers_trunk": PAPERS_TRUNK,
        "plan": asdict(plan) | {"lr": plan.rate},
        "n_images": len(split.images),
        "n_without_class": split.n_without_class,
        "n_classes": len(split.classes),
        "n_test_classes": len(split.classes) - len(split.classes) // 2,
        "n_test_images": len(split.test),
        "folds": [
            {
                "train_images": len(fold.train),
                "train_classes": len(set(split.labels[fold.train])),
                "validation_images": len(fold.validation),
                "validation_classes": len(set(split.labels[fold.validation])),
            }
            for fold in split.folds
        ],
        "pretrained_dims": dims,
        "winner": won,
        "methods": {
            method.name: {
                "title": method.title,
                "year": method.year,
                "kind": method.kind,
                "best": None if (trial := best[method.name]) is None else asdict(trial),
                "n_trials": len(trials[method.name]),
                "n_failed": sum(each.map_at_r is None for each in trials[method.name]),
            }
            for method in methods
        },
    }


def made_encoder(run: Run) -> dict[str, Any] | None:
    """What the winner can be used as."""
    if not (run.encoder_folder / SETTINGS).exists():
        return None
    encoder = read_run(run.encoder_folder)
    problem = "" if (run.encoder_folder / "model.onnx").exists() else export_onnx(encoder)
    return {"spec": f"run:{run.encoder_folder}", "dim": encoder.dim, "no_onnx_because": problem}


def winner(best: dict[str, Trial | None]) -> str | None:
    """The method with the best validation MAP@R: choosing by the test would be feedback from it."""
    worked = {method: trial.map_at_r for method, trial in best.items() if trial and trial.map_at_r is not None}
    return max(worked, key=lambda method: worked[method]) if worked else None
