"""The remedy A100 proposes (sec. 4.2): more training outfits on the dimension a model is weakest in, trained and
scored again.

Half of the test's AAT questions (every other one of each dimension) find the weakness, the other half measure
the cure: a dimension picked because its index was low by bad luck would otherwise look cured by chance. Where a
second test is given, the whole first one finds and the second measures. A third training gets as many more outfits
without a focus, which tells what the focus did from what more data did.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from likewise.catalog.table import read_catalog, select
from likewise.errors import LikewiseError
from likewise.outfits.models.card import models_folder
from likewise.outfits.models.registry import load_model
from likewise.outfits.models.sight import Sight
from likewise.outfits.protocol import Question
from likewise.outfits.scoring import difference_table, score_table, take
from likewise.outfits.training.examples import Examples
from likewise.outfits.training.listen import OnBatch
from likewise.outfits.training.step import Request, examples_for, seen_images, styled_examples, train_in
from likewise.workspace import Workspace

SHIFTS = {"focus": 7001, "more": 7002}  # other seeds than the first outfits'


@dataclass(frozen=True)
class Remedy:
    """The weakness, and the scores of the three trainings on the questions that did not find it."""

    dimension: str
    found: pl.DataFrame
    """Indexes of the first training on the finding half."""
    scores: pl.DataFrame
    differences: pl.DataFrame
    n_more: int
    names: tuple[str, str, str]


def halves(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Every other AAT question of each dimension to find a weakness, the rest to measure."""
    count: dict[str | None, int] = {}
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        if question.kind == "AAT":
            number = count[question.dimension] = count.get(question.dimension, -1) + 1
            parts[number % 2].append(question)
    return parts


def remedy(
    workspace: Workspace,
    request: Request,
    questions: Sequence[Question],
    sight: Sight,
    *,
    measure_on: tuple[Sequence[Question], Sight] | None = None,
    share: float = 0.5,
    dimension: str | None = None,
    say: Callable[[str], None] | None = None,
    on_batch: OnBatch | None = None,
) -> Remedy:
    """Train, find the weakest dimension (or take the one given), train again with `share` more outfits on it.

    `measure_on`: the questions of a second test, and where its pictures are seen.
    """
    if not workspace.knows_truth:
        raise LikewiseError(
            "outfits on one dimension can only be made for a wardrobe: collect such outfits yourself, add them to your "
            "table and train again with `likewise outfits train --outfits`."
        )
    if measure_on is None:
        finding, measuring = halves(questions)
        measuring_sight = sight
    else:
        finding, measuring = ([q for q in asked if q.kind == "AAT"] for asked in (questions, measure_on[0]))
        measuring_sight = measure_on[1]
    if not finding or not measuring:
        raise LikewiseError("the test has too few AAT questions to find a weakness and to measure its cure.")
    first = _trained(workspace, request, None, say, on_batch)
    found = _scores(workspace, [first], finding, sight)[0].filter(pl.col("score") == "index")
    weak = dimension or str(found.sort("value", "dimension")["dimension"][0])
    if weak not in found["dimension"].to_list():
        raise LikewiseError(f"the test asks nothing about {weak!r}; it has {', '.join(found['dimension'])}.")
    more = max(1, round(share * request.n_outfits))
    base = examples_for(workspace, request)
    names = [first]
    for word, focus in (("focus", weak), ("more", None)):
        name = f"{first}-{weak}" if focus else f"{first}-more"
        added = _more(workspace, replace(request, n_outfits=more), focus, SHIFTS[word])
        names.append(_trained(workspace, replace(request, name=name), _joined(base, added), say, on_batch))
    scores, differences = _scores(workspace, names, measuring, measuring_sight)
    return Remedy(weak, found, scores, differences, more, (names[0], names[1], names[2]))


def _trained(
    workspace: Workspace,
    request: Request,
    examples: Examples | None,
    say: Callable[[str], None] | None,
    on_batch: OnBatch | None,
) -> str:
    if say is not None:
        say(request.folder_name)
    train_in(workspace, request, examples, on_batch=on_batch)
    return request.folder_name


def _more(workspace: Workspace, request: Request, focus: str | None, shift: int) -> Examples:
    catalog = select(read_catalog(workspace), request.select)
    seen = catalog.filter(pl.col("image").is_in(sorted(seen_images(workspace, request, catalog))))
    return styled_examples(workspace, request, seen, focus, shift)


def _joined(base: Examples, added: Examples) -> Examples:
    return replace(base, train=(*base.train, *added.train), users=(*base.users, *added.users))


def _scores(
    workspace: Workspace, names: Sequence[str], questions: Sequence[Question], sight: Sight
) -> tuple[pl.DataFrame, pl.DataFrame]:
    taken = []
    for name in names:
        model = load_model(models_folder(workspace) / name, sight)
        taken.append(take(name, questions, model.answer(questions)))
    table = pl.concat(taken)
    return score_table(table, questions), difference_table(table, questions)
