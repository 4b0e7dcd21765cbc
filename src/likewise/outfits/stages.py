"""Making a LAT on the labelling site: stages that ask people wait for answers, the others just run.

`advance` goes as far as it can: a stage whose file is there is done; a stage that asks puts its questions on the site
and is finished when enough people answered (or when its owner closes it); after an interruption, calling again goes on.

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
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import polars as pl
from sqlalchemy import Engine

from likewise.catalog.table import read_catalog, select
from likewise.labeling.store.clock import moment_of, now, text_of
from likewise.labeling.store.questionnaires import add_questionnaire, close_questionnaire
from likewise.labeling.store.questions import Kind, NewQuestion, add_questions, read_answers
from likewise.outfits.generate import generate
from likewise.outfits.lat import (
    balanced,
    consistency,
    fully_consistent,
    kept,
    make_questions,
    top_rated,
    with_people,
)
from likewise.outfits.plan import Making, Plan
from likewise.outfits.protocol import Outfit, Question
from likewise.outfits.rules import CATEGORIES
from likewise.outfits.sorting import category_of, sorted_items
from likewise.outfits.tables import outfits_of
from likewise.workspace import read_json, write_json, write_parquet

DELETE = {
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
class Standing:
    """Where a test stands: the stage it waits in (`crowd` done: nothing), how much is answered, what comes next."""

    stage: str
    answered: int
    wanted: int
    people: dict[str, int]
    sentence: str
    finished: bool = False


@dataclass(frozen=True)
class Asking:
    """The questions of a stage, how many people each needs, and what to do with the answers."""

    kind: Kind
    questions: list[NewQuestion]
    people_per_question: int
    finish: Callable[[pl.DataFrame], None]
    n_shares: int = 0
    public: bool = False


def advance(making: Making, engine: Engine, *, close: bool = False) -> Standing:
    """Go as far as possible; with `close`, the stage that is asking now is ended with what was answered."""
    plan = making.plan()
    for stage in _stages(plan):
        if making.done(stage):
            continue
        if stage in RUNS:
            RUNS[stage](making, plan)
            continue
        too_early = _too_early(making, plan, stage)
        if too_early:
            return Standing(stage, 0, 0, {}, too_early)
        asking = _asking(making, plan, stage)
        slug = making.slug(stage)
        if asking.public:
            add_questionnaire(engine, slug, plan.title, consent=plan.consent, public=True, most_guests=plan.most_guests)
        add_questions(engine, asking.kind, asking.questions, slug, asking.n_shares or None)
        answers = _answers(engine, slug)
        counts = dict(answers.group_by("question").len().iter_rows())
        enough = not asking.public and all(
            counts.get(question.name, 0) >= asking.people_per_question for question in asking.questions
        )
        if not enough and not close:
            return _waiting(stage, slug, asking, answers, counts)
        asking.finish(answers)
        close_questionnaire(engine, slug)
        write_json({"closed": now(), "n_answers": len(answers)}, making.folder / f"{stage}.json")
        close = False
    n = len(making.questions("crowd"))
    return Standing("crowd", n, n, {}, f"all stages are done: {n} questions with people's answers.", finished=True)


def _stages(plan: Plan) -> list[str]:
    rounds = [f"rounds-{number}" for number in range(1, plan.n_rounds + 1)]
    return ["sort", "generate", "keep", "rate", "blank", "panel", *rounds, "final", "crowd"]


def _answers(engine: Engine, slug: str) -> pl.DataFrame:
    return read_answers(engine, slug).rename({"expert": "person"}).select("question", "person", "value")


def _waiting(stage: str, slug: str, asking: Asking, answers: pl.DataFrame, counts: dict[str, int]) -> Standing:
    people = dict(answers.group_by("person").len().sort("person").iter_rows())
    wanted = len(asking.questions) * asking.people_per_question
    answered = sum(min(n, asking.people_per_question) for n in counts.values())
    if asking.public:
        sentence = f"the crowd answers at /q/{slug}: {len(people)} people so far; close it when there are enough."
        return Standing(stage, len(answers), len(asking.questions) * max(1, len(people)), people, sentence)
    each = "one share each" if asking.n_shares else f"{asking.people_per_question} people each"
    sentence = f"{stage}: {answered:,} of {wanted:,} answers ({each}); experts find the questions at /questions."
    return Standing(stage, answered, wanted, people, sentence)


def _too_early(making: Making, plan: Plan, stage: str) -> str | None:
    """Rounds come some days after what was asked before them."""
    if not stage.startswith("rounds"):
        return None
    number = int(stage.split("-")[1])
    before = making.folder / ("panel.json" if number == 1 else f"rounds-{number - 1}.json")
    opens = moment_of(read_json(before)["closed"]) + timedelta(days=plan.days_between_rounds)
    if moment_of(now()) >= opens:
        return None
    return f"{stage} opens at {text_of(opens)}, {plan.days_between_rounds:g} days after the questions were last asked."


def _asking(making: Making, plan: Plan, stage: str) -> Asking:
    name = stage.split("-")[0]
    if name == "sort":
        return _ask_sort(making, plan)
    if name == "keep":
        outfits = outfits_of(making.read("generate"))
        return Asking("keep", _shown(outfits, "keep"), 1, _finish_kept(making, outfits), n_shares=plan.n_experts)
    if name == "rate":
        outfits = outfits_of(making.read("keep"))
        return Asking("rating", _shown(outfits, "rate"), plan.n_experts, _finish_rated(making, plan, outfits))
    if name == "panel":
        questions = making.questions("blank")
        return Asking("choice", ask(questions), plan.n_panel, _finish_panel(making, plan, questions))
    if name == "rounds":
        questions = making.questions("panel")
        return Asking("choice", ask(questions), plan.n_panel, lambda answers: _round(making, stage, answers))
    questions = making.questions("final")
    return Asking("choice", ask(questions), 1, _finish_crowd(making, questions), public=True)


def _ask_sort(making: Making, plan: Plan) -> Asking:
    catalog = select(read_catalog(making.workspace), plan.select)
    options = (
        *((category, category.capitalize(), None) for category in CATEGORIES),
        *((f"delete: {why}", words, None) for why, words in DELETE.items()),
    )
    items = catalog.sort("image").unique("item", keep="first", maintain_order=True)
    questions = [NewQuestion(image, (image,), options, PROMPTS["sort"]) for image in items["image"]]

    def finish(answers: pl.DataFrame) -> None:
        said = answers.unique("question", keep="last").select(pl.col("question").alias("image"), "value")
        judged = items.select("item", "image").join(said, on="image", how="left", maintain_order="left")
        write_parquet(
            judged.select(
                "item",
                "image",
                pl.when(pl.col("value").is_in(CATEGORIES)).then("value").alias("category"),
                pl.col("value").fill_null("nobody looked at it").alias("said"),
            ),
            making.file("sort"),
        )

    return Asking("choice", questions, 1, finish, n_shares=plan.n_experts)


def _shown(outfits: Sequence[Outfit], what: str) -> list[NewQuestion]:
    return [
        NewQuestion(outfit.name, tuple(item.image for item in outfit.items), prompt=PROMPTS[what]) for outfit in outfits
    ]


def ask(questions: Sequence[Question]) -> list[NewQuestion]:
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


def _finish_kept(making: Making, outfits: Sequence[Outfit]) -> Callable[[pl.DataFrame], None]:
    def finish(answers: pl.DataFrame) -> None:
        alive = set(kept(answers))
        table = making.read("generate")
        write_parquet(table.filter(pl.col("outfit").is_in(list(alive))), making.file("keep"))

    return finish


def _finish_rated(making: Making, plan: Plan, outfits: Sequence[Outfit]) -> Callable[[pl.DataFrame], None]:
    def finish(answers: pl.DataFrame) -> None:
        best = top_rated(answers, plan.n_best)
        write_parquet(best, making.folder / "rate-ratings.parquet")
        table = making.read("keep").filter(pl.col("outfit").is_in(best["question"].to_list()))
        write_parquet(table, making.file("rate"))

    return finish


def _finish_panel(making: Making, plan: Plan, questions: Sequence[Question]) -> Callable[[pl.DataFrame], None]:
    def finish(answers: pl.DataFrame) -> None:
        ranked = consistency(answers)
        write_parquet(ranked, making.folder / "panel-consistency.parquet")
        by_name = {question.name: question for question in with_people(questions, answers)}
        best = balanced([by_name[name] for name in ranked["question"]], plan.n_consistent, plan.quotas)
        making.write_questions("panel", best.questions)

    return finish


def _round(making: Making, stage: str, answers: pl.DataFrame) -> None:
    write_parquet(answers.sort("question", "person"), making.file(stage))


def _finish_crowd(making: Making, questions: Sequence[Question]) -> Callable[[pl.DataFrame], None]:
    return lambda answers: making.write_questions("crowd", with_people(questions, answers))


def _run_generate(making: Making, plan: Plan) -> None:
    items = making.read("sort").filter(pl.col("category").is_not_null()).select("item", "image", "category")
    made = generate(items, plan.n_seed_outfits, seed=plan.seed)
    write_json(made.report, making.folder / "generate.json")
    write_parquet(made.table, making.file("generate"))


def _run_blank(making: Making, plan: Plan) -> None:
    items = making.read("sort").filter(pl.col("category").is_not_null())
    outfits = outfits_of(making.read("rate"))
    questions = make_questions(outfits, items, seed=plan.seed, n_distractors=plan.n_distractors, quotas=plan.quotas)
    making.write_questions("blank", questions)


def _run_final(making: Making, plan: Plan) -> None:
    """Only questions that everybody answered alike in every round, in the panel's order, balanced by the quotas."""
    rounds = [making.read(f"rounds-{number}") for number in range(1, plan.n_rounds + 1)]
    certain = set(fully_consistent(pl.concat(rounds))["question"]) if rounds else None
    questions = [q for q in making.questions("panel") if certain is None or q.name in certain]
    chosen = balanced(questions, plan.n_questions, plan.quotas)
    write_json(
        _final_facts(len(questions), chosen.quotas, chosen.chosen, chosen.shortfalls), making.folder / "final.json"
    )
    making.write_questions("final", chosen.questions)


def _final_facts(consistent: int, quotas: dict[str, int], chosen: dict[str, int], lacking: dict[str, int]) -> Any:
    return {"fully_consistent": consistent, "quotas": quotas, "chosen": chosen, "shortfalls": lacking}


RUNS: dict[str, Callable[[Making, Plan], None]] = {
    "generate": _run_generate,
    "blank": _run_blank,
    "final": _run_final,
}


def trust_categories(making: Making, plan: Plan) -> None:
    """Finish the stage `sort` without people: the catalog's own categories are taken."""
    if making.done("sort"):
        return
    catalog = select(read_catalog(making.workspace), plan.select)
    items, _ = sorted_items(catalog, plan.mapping)
    words = dict(catalog.select("item", "category").iter_rows())
    said = [str(words.get(item)) for item in items["item"]]
    assert all(category_of(word, plan.mapping) for word in said)
    write_parquet(items.with_columns(pl.Series("said", said, dtype=pl.String)), making.file("sort"))
