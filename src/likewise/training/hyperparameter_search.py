"""Bayesian search of one method's hyper-parameters: Optuna's Gaussian process, the mean fold MAP@R as its objective.

Trials live in a database (SQLite or PostgreSQL), so a search can be stopped, continued and shared.  Before every
question the sampler is made anew with a seed that depends only on how many trials are finished: with one worker, a
search that was killed and continued asks exactly what an undisturbed one asks.  A trial that failed by itself counts,
as bad as the worst one, or its question would be asked again; one that a killed process left running does not.
"""

import os
import socket
import sqlite3
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.training.context import CheckConfig, FoldTask, TaskRunner, run_fold
from likewise.training.custom_methods import find_method
from likewise.training.methods import LossMethod, SearchRange
from likewise.training.seeds import derive_seed
from likewise.workspace import discard_result, write_atomically

N_STARTUP_TRIALS = 10  # before the model of the objective has something to say; at most half of all
STALE_AFTER = timedelta(hours=24)  # a trial of another machine without news since
POLL_SECONDS = 1.0
OUTCOME = "outcome"


@dataclass(frozen=True)
class Trial:
    """One point that was tried; `map_at_r` is None where it failed. How long it took stands in the database alone."""

    method: str
    index: int
    params: dict[str, float]
    map_at_r: float | None
    fold_values: tuple[float, ...]
    fold_steps: tuple[int, ...]
    seed: int
    failure: str


def search_hyperparameters(
    config: CheckConfig,
    method_name: str,
    storage: str,
    run: str,
    seed: int,
    runner: TaskRunner,
    on_progress: ProgressCallback | None = None,
) -> list[Trial]:
    """Try until the plan's number of trials is finished, here or by others; all trials in their order.

    A search that was finished before does not report progress: it says nothing about how long the others will take.
    """
    method, n_trials = find_method(method_name), config.plan.n_trials
    if not method.ranges:
        n_trials = 1  # nothing to search
    with open_study(storage, f"{run}/{method_name}") as study:
        fail_stale_trials(study)
        n_before = len(finished_trials(study))
        while True:
            finished = finished_trials(study)
            if on_progress and n_before < n_trials:
                on_progress(describe_progress(method_name, finished, n_trials), len(finished), n_trials)
            n_running = sum(trial.state.name == "RUNNING" for trial in study.get_trials(deepcopy=False))
            if len(finished) + n_running < n_trials:
                _run_trial(study, config, method, seed, len(finished) + n_running, runner)
            elif n_running:  # by other workers
                time.sleep(POLL_SECONDS)
                fail_stale_trials(study)
            else:
                return [make_trial(method_name, each) for each in finished[:n_trials]]


@contextmanager
def open_study(storage: str, name: str) -> Iterator[Any]:
    """The trials of one method in a database, which is closed again."""
    optuna = import_optional("optuna", "likewise train")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    opened = open_storage(storage)
    try:
        yield optuna.create_study(storage=opened, study_name=name, direction="maximize", load_if_exists=True)
    finally:
        opened.remove_session()
        opened.engine.dispose()


def open_storage(storage: str) -> Any:
    optuna = import_optional("optuna", "likewise train")
    url = storage if "://" in storage else f"sqlite:///{Path(storage).resolve()}"
    url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        create_database(Path(url.removeprefix("sqlite:///")))
    settings: dict[str, Any] = {}
    if url.startswith("sqlite:///"):  # the file is opened here: SQLAlchemy would take `?` in its path for a question
        file, url = url.removeprefix("sqlite:///"), "sqlite:///search.db"
        settings["creator"] = partial(sqlite3.connect, file, timeout=60, check_same_thread=False)
    try:
        return optuna.storages.RDBStorage(url, engine_kwargs=settings)
    except Exception as error:  # of SQLAlchemy, the driver or Optuna
        first = str(error).split("\n")[0]
        raise LikewiseError(f"the search cannot be stored in {storage} ({first}): check the address.") from error


def create_database(path: Path) -> None:
    """A database without trials, all of its tables and indexes or none.

    Made step by step in its place, and ended between a table and its index, it would hold a search twice.
    """
    optuna = import_optional("optuna", "likewise train")
    with TemporaryDirectory() as folder:
        made = Path(folder) / "search.db"
        storage = optuna.storages.RDBStorage(
            "sqlite:///search.db", engine_kwargs={"creator": partial(sqlite3.connect, made, check_same_thread=False)}
        )
        storage.remove_session()
        storage.engine.dispose()
        write_atomically(path, lambda file: discard_result(file.write(made.read_bytes())))


def _run_trial(study: Any, config: CheckConfig, method: LossMethod, seed: int, index: int, runner: TaskRunner) -> None:
    ranges, trial_seed = optuna_distributions(method.ranges), derive_seed(seed, "trial", index)
    params = suggest_params(study, ranges, derive_seed(seed, method.name, index), config.plan.n_trials)
    trial = begin_trial(study, params, ranges, {"worker": worker_id(), "index": index, "seed": trial_seed})
    started = time.perf_counter()
    tasks = [
        FoldTask(config, method.name, dict(trial.params), fold, derive_seed(trial_seed, fold))
        for fold in range(config.plan.n_folds)
    ]
    folds = runner(run_fold, tasks)
    outcome = {
        "fold_values": [None if each.failure else each.map_at_r for each in folds],
        "fold_steps": [each.step for each in folds],
        "seconds": time.perf_counter() - started,
        "failure": next((each.failure for each in folds if each.failure), ""),
    }
    trial.set_user_attr(OUTCOME, outcome)  # all of it in one write: a trial has an outcome, or it has none
    tell_outcome(study, trial.number, outcome)


def begin_trial(study: Any, params: dict[str, float], ranges: dict[str, Any], notes: dict[str, Any]) -> Any:
    """A running trial with its parameters and notes, all in one write: none is without the process that runs it."""
    optuna = import_optional("optuna", "likewise train")
    running = optuna.trial.TrialState.RUNNING
    study.add_trial(optuna.trial.create_trial(state=running, params=params, distributions=ranges, user_attrs=notes))
    mine = [trial for trial in study.get_trials(deepcopy=False, states=(running,)) if trial.user_attrs == notes]
    return optuna.trial.Trial(study, mine[-1]._trial_id)


def tell_outcome(study: Any, number: int, outcome: Mapping[str, Any]) -> None:
    """Close a trial by what it found."""
    optuna = import_optional("optuna", "likewise train")
    if outcome["failure"]:
        study.tell(number, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(number, float(np.mean(outcome["fold_values"])))


def trial_outcome(trial: Any) -> dict[str, Any] | None:
    """What a trial found; None where its process ended before. Earlier versions noted the parts one by one."""
    found: dict[str, Any] = trial.user_attrs.get(OUTCOME) or {"failure": ""} | trial.user_attrs
    return found if {"fold_values", "fold_steps", "seconds"} <= found.keys() else None


def suggest_params(study: Any, ranges: dict[str, Any], seed: int, n_trials: int) -> dict[str, float]:
    """What to try next, given all that is known; trials of other workers are taken to be as good as the mean."""
    optuna = import_optional("optuna", "likewise train")
    known = [trial for trial in study.get_trials(deepcopy=False) if trial.params.keys() == ranges.keys()]
    values = [trial.value for trial in known if trial.value is not None]
    imputed = {"RUNNING": float(np.mean(values)) if values else None, "FAIL": min(values, default=0.0)}
    with ignore_experimental_warnings():
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=min(N_STARTUP_TRIALS, n_trials // 2))
    known_study = optuna.create_study(direction="maximize", sampler=sampler)
    for trial in known:
        value = trial.value if trial.value is not None else imputed[trial.state.name]
        if value is not None and (trial.state.name != "FAIL" or trial_outcome(trial) is not None):
            known_study.add_trial(optuna.trial.create_trial(params=trial.params, distributions=ranges, value=value))
    params: dict[str, float] = known_study.ask(ranges).params
    return params


@contextmanager
def ignore_experimental_warnings() -> Iterator[None]:
    """Optuna warns of what may change in a later version; ours is chosen."""
    optuna = import_optional("optuna", "likewise train")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield


def optuna_distributions(ranges: Mapping[str, SearchRange]) -> dict[str, Any]:
    optuna = import_optional("optuna", "likewise train")
    return {
        name: optuna.distributions.IntDistribution(int(each.low), int(each.high), log=each.log)
        if each.integer
        else optuna.distributions.FloatDistribution(each.low, each.high, log=each.log)
        for name, each in ranges.items()
    }


def finished_trials(study: Any) -> list[Any]:
    """Complete ones and those that failed by themselves, in the order in which they were asked."""
    ended = [
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.name in ("COMPLETE", "FAIL") and trial_outcome(trial) is not None
    ]
    return sorted(ended, key=lambda trial: (trial.user_attrs["index"], trial.number))


def describe_progress(method: str, finished: Sequence[Any], n_trials: int) -> str:
    best = best_objective(finished)
    value = "" if best is None else f", best {100 * best:.1f}"
    return f"{method}: trial {min(len(finished) + 1, n_trials)} of {n_trials}{value}"


def best_objective(trials: Sequence[Any]) -> float | None:
    return max((trial.value for trial in trials if trial.value is not None), default=None)


def make_trial(method: str, trial: Any) -> Trial:
    attributes, outcome = trial.user_attrs, trial_outcome(trial)
    assert outcome is not None  # it is one of `finished_trials`
    return Trial(
        method,
        attributes["index"],
        dict(trial.params),
        trial.value,
        tuple(float("nan") if value is None else value for value in outcome["fold_values"]),
        tuple(outcome["fold_steps"]),
        attributes["seed"],
        outcome["failure"],
    )


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """The first of the best; None when every trial failed."""
    worked = [trial for trial in trials if trial.map_at_r is not None]
    return max(worked, key=lambda trial: (trial.map_at_r, -trial.index)) if worked else None


def worker_id() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def fail_stale_trials(study: Any) -> None:
    """Close the trials of workers that are gone: a process of this machine that ended, or silence for a day.

    One that had found its outcome counts with it, as if its process had lived a moment longer.
    """
    optuna = import_optional("optuna", "likewise train")
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        if _is_stale(trial):
            if outcome := trial_outcome(trial):
                tell_outcome(study, trial.number, outcome)
            else:
                study.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def _began_long_ago(trial: Any, long: timedelta) -> bool:
    """By a clock that may have been set back since (in autumn it is, by an hour): then it began in the future."""
    return bool(trial.datetime_start and abs(datetime.now() - trial.datetime_start) > long)


def _is_stale(trial: Any) -> bool:
    host, _, process = str(trial.user_attrs.get("worker", "")).rpartition(":")
    if host and host != socket.gethostname():
        return _began_long_ago(trial, STALE_AFTER)
    if not host:  # killed between the question and its first note, or another worker is just about to write it
        return _began_long_ago(trial, timedelta(seconds=2))
    if int(process) == os.getpid():
        return True  # an earlier search of this very process was interrupted
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
