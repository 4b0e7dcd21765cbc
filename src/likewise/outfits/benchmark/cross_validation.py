"""Models measured on a shop's own outfits: trained on item-disjoint folds, tested on outfits of items they never saw.

FITB          share of blanks filled right, four choices of one category; every item of every test outfit is blanked
FITB hard     the same with choices of one category and one colour (or any other columns)
AUC           real outfits against the same with every item replaced by another of its category
hit@10        share of left-out items among the first ten of their category; one blank per outfit

Each value is a mean over test outfits. An outfit's part in the AUC is its own placement among the fakes plus that of
its fake among the real ones minus the AUC, so that its variance is DeLong's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet
from likewise.outfits.benchmark.folds import N_FOLDS, OutfitFolds, copy_groups, split_items
from likewise.outfits.benchmark.questions import DistractorPool, blank_questions, replaced_outfits
from likewise.outfits.benchmark.summary import VALUE_SCHEMA
from likewise.outfits.models.card import models_folder
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.models.registry import BASELINE_KINDS, TRAINABLE_KINDS, load_model, open_model
from likewise.outfits.polyvore import share_ranked_below
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitModel, OutfitQuestion, best_choices
from likewise.outfits.screening import outfit_examples, screen_outfit_models
from likewise.outfits.training.examples import OutfitExamples, drop_incomparable, split_outfits
from likewise.outfits.training.run_folder import settings_fingerprint
from likewise.outfits.training.step import TrainingRequest, read_outfits, train_outfit_model
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

TOP_K, MIN_CANDIDATES = 10, 20
FITB, FITB_HARD, AUC, HIT = "FITB", "FITB hard", "AUC", f"hit@{TOP_K}"
COLOUR_COLUMNS = ("colour", "color", "baseColour", "colour_name")


@dataclass(frozen=True)
class CrossValidationRequest:
    """What a user asks for; without models all kinds are measured."""

    models: tuple[str, ...] = ()
    encoders: str = ""
    outfits: Path | None = None
    n_folds: int = N_FOLDS
    words: bool = False
    """Also train every kind that is trained on words guessed from the vectors."""
    hard_columns: tuple[str, ...] = ()
    """What the choices of hard questions share beside the category; a column of colours by default."""
    preset: str = "usual"
    seed: int = 0


@dataclass(frozen=True)
class CrossValidation:
    """`values`: model, fold, measure, outfit, value, chance; the folds behind them; sentences of the guard."""

    values: pl.DataFrame
    folds: OutfitFolds
    hard_columns: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoldTest:
    """What is asked about the outfits of one fold."""

    outfits: list[Outfit]
    fakes: list[Outfit]
    questions: dict[str, list[OutfitQuestion]]

    def evaluation_set(self, name: str, digests: dict[str, str]) -> EvaluationSet:
        """For the guard: all items of the fold, and its looks."""
        items = [item for outfit in (*self.outfits, *self.fakes) for item in outfit.items]
        return EvaluationSet("outfits", name, outfit_examples(items, digests, [one.items for one in self.outfits]))


def cross_validate(
    workspace: WorkspaceFolder, request: CrossValidationRequest, *, on_progress: ProgressCallback | None = None
) -> CrossValidation:
    """Divide the items, train every kind on every fold's other outfits, and ask about the fold's own."""
    catalog = read_catalog(workspace)
    outfits, _ = read_outfits(workspace, catalog, request.outfits)
    groups = copy_groups(workspace, catalog)
    folds = split_items(outfits, request.n_folds, groups=groups, seed=request.seed)
    hard = request.hard_columns or tuple(name for name in COLOUR_COLUMNS if name in catalog.columns)[:1]
    digests = dict(catalog.select("image", "digest").iter_rows())
    contestants, features = list(_contestants(request)), WorkspaceFeatures(workspace)
    values, notes = [], dict[str, None]()
    for fold in range(request.n_folds):
        test = make_fold_test(folds.test(fold), catalog, hard, groups, request.seed)
        asked = test.evaluation_set(f"fold {fold + 1}", digests)
        for place, (name, kind, words) in enumerate(contestants):
            if on_progress is not None:
                on_progress("models", fold * len(contestants) + place, request.n_folds * len(contestants))
            model = _fold_model(features, request, folds, catalog, fold, kind, words)
            screening = screen_outfit_models([model], asked)
            screening.refuse_learned()
            notes |= dict.fromkeys(note for note in screening.notes([model.name]) if kind in BASELINE_KINDS)
            values.append(
                measure_fold(model, test).with_columns(pl.lit(name).alias("model"), pl.lit(fold).alias("fold"))
            )
    table = pl.concat(values).select(VALUE_SCHEMA.names()).cast(VALUE_SCHEMA)
    return CrossValidation(table, folds, hard, tuple(notes))


def _contestants(request: CrossValidationRequest) -> Iterator[tuple[str, str, bool]]:
    """Name in tables, kind, and whether it sees words."""
    for text in request.models or (*BASELINE_KINDS, *TRAINABLE_KINDS):
        kind = text.partition(":")[0]
        if kind not in BASELINE_KINDS and kind not in TRAINABLE_KINDS:
            known = ", ".join((*BASELINE_KINDS, *TRAINABLE_KINDS))
            raise LikewiseError(f"there is no kind of model {text!r} to train on folds: choose among {known}.")
        yield text, text, False
        if request.words and kind in TRAINABLE_KINDS and kind != "popular":
            yield f"{text}, words", text, True


def make_fold_test(
    outfits: list[Outfit], catalog: pl.DataFrame, hard: Sequence[str], groups: dict[str, str], seed: int = 0
) -> FoldTest:
    """The questions about the outfits of a fold; all choices are items of the fold."""
    about = {row[0]: row[1:] for row in catalog.select("item", *hard).iter_rows()}
    same_category = DistractorPool(outfits, lambda item: item.category, groups)
    questions = {FITB: blank_questions(outfits, same_category, seed=seed)}
    if hard:
        alike = DistractorPool(outfits, lambda item: (item.category, about[item.item]), groups)
        questions[FITB_HARD] = blank_questions(outfits, alike, seed=seed)
    questions[HIT] = shelf_questions(outfits, same_category, seed)
    return FoldTest(outfits, replaced_outfits(outfits, same_category, seed=seed), questions)


def shelf_questions(outfits: Sequence[Outfit], pool: DistractorPool, seed: int) -> list[OutfitQuestion]:
    """One blank per outfit, with everything else of its category to choose from; none where there is little."""
    rng = np.random.default_rng([seed, 47])
    made = []
    for outfit in outfits:
        shelves = [pool.shelf(item, outfit.items) for item in outfit.items]
        possible = [place for place, shelf in enumerate(shelves) if len(shelf) >= MIN_CANDIDATES]
        if not possible:
            continue
        blank = possible[int(rng.integers(len(possible)))]
        rest = outfit.items[:blank] + outfit.items[blank + 1 :]
        choices: tuple[Item, ...] = (outfit.items[blank], *shelves[blank])
        made.append(OutfitQuestion(f"{outfit.name}:{blank}", "FITB", rest, choices, blank, right=0))
    return made


def _fold_model(
    features: WorkspaceFeatures,
    request: CrossValidationRequest,
    folds: OutfitFolds,
    catalog: pl.DataFrame,
    fold: int,
    kind: str,
    words: bool,
) -> OutfitModel:
    """A baseline, or a model trained on the outfits without any item of the fold; a trained one is kept."""
    if kind.partition(":")[0] in BASELINE_KINDS:
        text = f"{kind}:{request.encoders}" if kind == "mean-cosine" and request.encoders else kind
        return open_model(text, features)
    settings = [request.encoders, request.preset, request.seed, str(request.outfits), request.n_folds]
    name = f"folds/{settings_fingerprint(settings)}/{fold + 1}/{kind}{'-words' if words else ''}"
    train = folds.train(fold)
    mine, valid = split_outfits(train, request.seed)
    examples = OutfitExamples(
        tuple(train[place] for place in drop_incomparable(train, mine)), tuple(train[place] for place in valid)
    ).with_catalog(catalog)
    asked = TrainingRequest(kind, name, request.encoders, preset=request.preset, seed=request.seed, words=words)
    train_outfit_model(features.workspace, asked, examples, features=features)
    return load_model(models_folder(features.workspace) / name, features, name=kind)


def measure_fold(model: OutfitModel, test: FoldTest) -> pl.DataFrame:
    """outfit, measure, value, chance: one row per outfit and measure."""
    rows: list[tuple[str, str, float, float]] = []
    for measure, questions in test.questions.items():
        answers = model.answer(questions) if questions else np.zeros((0, 1))
        credit = hit_credit(answers, TOP_K) if measure == HIT else right_credit(answers, questions)
        shown = TOP_K if measure == HIT else 1
        by_outfit: dict[str, list[tuple[float, float]]] = {}
        for question, value in zip(questions, credit.tolist(), strict=True):
            chance = min(1.0, shown / len(question.choices))
            by_outfit.setdefault(question.name.rpartition(":")[0], []).append((value, chance))
        rows += [(name, measure, *np.mean(each, axis=0).tolist()) for name, each in by_outfit.items()]
    rows += [(name, AUC, value, 0.5) for name, value in _auc_parts(model, test)]
    return pl.DataFrame(rows, schema=["outfit", "measure", "value", "chance"], orient="row")


def right_credit(answers: Floats, questions: Sequence[OutfitQuestion]) -> Floats:
    """1 where the right choice is picked; tied choices share the credit."""
    picked = best_choices(answers)
    right = np.array([question.right for question in questions], dtype=np.int64)
    return np.asarray(picked[np.arange(len(right)), right] / picked.sum(axis=1).clip(min=1))


def hit_credit(answers: Floats, k: int) -> Floats:
    """Whether the first choice is among the k best; where it is tied, the share of orders in which it is."""
    own = answers[:, :1]
    n_better = np.nansum(answers > own, axis=1)
    n_tied = np.nansum(answers == own, axis=1)
    return np.asarray(np.clip((k - n_better) / n_tied, 0.0, 1.0))


def _auc_parts(model: OutfitModel, test: FoldTest) -> list[tuple[str, float]]:
    """Of every outfit with a fake of its own, its part in the AUC."""
    fakes = {fake.name.removesuffix(":replaced"): fake for fake in test.fakes}
    real = [outfit for outfit in test.outfits if outfit.name in fakes]
    if len(real) < 2:
        return []
    scores = model.score([*real, *(fakes[outfit.name] for outfit in real)])
    own, other = scores[: len(real)], scores[len(real) :]
    above, below = share_ranked_below(own, other), 1.0 - share_ranked_below(other, own)
    parts = above + below - above.mean()
    return [(outfit.name, float(value)) for outfit, value in zip(real, parts, strict=True)]


def training_sizes(folds: OutfitFolds) -> list[tuple[int, int]]:
    """(outfits to learn from, outfits to test on) of every fold."""
    return [(len(folds.train(fold)), len(folds.test(fold))) for fold in range(folds.n_folds)]
