"""The search: killed and continued it gives the same table; a loss without numbers is one failed trial."""

import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import event

from likewise.training.context import CheckConfig, FoldTask, run_fold
from likewise.training.hyperparameter_search import (
    begin_trial,
    best_trial,
    fail_stale_trials,
    finished_trials,
    open_study,
    optuna_distributions,
    search_hyperparameters,
)
from likewise.training.methods import METHODS_BY_NAME
from likewise.training.network import set_training_mode
from likewise.training.plan import make_plan
from likewise.training.reality_check import prepare_run, run_reality_check
from likewise.training.seeds import derive_seed
from likewise.training.tables import t_interval
from likewise.training.trainer import train_fold
from likewise.workspace import WorkspaceFolder
from tests.databases import empty_postgresql

from .check_toy import check_command, toy_fold_data, toy_plan, toy_workspace

METHODS = "cosface"


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


def n_finished(database: Path) -> int:
    """Trials that are told; looked up without Optuna, which would rather make the tables itself."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT COUNT(*) FROM trials WHERE state = 'COMPLETE'").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_a_trial_is_never_without_the_process_that_runs_it(tmp_path: Path) -> None:
    """Ended at any moment, what begun is known to be nobody's any more, without waiting for a while to pass."""
    ranges, database, seen = optuna_distributions(METHODS_BY_NAME[METHODS].ranges), tmp_path / "search.db", list[int]()

    def look(_: object) -> None:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            named = "SELECT trial_id FROM trial_user_attributes WHERE key = 'worker'"
            seen.append(opened.execute(f"SELECT COUNT(*) FROM trials WHERE trial_id NOT IN ({named})").fetchone()[0])

    with open_study(f"sqlite:///{database}", "search") as study:
        params = {name: float(each.low) for name, each in METHODS_BY_NAME[METHODS].ranges.items()}
        event.listen(study._storage._backend.engine, "commit", look)
        trial = begin_trial(study, params, ranges, {"worker": "here:1", "index": 0, "seed": 5})
        look(None)
        assert trial.params == params
        assert trial.user_attrs["index"] == 0
    assert len(seen) > 1
    assert set(seen) == {0}


def test_the_database_of_a_search_is_there_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the index that keeps names apart, a search would be held twice."""
    database = tmp_path / "search.db"

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("likewise.training.hyperparameter_search.write_atomically", end)
        with pytest.raises(KeyboardInterrupt), open_study(f"sqlite:///{database}", "search"):
            pass
    assert not database.exists()
    for _ in range(2):
        with open_study(f"sqlite:///{database}", "search") as study:
            assert study.get_trials() == []
    with closing(sqlite3.connect(database)) as opened:
        assert opened.execute("SELECT COUNT(*) FROM studies").fetchone() == (1,)


def test_a_trial_that_began_in_the_future_is_not_waited_for(tmp_path: Path) -> None:
    """Its process was killed, and the clock was set back: by the clock it has not begun yet."""
    with open_study(f"sqlite:///{tmp_path}/search.db", "search") as study:
        study.ask()
    with closing(sqlite3.connect(tmp_path / "search.db")) as opened, opened:
        opened.execute("UPDATE trials SET datetime_start = datetime('now', '+1 day')")
    with open_study(f"sqlite:///{tmp_path}/search.db", "search") as study:
        fail_stale_trials(study)
        assert [trial.state.name for trial in study.get_trials()] == ["FAIL"]


def test_killed_and_continued_gives_the_same_table(tmp_path: Path) -> None:
    undisturbed = toy_workspace(tmp_path)
    broken = WorkspaceFolder(tmp_path / "broken")
    shutil.copytree(undisturbed.path, broken.path)
    process = subprocess.Popen(check_command(broken, METHODS), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    folder = broken.path / "runs" / "check"
    while process.poll() is None and n_finished(folder / "search.db") < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was done before it could be killed"
    assert not (folder / "accuracy.parquet").exists()
    for workspace in (undisturbed, broken):
        run_reality_check(workspace, METHODS.split(","), toy_plan(), here, column="kind", encoder="toy")
    for table in ("trials", "accuracy", "differences"):
        one, other = (each.path / "runs" / "check" / f"{table}.parquet" for each in (undisturbed, broken))
        assert pl.read_parquet(one).equals(pl.read_parquet(other)), table


def test_a_loss_that_is_not_a_number_fails_its_trial_and_the_search_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fickle.py").write_text(
        "import torch\n"
        "def loss(mood=0.0):\n"
        "    def compute(embeddings, labels):\n"
        "        if mood > 0.8:\n"
        "            raise RuntimeError('not today')\n"
        "        return embeddings.sum() * (float('nan') if mood > 0.5 else 1.0)\n"
        "    return compute\n"
    )
    monkeypatch.chdir(tmp_path)
    workspace = toy_workspace(tmp_path / "w")
    plan = make_plan("quick", trials=7, steps=4, evaluate_every=2, dim=4)
    config = CheckConfig(workspace.path, "kind", "toy", plan)
    reported: list[int] = []
    trials = search_hyperparameters(
        config,
        "fickle:loss?mood=0..1",
        str(tmp_path / "s.db"),
        "r",
        3,
        here,
        lambda stage, done, total: reported.append(done),
    )
    assert len(trials) == 7 and reported[-1] == 7
    for trial in trials:
        assert (trial.map_at_r is None) == (trial.params["mood"] > 0.5)
        if trial.params["mood"] > 0.5:
            assert ("not today" if trial.params["mood"] > 0.8 else "were not numbers") in trial.failure
    failed = [trial.params["mood"] for trial in trials if trial.map_at_r is None]
    assert failed and len(set(failed)) == len(failed)  # a failed question is not asked again
    best = best_trial(trials)
    assert best is not None and best.params["mood"] <= 0.5
    assert best_trial([trial for trial in trials if trial.map_at_r is None]) is None


def test_the_same_seed_gives_the_same_weights() -> None:
    plan = make_plan("quick", steps=20, evaluate_every=10, lr=1e-3, dim=8)
    params = {"loss_lr": 1e-2, "margin": 0.3, "scale": 30.0}
    first, again, other = (
        train_fold(toy_fold_data(dim=8), METHODS_BY_NAME["cosface"], params, plan, seed).weights for seed in (5, 5, 6)
    )
    assert first is not None and again is not None and other is not None
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["head.weight"], other["head.weight"])
    assert derive_seed(0, "trial", 1) == derive_seed(0, "trial", 1) != derive_seed(0, "trial", 2)


def test_a_whole_trunk_is_trained_and_keeps_its_batch_statistics(tmp_path: Path) -> None:
    import torch

    plan = make_plan("quick", trunk="small", steps=20, evaluate_every=20, lr=1e-3, dim=8)
    config = CheckConfig(toy_workspace(tmp_path).path, "kind", "small", plan)
    task = FoldTask(config, "triplet", {"margin": 0.1}, 2, 3, keep_weights=True)  # far from perfect before training
    trained, untouched = run_fold(task), run_fold(replace(task, config=replace(config, plan=replace(plan, lr=1e-12))))
    assert trained.step == 20 and trained.weights is not None and untouched.weights is not None
    moved = np.abs(trained.weights["trunk.0.weight"] - untouched.weights["trunk.0.weight"]).max()
    assert moved > 1e-3
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Dropout())
    set_training_mode(network)
    network(torch.randn(8, 3, 5, 5) + 7.0)
    assert torch.equal(network[1].running_mean, torch.zeros(4))  # type: ignore[arg-type]
    assert network[2].training


@pytest.mark.slow
def test_two_workers_share_one_search_in_postgresql(tmp_path: Path) -> None:
    workspace, url, seen = toy_workspace(tmp_path), empty_postgresql(), []
    command = check_command(workspace, "triplet", "--search-only", "--storage", url)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as other:
        config, run, chosen = prepare_run(workspace, ["triplet"], toy_plan(), "kind", "toy", "check", 0)

        def wait_for_company(stage: str, done: int, total: int) -> None:
            seen.append(done)
            while done == 1 and other.poll() is None and n_finished_there() < 2:
                time.sleep(0.05)

        def n_finished_there() -> int:
            with open_study(url, "check/triplet") as study:
                return len(finished_trials(study))

        trials = search_hyperparameters(config, "triplet", url, run.name, 0, here, wait_for_company)
        assert other.wait() == 0
    with open_study(url, "check/triplet") as study:
        workers = {trial.user_attrs["worker"] for trial in finished_trials(study)}
    assert len(trials) == toy_plan().n_trials and len(workers) == 2
    assert seen[-1] == toy_plan().n_trials and [each.name for each in chosen] == ["triplet"]


def test_the_interval_of_reruns_is_students() -> None:
    from statsmodels.stats.weightstats import DescrStatsW

    values = np.array([0.21, 0.22, 0.20, 0.24, 0.215])
    assert t_interval(values) == pytest.approx(DescrStatsW(values).tconfint_mean(alpha=0.05))
    assert t_interval(values[:1]) == (None, None)
