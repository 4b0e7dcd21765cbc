"""The zero-shot table of `combiner.md`: a Combiner that learned from pictures with texts, asked about other catalogs.

    python docs/zero_shot.py --data FOLDER --work FOLDER [--text minilm] [--words | --study]

`FOLDER/captioned` are photographs with five captions each, `stylists` a fashion house's packshots, `products` another
shop's catalog, `emoji` drawn signs; the wardrobe is drawn here.  Towers, triplets and Combiner see the part `train` of
photographs and packshots; settings are chosen on their part `validate`; the tests are the photographs' part `test` and
the other catalogs.  Every step is one that a user has; what is there already is not made again.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from kept import made_once
from marks import fill
from zero_shot_catalogs import workspace_of
from zero_shot_pages import study_blocks, words_blocks, zero_shot_blocks
from zero_shot_plan import (
    ARMS,
    BASELINES,
    CAPTIONS,
    CLOTHES,
    COMBINER_NAME,
    DIM,
    FIXED_WEIGHTS,
    LESSONS,
    MINED,
    NO_CATEGORIES,
    ONE_VECTOR,
    PER_TASK,
    SAID,
    SEEDS,
    TESTS,
    TOWER_STEPS,
    TOWERS,
    USED,
    VALIDATION,
    WORD_SEEDS,
    WORD_STEPS,
    WORD_TEMPLATES,
    StudyArm,
    TestSet,
)

from likewise.catalog import read_catalog
from likewise.conditional.combiner import SETTINGS as COMBINER_SETTINGS
from likewise.conditional.combiner import read_combiner
from likewise.conditional.composers import ComposerMethod, ImageAndText
from likewise.conditional.evaluate import TaskResults, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.methods import get_methods
from likewise.conditional.mining.filters import FILTERS
from likewise.conditional.mining.step import mine_triplets
from likewise.conditional.protocol import Composer, ConditionalMethod, Features
from likewise.conditional.pseudo_words import SETTINGS as WORDS_SETTINGS
from likewise.conditional.pseudo_words import read_pseudo_words
from likewise.conditional.recall import recall_at_k
from likewise.conditional.seeds import differences_over_seeds, recall_over_seeds
from likewise.conditional.templates.files import read_templates, template_sets
from likewise.conditional.templates.step import build_template_set
from likewise.conditional.text_training import TextTrainingSettings, train_pseudo_words
from likewise.conditional.towers import TwoTower, normalize
from likewise.conditional.training import TrainingSettings, train_combiner
from likewise.conditional.training_triplets import read_training_triplets
from likewise.conditional.two_tower import DEFAULT_BASE, TwoTowerSettings, encode_base, train_two_tower
from likewise.encoders.families.two_tower import SETTINGS as TOWER_SETTINGS
from likewise.encoders.families.two_tower import read_two_tower_config
from likewise.workspace import WorkspaceFolder

DOCS = Path(__file__).parent


@dataclass(frozen=True)
class OneVector:
    """A Combiner by its query vector alone, as the search page uses it."""

    combiner: Composer
    name: str = ONE_VECTOR

    def compose(self, reference: Features, condition: Features) -> Features:
        return self.combiner.compose(reference, condition)


def tower_of(lessons: WorkspaceFolder, work: Path, name: str, settings: TwoTowerSettings) -> TwoTower:
    folder = work / name
    if not (folder / TOWER_SETTINGS).exists():
        done = train_two_tower(lessons, folder, settings, workers=1)
        print(name, f"{done.recall_at_1:.3f} of {done.n_captions}", round(done.seconds), "s", flush=True)
    return TwoTower.from_spec(f"two-tower:{folder}")


def mined(lessons: WorkspaceFolder, data: Path, work: Path, name: str) -> int:
    """How many triplets one of `MINED` has."""
    ratings = next((data / "concreteness").glob("*.txt"))
    chosen, n_triplets = MINED[name]
    rules = FILTERS[chosen]
    run = mine_triplets(
        lessons.path,
        work / f"mined-{name}",
        ratings=ratings if rules.needs_ratings else None,
        rules=rules,
        n_triplets=n_triplets,
        where="split=train",
        columns=CAPTIONS,
        workers=1,
        parser="textblob",
    )
    return run.n_triplets


def templates_of(workspace: WorkspaceFolder, test: TestSet) -> pl.DataFrame:
    if test.name not in template_sets(workspace):
        build_template_set(workspace, test.name, test.annotations, tasks=test.tasks, per_task=PER_TASK)
    return read_templates(workspace, test.name)[1]


def combiner_of(
    lessons: WorkspaceFolder, tower: TwoTower, work: Path, name: str, triplets: str, settings: TrainingSettings
) -> Path:
    folder = work / "combiners" / name
    if not (folder / COMBINER_SETTINGS).exists():
        validate = read_templates(lessons, "validate")[1]
        examples = read_training_triplets(str(work / f"mined-{triplets}"), lessons)
        done = train_combiner(lessons, tower, examples, validate, folder, settings)
        print(name, done.best_step, round(100 * done.best_recall, 1), round(done.seconds), "s", flush=True)
    return folder


def words_of(lessons: WorkspaceFolder, tower: TwoTower, work: Path, seed: int) -> Path:
    folder = work / "words" / f"seed{seed}"
    if not (folder / WORDS_SETTINGS).exists():
        settings = TextTrainingSettings(
            columns=CAPTIONS, where="split=train", steps=WORD_STEPS, batch=32, validate_every=20, seed=seed
        )
        done = train_pseudo_words(lessons, tower, folder, settings)
        print(folder.name, done.best_step, round(done.seconds), "s", flush=True)
    return folder


def travel(data: Path, work: Path, text: str) -> dict[str, Any]:
    """From the lessons to the numbers of the table, with the settings that the plan names."""
    lessons = workspace_of(LESSONS, data, work)
    learning = learning_settings(text)
    towers = [tower_of(lessons, work, f"tower{seed}", replace(learning, seed=seed)) for seed in SEEDS]
    mined(lessons, data, work, USED.triplets)
    for test in VALIDATION:
        templates_of(lessons, test)
    folders = [
        combiner_of(lessons, tower, work, f"used-{seed}", USED.triplets, replace(USED.settings, seed=seed))
        for seed, tower in zip(SEEDS, towers, strict=True)
    ]
    found = {
        test.title: stored(work, f"test {test.title}", partial(measured, test, towers, folders, data, work))
        for test in TESTS
    }
    parts = read_catalog(lessons).filter(split="train")
    learned = [read_two_tower_config(work / f"tower{seed}").about for seed in SEEDS]
    return {
        "tables": {title: each["rows"] for title, each in found.items()},
        "differences": {title: each["differences"] for title, each in found.items()},
        "one_vector": {title: each["one_vector"] for title, each in found.items()},
        "towers": [{**each["held_out"], "n_images": each["n_images"]} for each in learned],
        "lessons": dict(parts.group_by("source").len().sort("len").iter_rows()),
        "best_steps": [read_combiner(folder).about["best_step"] for folder in folders],
        "text": text,
    }


def words_alone(data: Path, work: Path, text: str) -> dict[str, Sequence[dict[str, Any]]]:
    """The rows of pseudo-words, by test set."""
    lessons = workspace_of(LESSONS, data, work)
    learning = learning_settings(text)
    towers = [tower_of(lessons, work, f"tower{seed}", replace(learning, seed=seed)) for seed in WORD_SEEDS]
    words = [words_of(lessons, tower, work, seed) for seed, tower in zip(WORD_SEEDS, towers, strict=True)]
    return {
        test.title: stored(work, f"words {test.title}", partial(measured_words, test, towers, words, data, work))
        for test in TESTS
    }


def learning_settings(text: str) -> TwoTowerSettings:
    """How the first tower learns, by its sentence encoder."""
    return TwoTowerSettings(columns=CAPTIONS, sentences=text, where="split=train", dim=DIM, steps=TOWER_STEPS)


def study(data: Path, work: Path, text: str) -> dict[str, Any]:
    """On held-out pictures alone: ways to train a Combiner, fixed weights, towers."""
    lessons, learning = workspace_of(LESSONS, data, work), learning_settings(text)
    n_validate = {test.title: templates_of(lessons, test).height for test in VALIDATION}
    first = tower_of(lessons, work, "tower0", learning)
    choices = [stored(work, f"arm {arm.name}", partial(study_row, arm, first, lessons, data, work)) for arm in ARMS]
    weights = stored(work, "weights", partial(fixed_weights, first, data, work))
    compared = [
        stored(work, f"tower {name}", partial(tower_row, name, replace(learning, **more), lessons, data, work))
        for name, more in TOWERS.items()
    ]
    return {"n_validate": n_validate, "choices": choices, "compared": compared, "weights": weights}


def file_name(name: str) -> str:
    return "".join(sign if sign.isalnum() else "-" for sign in name)


def stored(work: Path, name: str, make: Callable[[], Any]) -> Any:
    """What was measured before, or measured now and kept."""
    print(name, flush=True)
    return made_once(work / "measured" / f"{file_name(name)}.json", make)


def measured(
    test: TestSet, towers: Sequence[TwoTower], folders: Sequence[Path], data: Path, work: Path
) -> dict[str, list[dict[str, Any]]]:
    """The rows of one test set over seeds, and how the Combiner differs from the others in pairs."""
    workspace = workspace_of(test.workspace, data, work)
    templates = templates_of(workspace, test)
    combiners = [[trained(folder), ComposerMethod(OneVector(read_combiner(folder)))] for folder in folders]
    results = [score(workspace, *each, templates) for each in zip(towers, combiners, strict=True)]
    others = [name for name in results[0] if name != COMBINER_NAME]
    return {
        "rows": recall_over_seeds("tower", results).to_dicts(),
        "differences": differences_over_seeds(results, COMBINER_NAME, others).to_dicts(),
        "one_vector": differences_over_seeds(results, ONE_VECTOR, ["image + text"]).to_dicts(),
    }


def measured_words(
    test: TestSet, towers: Sequence[TwoTower], words: Sequence[Path], data: Path, work: Path
) -> list[dict[str, Any]]:
    """The rows of pseudo-words and of image + text on the same templates."""
    workspace = workspace_of(test.workspace, data, work)
    templates = templates_of(workspace, test).filter(pl.col("template") < WORD_TEMPLATES)
    found = []
    for tower, folder in zip(towers, words, strict=True):
        tower.encode(workspace, workers=1)
        methods = [*get_methods(("image+text",), workspace, tower), read_pseudo_words(folder)]
        found.append(score_templates(templates, ImageTextFeatures.load(workspace, tower, templates), methods))
    return recall_over_seeds("tower", found).to_dicts()


def study_row(arm: StudyArm, tower: TwoTower, lessons: WorkspaceFolder, data: Path, work: Path) -> dict[str, Any]:
    """An arm on both validation sets."""
    n_triplets = mined(lessons, data, work, arm.triplets)
    folder = combiner_of(lessons, tower, work, file_name(arm.name), arm.triplets, arm.settings)
    found = validation_scores(tower, [trained(folder)], data, work)
    return {"arm": arm.name, "n_triplets": n_triplets, "best_step": read_combiner(folder).about["best_step"], **found}


def tower_row(
    name: str, settings: TwoTowerSettings, lessons: WorkspaceFolder, data: Path, work: Path
) -> dict[str, Any]:
    """A tower and a Combiner above it, on both validation sets."""
    place = list(TOWERS).index(name)
    mined(lessons, data, work, USED.triplets)
    tower = tower_of(lessons, work, f"tower0{f'-{place}' if place else ''}", settings)
    folder = combiner_of(lessons, tower, work, f"tower{place}", USED.triplets, USED.settings)
    clothes = share_named_right(workspace_of(CLOTHES, data, work), tower)
    return {"tower": name, "clothes": clothes, **validation_scores(tower, [trained(folder)], data, work)}


def share_named_right(clothes: WorkspaceFolder, tower: TwoTower) -> float:
    """Of pictures of another catalog, whether the name of their own category is nearest; the mean over categories.

    Cosines are counted from the mean over the pictures: how far a name is from all of them says nothing.
    """
    catalog = read_catalog(clothes)
    encode_base(clothes, DEFAULT_BASE, catalog["image"].to_list(), 1, None)
    tower.encode(clothes, workers=1)
    known = catalog.filter(~pl.col("category").is_in(NO_CATEGORIES))
    names = known["category"].unique().sort().to_list()
    images = normalize(tower.image_features(clothes, known["image"].to_list()))
    cosines = images @ normalize(tower.text_features([SAID.get(name, name.lower()) for name in names])).T
    nearest = (cosines - cosines.mean(axis=0)).argmax(axis=1)
    right = known.select("category", right=pl.Series([names[place] for place in nearest]) == pl.col("category"))
    return float(right.group_by("category").agg(pl.col("right").mean())["right"].to_numpy().mean())


def trained(folder: Path) -> ConditionalMethod:
    return ComposerMethod(read_combiner(folder, COMBINER_NAME))


def fixed_weights(tower: TwoTower, data: Path, work: Path) -> dict[str, dict[str, float]]:
    """weight of the text, in percent -> validation set -> Recall@1 of image + text."""
    sums = [ComposerMethod(ImageAndText(percent / 100, str(percent))) for percent in FIXED_WEIGHTS]
    found = validation_scores(tower, sums, data, work)
    return {each.name: found[each.name] for each in sums}


def validation_scores(
    tower: TwoTower, more: Sequence[ConditionalMethod], data: Path, work: Path
) -> dict[str, dict[str, float]]:
    """method -> validation set -> Recall@1 over its templates, of all tasks together."""
    found: dict[str, dict[str, float]] = {}
    for test in VALIDATION:
        workspace = workspace_of(test.workspace, data, work)
        for method, tasks in score(workspace, tower, more, templates_of(workspace, test)).items():
            values = np.concatenate([recall_at_k(each.ranks, 1) for each in tasks.values()])
            found.setdefault(method, {})[test.title] = float(values.mean())
    return found


def score(
    workspace: WorkspaceFolder, tower: TwoTower, more: Sequence[ConditionalMethod], templates: pl.DataFrame
) -> TaskResults:
    encode_base(workspace, DEFAULT_BASE, read_catalog(workspace)["image"].to_list(), 1, None)
    tower.encode(workspace, workers=1)
    methods = [*get_methods(BASELINES, workspace, tower), *more]
    return score_templates(templates, ImageTextFeatures.load(workspace, tower, templates), methods)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--text", default="minilm", help="the sentence encoder: minilm, or a folder")
    parser.add_argument("--study", action="store_true", help="the tables of the validation sets, and no other")
    parser.add_argument("--words", action="store_true", help="the table of pseudo-words, and no other")
    asked = parser.parse_args()
    if asked.words:
        fill(DOCS / "combiner.md", words_blocks(words_alone(asked.data, asked.work, asked.text)))
        return
    if asked.study:
        fill(DOCS / "combiner.md", study_blocks(study(asked.data, asked.work, asked.text)))
        return
    found = made_once(asked.work / "zero_shot.json", lambda: travel(asked.data, asked.work, asked.text))
    fill(DOCS / "combiner.md", zero_shot_blocks(found))


if __name__ == "__main__":
    main()
