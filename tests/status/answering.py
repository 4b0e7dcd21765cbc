"""Experts who answer on the site, and what `likewise status` says afterwards."""

import uuid
from collections.abc import Callable

from sqlalchemy import Engine, select

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.events import SubmittedAnswer, add_answers
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.models import Image, Pair
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.status import workspace_status
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder


def same_shape(query: str, candidate: str) -> bool:
    return query.split("/")[0] == candidate.split("/")[0]


def same_colour(query: str, candidate: str) -> bool:
    return query.split("/")[1].split("-")[0] == candidate.split("/")[1].split("-")[0]


def answer_all(engine: Engine, name: str, alike: Callable[[str, str], bool]) -> int:
    """An invited expert answers every pair of the queue, as a browser would send it."""
    invite_expert(engine, name)
    expert = next(one.id for one in read_experts(engine) if one.name == name)
    pairs, _ = next_pairs(engine, expert, 1000)
    with read_transaction(engine) as connection:
        images = {row.id: row.key for row in connection.execute(select(Image.id, Image.key))}
        keys = {
            row.id: (images[row.query_image], images[row.candidate_image])
            for row in connection.execute(select(Pair.id, Pair.query_image, Pair.candidate_image))
        }
    answers = [
        SubmittedAnswer(
            str(uuid.uuid4()), pair.pair, "similar" if alike(*keys[pair.pair]) else "not similar", None, 1500
        )
        for pair in pairs
    ]
    assert len(add_answers(engine, expert, answers).accepted) == len(answers)
    return len(answers)


def open_site(workspace: WorkspaceFolder, url: str | None = None) -> Engine:
    """The site's own database, its pairs dealt out; without hidden repeats."""
    engine: Engine = create_app(SiteSettings(workspace, url)).state.site.engine
    change_project(engine, repeat_share=0.0)
    return engine


def states(workspace: WorkspaceFolder) -> dict[str, str]:
    return {part.name: part.state for part in workspace_status(workspace).parts}
