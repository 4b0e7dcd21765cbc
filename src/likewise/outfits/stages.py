"""Making a LAT on the labelling site: stages that ask people wait for answers, the others just run.

`advance` goes as far as it can: a stage whose file is there is done; a stage that asks puts its questions on the site
and is finished when enough people answered (or when its owner closes it); after an interruption, calling again goes on.
All files of a stage are written together, the one that finishes it among them.

    sort      each image: one of the twenty categories, or a reason to leave it out         one expert per image
    generate  valid outfits
    keep      keep or delete                                                                in shares
    rate      1 to 10                                                                       every expert
    blank     one item blanked, distractors of its category (replaceable by hand)
    panel     which one fits best?; the most consistent stay                                the whole panel
    rounds    asked again, some days apart; only fully consistent questions stay            the whole panel
    final     balanced over groups of categories
    crowd     a public questionnaire, open until its owner closes it
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import polars as pl
from sqlalchemy import Engine

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.files import StagedFiles, written_together
from likewise.labeling.store.clock import format_time, parse_time, store_time_now
from likewise.labeling.store.questionnaires import add_questionnaire, close_questionnaire
from likewise.labeling.store.questions import NewQuestion, QuestionKind, add_questions, read_answers
from likewise.outfits.builder import OutfitTestBuilder, OutfitTestPlan
from likewise.outfits.category_mapping import categorize_items, map_category
from likewise.outfits.generate import sample_outfits
from likewise.outfits.lat import (
    add_people_counts,
    balance_questions,
    fully_consistent,
    kept_outfits,
    make_questions,
    rank_by_consistency,
    top_rated,
)
from likewise.outfits.protocol import Outfit, OutfitQuestion
from likewise.outfits.rules import CATEGORIES
from likewise.outfits.tables import outfits_from_table
from likewise.workspace import read_json, write_json, write_parquet

DELETE_REASONS = {
    "decoration": "No fashion item",
    "clutter": "Cluttered background",
    "several": "Several items",
    "folded": "Folded",
    "cut off": "Not all of it visible",
}
PROMPTS = {
    "sort": "What is it? Or why is it no picture of one fashion item?",
    "keep": "Do these go together?",
    "rate": "How good is this outfit, from 1 to 10?",
    "ask": "Which one fits best?",
}


@dataclass(frozen=True)
class BuildStatus:
    """Where a test stands: the stage it waits in (`crowd` done: nothing), how much is answered, what comes next."""

    stage: str
    answered: int
    wanted: int
    people: dict[str, int]
    sentence: str
    finished: bool = False


FinishStage = Callable[[pl.DataFrame, StagedFiles], None]
"""Writes what a stage leaves, from the answers."""


@dataclass(frozen=True)
class StageQuestions:
    """The questions of a stage, how many people each needs, and what to do with the answers."""

    kind: QuestionKind
    questions: list[NewQuestion]
    people_per_question: int
    finish: FinishStage
    n_shares: int = 0
    public: bool = False


def advance_test_stages(builder: OutfitTestBuilder, engine: Engine, *, close: bool = False) -> BuildStatus:
    """Go as far as possible; with `close`, the stage that is asking now is ended with what was answered."""
    plan = builder.plan()
    for stage in _stages(plan):
        if builder.is_done(stage):
            continue
        if stage in AUTOMATIC_STAGES:
            with written_together(builder.folder) as staged:
                AUTOMATIC_STAGES[stage](builder, plan, staged)
            continue
        too_early = _too_early(builder, plan, stage)
        if too_early:
            return BuildStatus(stage, 0, 0, {}, too_early)
        stage_questions = _questions_of_stage(builder, plan, stage)
        slug = builder.slug(stage)
        if stage_questions.public:
            add_questionnaire(engine, slug, plan.title, consent=plan.consent, public=True, most_guests=plan.max_guests)
        add_questions(engine, stage_questions.kind, stage_questions.questions, slug, stage_questions.n_shares or None)
        answers = _answers(engine, slug)
        counts = dict(answers.group_by("question").len().iter_rows())
        enough = not stage_questions.public and all(
            counts.get(question.name, 0) >= stage_questions.people_per_question
            for question in stage_questions.questions
        )
        if not enough and not close:
            return _waiting(stage, slug, stage_questions, answers, counts)
        with written_together(builder.folder) as staged:
            stage_questions.finish(answers, staged)
            write_json({"closed": store_time_now(), "n_answers": len(answers)}, staged.staging / f"{stage}.json")
            close_questionnaire(engine, slug)  # before the files count: a stage that is done is never looked at again
        close = False
    n = len(builder.questions("crowd"))
    return BuildStatus("crowd", n, n, {}, f"all stages are done: {n} questions with people's answers.", finished=True)


def _stages(plan: OutfitTestPlan) -> list[str]:
    rounds = [f"rounds-{number}" for number in range(1, plan.n_rounds + 1)]
    return ["sort", "generate", "keep", "rate", "blank", "panel", *rounds, "final", "crowd"]


def _answers(engine: Engine, slug: str) -> pl.DataFrame:
    return read_answers(engine, slug).rename({"expert": "person"}).select("question", "person", "value")


def _waiting(
    stage: str, slug: str, stage_questions: StageQuestions, answers: pl.DataFrame, counts: dict[str, int]
) -> BuildStatus:
    people = dict(answers.group_by("person").len().sort("person").iter_rows())
    wanted = len(stage_questions.questions) * stage_questions.people_per_question
    answered = sum(min(n, stage_questions.people_per_question) for n in counts.values())
    if stage_questions.public:
        sentence = f"the crowd answers at /q/{slug}: {len(people)} people so far; close it when there are enough."
        return BuildStatus(stage, len(answers), len(stage_questions.questions) * max(1, len(people)), people, sentence)
    each = "one share each" if stage_questions.n_shares else f"{stage_questions.people_per_question} people each"
    sentence = f"{stage}: {answered:,} of {wanted:,} answers ({each}); experts find the questions at /questions."
    return BuildStatus(stage, answered, wanted, people, sentence)


def _too_early(builder: OutfitTestBuilder, plan: OutfitTestPlan, stage: str) -> str | None:
    """Rounds come some days after what was asked before them."""
    if not stage.startswith("rounds"):
        return None
    number = int(stage.split("-")[1])
    before = builder.folder / ("panel.json" if number == 1 else f"rounds-{number - 1}.json")
    opens = parse_time(read_json(before)["closed"]) + timedelta(days=plan.days_between_rounds)
    if parse_time(store_time_now()) >= opens:
        return None
    return (
        f"{stage} opens at {format_time(opens)}, {plan.days_between_rounds:g} days after the questions were last asked."
    )


def _questions_of_stage(builder: OutfitTestBuilder, plan: OutfitTestPlan, stage: str) -> StageQuestions:
    name = stage.split("-")[0]
    if name == "sort":
        return _ask_sort(builder, plan)
    if name == "keep":
        outfits = outfits_from_table(builder.read_stage("generate"))
        return StageQuestions(
            "keep", _outfit_questions(outfits, "keep"), 1, _finish_kept(builder, outfits), n_shares=plan.n_experts
        )
    if name == "rate":
        outfits = outfits_from_table(builder.read_stage("keep"))
        return StageQuestions(
            "rating", _outfit_questions(outfits, "rate"), plan.n_experts, _finish_rated(builder, plan, outfits)
        )
    if name == "panel":
        questions = builder.questions("blank")
        return StageQuestions(
            "choice", to_site_questions(questions), plan.n_panel, _finish_panel(builder, plan, questions)
        )
    if name == "rounds":
        questions = builder.questions("panel")
        return StageQuestions(
            "choice",
            to_site_questions(questions),
            plan.n_panel,
            lambda answers, staged: _round(builder, stage, answers, staged),
        )
    questions = builder.questions("final")
    return StageQuestions("choice", to_site_questions(questions), 1, _finish_crowd(builder, questions), public=True)


def _ask_sort(builder: OutfitTestBuilder, plan: OutfitTestPlan) -> StageQuestions:
    catalog = select_catalog_rows(read_catalog(builder.workspace), plan.where)
    options = (
        *((category, category.capitalize(), None) for category in CATEGORIES),
        *((f"delete: {why}", words, None) for why, words in DELETE_REASONS.items()),
    )
    items = catalog.sort("image").unique("item", keep="first", maintain_order=True)
    questions = [NewQuestion(image, (image,), options, PROMPTS["sort"]) for image in items["image"]]

    def finish(answers: pl.DataFrame, staged: StagedFiles) -> None:
        answered = answers.unique("question", keep="last").select(pl.col("question").alias("image"), "value")
        judged = items.select("item", "image").join(answered, on="image", how="left", maintain_order="left")
        write_parquet(
            judged.select(
                "item",
                "image",
                pl.when(pl.col("value").is_in(CATEGORIES)).then("value").alias("category"),
                pl.col("value").fill_null("nobody looked at it").alias("answer"),
            ),
            staged.place(builder.stage_file("sort")),
        )

    return StageQuestions("choice", questions, 1, finish, n_shares=plan.n_experts)


def _outfit_questions(outfits: Sequence[Outfit], what: str) -> list[NewQuestion]:
    return [
        NewQuestion(outfit.name, tuple(item.image for item in outfit.items), prompt=PROMPTS[what]) for outfit in outfits
    ]


def to_site_questions(questions: Sequence[OutfitQuestion]) -> list[NewQuestion]:
    """Fill-in-the-blank questions for the site; a choice's value is its number, and nothing says which is right."""
    return [
        NewQuestion(
            question.name,
            tuple(item.image for item in question.items),
            tuple((str(place), chr(ord("A") + place), item.image) for place, item in enumerate(question.choices)),
            PROMPTS["ask"],
        )
        for question in questions
    ]


def _finish_kept(builder: OutfitTestBuilder, outfits: Sequence[Outfit]) -> FinishStage:
    def finish(answers: pl.DataFrame, staged: StagedFiles) -> None:
        alive = set(kept_outfits(answers))
        table = builder.read_stage("generate")
        write_parquet(table.filter(pl.col("outfit").is_in(list(alive))), staged.place(builder.stage_file("keep")))

    return finish


def _finish_rated(builder: OutfitTestBuilder, plan: OutfitTestPlan, outfits: Sequence[Outfit]) -> FinishStage:
    def finish(answers: pl.DataFrame, staged: StagedFiles) -> None:
        best = top_rated(answers, plan.n_best)
        write_parquet(best, staged.staging / "rate-ratings.parquet")
        table = builder.read_stage("keep").filter(pl.col("outfit").is_in(best["question"].to_list()))
        write_parquet(table, staged.place(builder.stage_file("rate")))

    return finish


def _finish_panel(builder: OutfitTestBuilder, plan: OutfitTestPlan, questions: Sequence[OutfitQuestion]) -> FinishStage:
    def finish(answers: pl.DataFrame, staged: StagedFiles) -> None:
        ranked = rank_by_consistency(answers)
        write_parquet(ranked, staged.staging / "panel-consistency.parquet")
        by_name = {question.name: question for question in add_people_counts(questions, answers)}
        best = balance_questions([by_name[name] for name in ranked["question"]], plan.n_consistent, plan.quotas)
        builder.write_questions("panel", best.questions, staged)

    return finish


def _round(builder: OutfitTestBuilder, stage: str, answers: pl.DataFrame, staged: StagedFiles) -> None:
    write_parquet(answers.sort("question", "person"), staged.place(builder.stage_file(stage)))


def _finish_crowd(builder: OutfitTestBuilder, questions: Sequence[OutfitQuestion]) -> FinishStage:
    return lambda answers, staged: builder.write_questions("crowd", add_people_counts(questions, answers), staged)


def _run_generate(builder: OutfitTestBuilder, plan: OutfitTestPlan, staged: StagedFiles) -> None:
    items = builder.read_stage("sort").filter(pl.col("category").is_not_null()).select("item", "image", "category")
    made = sample_outfits(items, plan.n_seed_outfits, seed=plan.seed)
    write_json(asdict(made.report), staged.staging / "generate.json")
    write_parquet(made.table, staged.place(builder.stage_file("generate")))


def _run_blank(builder: OutfitTestBuilder, plan: OutfitTestPlan, staged: StagedFiles) -> None:
    items = builder.read_stage("sort").filter(pl.col("category").is_not_null())
    outfits = outfits_from_table(builder.read_stage("rate"))
    questions = make_questions(outfits, items, seed=plan.seed, n_distractors=plan.n_distractors, quotas=plan.quotas)
    builder.write_questions("blank", questions, staged)


def _run_final(builder: OutfitTestBuilder, plan: OutfitTestPlan, staged: StagedFiles) -> None:
    """Only questions that everybody answered alike in every round, in the panel's order, balanced by the quotas."""
    rounds = [builder.read_stage(f"rounds-{number}") for number in range(1, plan.n_rounds + 1)]
    certain = set(fully_consistent(pl.concat(rounds))["question"]) if rounds else None
    questions = [q for q in builder.questions("panel") if certain is None or q.name in certain]
    chosen = balance_questions(questions, plan.n_questions, plan.quotas)
    write_json(
        _final_facts(len(questions), chosen.quotas, chosen.chosen, chosen.shortfalls), staged.staging / "final.json"
    )
    builder.write_questions("final", chosen.questions, staged)


def _final_facts(consistent: int, quotas: dict[str, int], chosen: dict[str, int], lacking: dict[str, int]) -> Any:
    return {"fully_consistent": consistent, "quotas": quotas, "chosen": chosen, "shortfalls": lacking}


AUTOMATIC_STAGES: dict[str, Callable[[OutfitTestBuilder, OutfitTestPlan, StagedFiles], None]] = {
    "generate": _run_generate,
    "blank": _run_blank,
    "final": _run_final,
}


def trust_categories(builder: OutfitTestBuilder, plan: OutfitTestPlan) -> None:
    """Finish the stage `sort` without people: the catalog's own categories are taken."""
    if builder.is_done("sort"):
        return
    catalog = select_catalog_rows(read_catalog(builder.workspace), plan.where)
    items, _ = categorize_items(catalog, plan.mapping)
    words = dict(catalog.select("item", "category").iter_rows())
    answered = [str(words.get(item)) for item in items["item"]]
    assert all(map_category(word, plan.mapping) for word in answered)
    write_parquet(items.with_columns(pl.Series("answer", answered, dtype=pl.String)), builder.stage_file("sort"))
