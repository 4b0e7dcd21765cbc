"""Simulated people on the labelling site: they answer the stages of a test in the making, through the same store.

Only for the wardrobe, which knows what goes together. Everybody has a taste of their own (`Taste`).
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from sqlalchemy import Engine

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.experts import add_expert, invite_expert, read_experts
from likewise.labeling.store.models import GUEST
from likewise.labeling.store.questions import add_question_answers, read_questions
from likewise.outfits.builder import OutfitTestBuilder
from likewise.outfits.category_mapping import map_category
from likewise.outfits.stages import BuildStatus, advance_test_stages
from likewise.outfits.tables import outfits_from_table
from likewise.synthetic import Taste, sample_taste
from likewise.synthetic.outfits.taste_test import (
    judged,
    keep_value,
    rate_value,
    sample_crowd_member,
    simulated_answers,
    trained,
)
from likewise.synthetic.truth import is_wardrobe

BATCH_ROWS = 500
Judge = Callable[[Taste, np.random.Generator], dict[str, str]]


def simulate_test(builder: OutfitTestBuilder, engine: Engine, *, n_crowd: int = 50, seed: int = 0) -> BuildStatus:
    """Answer stage after stage until the crowd's questionnaire is closed; rounds that are not due yet end it early."""
    if not is_wardrobe(builder.workspace):
        raise LikewiseError(f"{builder.workspace.path} is not a wardrobe: only there can people be simulated.")
    plan = builder.plan()
    rng = np.random.default_rng([seed, 11])
    tastes = [trained(sample_taste(rng)) for _ in range(max(plan.n_panel, plan.n_experts))]
    names = [f"simulated {number + 1:02d}" for number in range(len(tastes))]
    numbers = _invited(engine, names)
    while True:
        status = advance_test_stages(builder, engine)
        if status.finished or not status.wanted:
            return status
        stage = status.stage
        judge = _judge(builder, stage)
        if stage == "crowd":
            crowd = _guests(engine, builder.slug(stage), n_crowd)
            for number in crowd:
                _answer(
                    engine, builder.slug(stage), number, 0, judge(sample_crowd_member(rng), rng), builder.slug(stage)
                )
            return advance_test_stages(builder, engine, close=True)
        people = plan.n_experts if stage in ("sort", "keep", "rate") else plan.n_panel
        n_shares = plan.n_experts if stage in ("sort", "keep") else 0
        for place, taste in enumerate(tastes[:people]):
            share = 1 + place % n_shares if n_shares else 0
            _answer(engine, builder.slug(stage), numbers[names[place]], share, judge(taste, rng), None)
        if advance_test_stages(builder, engine).stage == stage:
            raise LikewiseError(f"the simulated people could not finish the stage {stage} of {builder.name}.")


def _judge(builder: OutfitTestBuilder, stage: str) -> Judge:
    """What somebody with some taste would say to every question of a stage."""
    items = _wardrobe(builder)
    if stage == "sort":
        categories = {image: map_category(category) or "delete: decoration" for image, category in
                items.select("image", "category").iter_rows()}  # fmt: skip
        return lambda taste, rng: categories
    if stage in ("keep", "rate"):
        outfits = outfits_from_table(builder.read_stage("generate" if stage == "keep" else "keep"))
        value = keep_value if stage == "keep" else rate_value
        return lambda taste, rng: dict(
            judged(items, outfits, [taste], rng, value, in_shares=False).select("question", "value").iter_rows()
        )
    questions = builder.questions({"panel": "blank", "crowd": "final"}.get(stage, "panel"))
    return lambda taste, rng: dict(
        simulated_answers(items, questions, [taste], rng).select("question", "value").iter_rows()
    )


def _wardrobe(builder: OutfitTestBuilder) -> pl.DataFrame:
    catalog = read_catalog(builder.workspace)
    return catalog.sort("image").unique("item", keep="first", maintain_order=True)


def _invited(engine: Engine, names: Sequence[str]) -> dict[str, int]:
    """The simulated experts, invited in order so that their shares differ."""
    invited = {expert.name: expert.id for expert in read_experts(engine)}
    for name in names:
        if name not in invited:
            invite_expert(engine, name)
    return {expert.name: expert.id for expert in read_experts(engine) if expert.name in set(names)}


def _guests(engine: Engine, slug: str, n: int) -> list[int]:
    with write_transaction(engine) as connection:
        return [add_expert(connection, f"simulated guest {number:04d}", GUEST, slug) for number in range(n)]


def _answer(
    engine: Engine, slug: str, expert: int, share: int, values: dict[str, str], questionnaire: str | None
) -> None:
    mine = read_questions(engine, slug).filter(pl.col("share") == share)
    rows = [
        (f"{slug}-{expert}-{question}", question, values[name], None)
        for question, name in mine.select("question", "name").iter_rows()
    ]
    for start in range(0, len(rows), BATCH_ROWS):
        stored = add_question_answers(engine, expert, questionnaire, rows[start : start + BATCH_ROWS])
        if stored.refused:
            raise LikewiseError(f"an answer of {slug} was refused: {stored.refused[0][1]}.")
