"""The project's settings, and the log of what its owner did."""

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.models import LogEntry, ProjectSetting


@dataclass(frozen=True)
class Project:
    """What the owner decides. `experts_per_pair` None: every expert gets every pair."""

    name: str = "Visual similarity"
    guidelines: str = (
        "Look at both pictures. Would someone who likes the first one accept the second as looking alike?\n\n"
        "Go by what you see, not by what you know about the things shown. "
        "There is no right number of similar pairs.\n\n"
        "If a picture is broken or you really cannot decide, choose “cannot tell”. "
        "“Later” brings a pair back at the end."
    )
    paused: bool = False
    order_seed: int = 0
    grouped_by_query: bool = False
    experts_per_pair: int | None = None
    n_shares: int = 1  # with experts_per_pair: how many experts the work is split among
    graded: bool = False  # experts answer exact, similar, substitute or different instead of similar or not
    repeat_share: float = 0.05  # of the pairs are asked twice, to see whether an expert agrees with himself
    url: str = "http://127.0.0.1:8000"


def read_project(engine: Engine) -> Project:
    with read_transaction(engine) as connection:
        return load_project(connection)


def load_project(connection: Connection) -> Project:
    stored = {
        name: json.loads(value) for name, value in connection.execute(select(ProjectSetting.name, ProjectSetting.value))
    }
    return Project(**{field.name: stored[field.name] for field in fields(Project) if field.name in stored})


def change_project(engine: Engine, why: str | None = None, **changes: Any) -> Project:
    """Store the changed settings (and a line of the log); said again, nothing changes and nothing is logged."""
    with write_transaction(engine) as connection:
        before = load_project(connection)
        changed = replace(before, **changes)
        _check(changed)
        if changed == before:
            return changed
        for name in changes:
            write_setting(connection, name, asdict(changed)[name])
        if why:
            add_log_entry(connection, why)
    return changed


def _check(project: Project) -> None:
    if not 0.0 <= project.repeat_share <= 0.5:
        raise LikewiseError(f"{project.repeat_share:g} of the pairs cannot be repeated: give a share from 0 to 0.5.")
    if project.experts_per_pair is not None and project.experts_per_pair < 1:
        raise LikewiseError(f"{project.experts_per_pair} experts for each pair leave nobody to answer: give 1 or more.")
    if project.experts_per_pair is not None and project.experts_per_pair > project.n_shares:
        raise LikewiseError(
            f"{project.experts_per_pair} experts for each pair cannot come from {project.n_shares}: give more shares."
        )


def read_setting(connection: Connection, name: str) -> Any:
    value = connection.execute(select(ProjectSetting.value).where(ProjectSetting.name == name)).scalar_one_or_none()
    return None if value is None else json.loads(value)


def write_setting(connection: Connection, name: str, value: Any) -> None:
    connection.execute(delete(ProjectSetting).where(ProjectSetting.name == name))
    connection.execute(insert(ProjectSetting), {"name": name, "value": json.dumps(value)})


def add_log_entry(connection: Connection, what: str) -> None:
    """Write down what was done; lines are only ever added."""
    connection.execute(insert(LogEntry), {"time": store_time_now(), "what": what})


def read_log(engine: Engine, most: int = 200) -> list[dict[str, str]]:
    """The latest lines, newest first."""
    with read_transaction(engine) as connection:
        found = connection.execute(select(LogEntry.time, LogEntry.what).order_by(LogEntry.id.desc()).limit(most))
        return [{"time": time, "what": what} for time, what in found]
