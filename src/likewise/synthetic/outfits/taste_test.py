"""A complete test of taste from the drawn wardrobe, whose every attribute and compatibility is known.

LAT: outfits are generated, then kept, rated, asked and asked again by simulated people, each with a taste of their own
(`Taste`), by the very decisions of `lat.py`; a crowd answers at last. AAT: see `wardrobe_aat.py`.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.machine import usable_cores
from likewise.outfits.bundle import OutfitTest, check_overwrite, write_test
from likewise.outfits.generate import sample_outfits
from likewise.outfits.lat import (
    BalancedQuestions,
    add_people_counts,
    balance_questions,
    fully_consistent,
    kept_outfits,
    make_questions,
    rank_by_consistency,
    replace_choice,
    top_rated,
)
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.tables import outfits_from_table
from likewise.progress import ProgressCallback
from likewise.synthetic import Taste, compatibility_many, draw_item, make_items, sample_taste
from likewise.synthetic.outfits.aat_questions import make_aat
from likewise.worker_processes import WorkerProcesses

Attributes = dict[str, str | None]
CROWD_NOISE = 2.25
"""How much less steadily the crowd judges than `sample_taste`. In A100, mLATs = 0.69 LATs + 6 over its models,
so the crowd's favourite gets 75 % of the answers on average; with this factor simulated people agree as much."""
KEEP_AT = 0.55  # a simulated expert keeps what they rate at least so
JPEG_QUALITY = 92
SHORTEST_SEED = 3  # two items leave a question of one
HANDFUL, CLEARLY_WORSE = 12, 0.25
N_ITEMS = 4000  # with much fewer, a category is a handful of lines, all alike, and no distractor is clearly worse


@dataclass(frozen=True)
class Scale:
    """How much work each step gets; the numbers are A100's own."""

    n_seed_outfits: int = 50_000
    n_rated: int = 2000
    n_consistent: int = 500
    n_questions: int = 100
    n_experts: int = 5
    n_panel: int = 10
    n_rounds: int = 3
    n_crowd: int = 200

    @classmethod
    def of(cls, n_questions: int, n_crowd: int = 200) -> "Scale":
        """As much work per question as for a hundred of them."""
        return cls(500 * n_questions, 20 * n_questions, 5 * n_questions, n_questions, n_crowd=n_crowd)


def wardrobe_items(n_items: int, seed: int) -> pl.DataFrame:
    """Items of a wardrobe with a picture each."""
    return make_items(n_items, seed).with_columns((pl.col("item") + ".jpg").alias("image"))


def make_wardrobe_test(
    path: Path,
    *,
    seed: int = 0,
    n_items: int = N_ITEMS,
    scale: Scale | None = None,
    n_aat: int = 100,
    only: Sequence[str] = (),
    size: int = 224,
    overwrite: bool = False,
    workers: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> OutfitTest:
    """Write a test with LAT and AAT questions and their pictures; seconds, not weeks.

    Without LAT where its number of questions is 0; with `only`, AAT about these dimensions alone.
    """
    check_overwrite(path, overwrite=overwrite)  # before hundreds of pictures are drawn
    plan = scale or Scale()
    items = wardrobe_items(n_items, seed)
    lat, made = make_lat(items, plan, seed) if plan.n_questions else ([], {})
    aat, drawn = make_aat(items, n_aat, seed, only)
    attributes = {row["item"]: row for row in items.iter_rows(named=True)} | drawn
    questions = [*lat, *aat]
    images = sorted({item.image for q in questions for item in (*q.items, *q.choices)})
    pictures = _draw_all([attributes[image.removesuffix(".jpg")] for image in images], seed, size, workers, on_progress)
    files = dict(zip(images, pictures, strict=True))
    return write_test(
        path,
        questions,
        files.__getitem__,
        title=f"Wardrobe test {seed}",
        licence="CC0-1.0",
        description="Drawn items, simulated people: a test of taste whose truth is known; no measure of fashion sense.",
        made=made,
        overwrite=overwrite,
    )


def draw(attributes: Mapping[str, str | None], seed: int, size: int) -> bytes:
    """The shop picture of an item as a file."""
    buffer = io.BytesIO()
    draw_item(attributes, 0, seed, size=size).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def _draw_all(
    rows: Sequence[Attributes], seed: int, size: int, workers: int | None, on_progress: ProgressCallback | None
) -> list[bytes]:
    """Every picture, in order, drawn by as many processes as there are cores."""
    pictures: list[bytes] = []
    one = partial(draw, seed=seed, size=size)
    n_workers = min(workers or usable_cores(), max(1, len(rows) // 100))
    with ExitStack() as stack:
        drawn: Iterable[bytes] = map(one, rows)
        if n_workers > 1:
            pool = stack.enter_context(WorkerProcesses(n_workers))
            drawn = pool.map(one, rows, chunksize=16)
        for picture in drawn:
            pictures.append(picture)
            if on_progress is not None:
                on_progress("drawing the test", len(pictures), len(rows))
    return pictures


def make_lat(items: pl.DataFrame, scale: Scale, seed: int) -> tuple[list[OutfitQuestion], dict[str, Any]]:
    """The five steps with simulated people; also how many were left after each."""
    rng = np.random.default_rng([seed, 3])
    people = [trained(sample_taste(rng)) for _ in range(scale.n_panel)]
    experts = people[: scale.n_experts]
    seeds = sample_outfits(items, scale.n_seed_outfits, seed=seed, min_items=SHORTEST_SEED).table
    by_name = {outfit.name: outfit for outfit in outfits_from_table(seeds)}
    alive = kept_outfits(judged(items, list(by_name.values()), experts, rng, keep_value, in_shares=True))
    ratings = judged(items, [by_name[n] for n in alive], experts, rng, rate_value, in_shares=False)
    best = top_rated(ratings, scale.n_rated)["question"].to_list()
    questions = make_questions([by_name[name] for name in best], items, seed=seed)
    first = simulated_answers(items, questions, people, rng)
    by_question = {question.name: question for question in questions}
    agreed = balance_questions(
        [by_question[name] for name in rank_by_consistency(first)["question"]], scale.n_consistent
    )
    asked = _without_doubt(items, agreed.questions, first, rng)
    rounds = pl.concat([simulated_answers(items, asked, people, rng) for _ in range(scale.n_rounds)])
    certain = set(fully_consistent(rounds)["question"])
    final: BalancedQuestions = balance_questions([q for q in asked if q.name in certain], scale.n_questions)
    crowd = [sample_crowd_member(rng) for _ in range(scale.n_crowd)]
    answered = add_people_counts(final.questions, simulated_answers(items, final.questions, crowd, rng))
    named = [_renamed(question, f"LAT-{number:03d}") for number, question in enumerate(answered, 1)]
    made = {
        "seed_outfits": len(by_name),
        "kept": len(alive),
        "best_rated": len(best),
        "most_consistent": len(asked),
        "fully_consistent": len(certain),
        "people": f"{scale.n_crowd} simulated",
        "shortfalls": final.shortfalls,
    }
    return named, made


def _without_doubt(
    items: pl.DataFrame, questions: Sequence[OutfitQuestion], answers: pl.DataFrame, rng: np.random.Generator
) -> list[OutfitQuestion]:
    """Distractors that somebody fell for or that come near the answer are changed, as the paper's experts did by hand.

    The new ones are the worst of a handful.
    """
    chosen = answers.group_by("question").agg(pl.col("value").unique())
    fell_for = {name: {int(value) for value in values} for name, values in chosen.iter_rows()}
    shelf: dict[str, list[Item]] = {}
    for name, category, image in items.select("item", "category", "image").iter_rows():
        shelf.setdefault(category, []).append(Item(name, category, image))
    offers: list[list[Item]] = []
    for question in questions:
        inside = {item.item for item in (*question.items, *question.choices)}
        others = [item for item in shelf[question.category] if item.item not in inside]
        new = [others[place] for place in rng.permutation(len(others))[:HANDFUL].tolist()]
        offers.append([*question.choices, *new])
    filled = [Outfit("", (*q.items, item)) for q, offer in zip(questions, offers, strict=True) for item in offer]
    fits = np.split(true_compatibility(items, filled), np.cumsum([len(offer) for offer in offers])[:-1])
    return [
        _replaced(question, offer, fit, fell_for.get(question.name, set()))
        for question, offer, fit in zip(questions, offers, fits, strict=True)
    ]


def _replaced(
    question: OutfitQuestion, offer: Sequence[Item], fit: NDArray[np.float64], fell_for: set[int]
) -> OutfitQuestion:
    assert question.right is not None
    n = len(question.choices)
    near = {place for place in range(n) if fit[place] > fit[question.right] - CLEARLY_WORSE}
    worst = iter(n + np.argsort(fit[n:], kind="stable"))
    for place in sorted((fell_for | near) - {question.right}):
        new = next(worst, None)
        if new is not None and fit[new] < fit[place]:
            question = replace_choice(question, question.choices[place].item, offer[int(new)])
    return question


def simulated_answers(
    items: pl.DataFrame, questions: Sequence[OutfitQuestion], people: Sequence[Taste], rng: np.random.Generator
) -> pl.DataFrame:
    """Everybody answers every question: `question, person, value` (the number of the choice)."""
    filled = [question.filled(choice) for question in questions for choice in range(len(question.choices))]
    scores = compatibility_many(items, _rows(items, filled))
    starts = np.cumsum([0, *(len(question.choices) for question in questions)])
    rows = []
    for number, person in enumerate(people):
        rated = person.rate(scores, rng)
        for question, start, end in zip(questions, starts, starts[1:], strict=False):
            rows.append((question.name, f"p{number:03d}", str(int(np.argmax(rated[start:end])))))
    return pl.DataFrame(rows, schema=dict.fromkeys(("question", "person", "value"), pl.String), orient="row")


def judged(
    items: pl.DataFrame,
    outfits: Sequence[Outfit],
    experts: Sequence[Taste],
    rng: np.random.Generator,
    value: Callable[[float], str],
    *,
    in_shares: bool,
) -> pl.DataFrame:
    """What experts say about outfits: each about all of them, or each about a share."""
    scores = compatibility_many(items, _rows(items, outfits))
    rows = []
    for number, expert in enumerate(experts):
        rated = expert.rate(scores, rng).tolist()
        mine = range(number, len(outfits), len(experts)) if in_shares else range(len(outfits))
        rows += [(outfits[place].name, f"e{number}", value(rated[place])) for place in mine]
    return pl.DataFrame(rows, schema=dict.fromkeys(("question", "person", "value"), pl.String), orient="row")


def trained(person: Taste) -> Taste:
    """Experts have tastes as different as anybody's, but judge twice as steadily."""
    return replace(person, noise=person.noise / 2)


def sample_crowd_member(rng: np.random.Generator) -> Taste:
    """Somebody of the crowd, as undecided as the paper's people."""
    person = sample_taste(rng)
    return replace(person, noise=CROWD_NOISE * person.noise)


def keep_value(rating: float) -> str:
    return "keep" if rating >= KEEP_AT else "delete"


def rate_value(rating: float) -> str:
    return str(int(np.clip(round(1 + 9 * rating), 1, 10)))


def _rows(items: pl.DataFrame, outfits: Sequence[Outfit]) -> list[list[int]]:
    row_of = {name: row for row, name in enumerate(items["item"])}
    return [[row_of[item.item] for item in outfit.items] for outfit in outfits]


def _renamed(question: OutfitQuestion, name: str) -> OutfitQuestion:
    return replace(question, name=name)


def true_compatibility(items: pl.DataFrame, outfits: Sequence[Outfit]) -> NDArray[np.float64]:
    """What the wardrobe itself thinks of outfits, overall."""
    return compatibility_many(items, _rows(items, outfits))["overall"].to_numpy()
