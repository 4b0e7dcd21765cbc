"""Damage a valid file in many ways and say what became of each: refused with a sentence, or read to something sound."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, Phase, given, settings

from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import make_bundle
from likewise.outfits.bundle import write_test
from likewise.outfits.protocol import Item, OutfitQuestion
from tests.evaluation.labelled_workspace import make_labelled
from tests.hostile.formats import (
    Format,
    bundle_damage,
    read_bundle,
    read_outfit_answers,
    read_outfit_test,
    table_damage,
    text_damage,
)

SHOWN = 60


@dataclass
class Attack:
    """What became of the inputs of one format: how many were refused, and what was changed in those that were read."""

    n_inputs: int = 0
    n_refused: int = 0
    read: list[str] = field(default_factory=list)


def attack(form: Format, n_inputs: int) -> Attack:
    """Damage a valid file in many ways: each is read to something sound, or refused with a sentence."""
    found = Attack()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "valid"
        folder.mkdir()
        valid = form.place(folder)
        form.read(valid)
        work = Path(place) / "work"
        shutil.copytree(folder, work)
        target = work / valid.relative_to(folder)

        @settings(
            max_examples=n_inputs,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(form.damage(target))
        def try_one(act: Callable[[], None]) -> None:
            act()
            found.n_inputs += 1
            try:
                form.read(target)
                found.read.append(what_changed(valid, target))
            except LikewiseError as error:
                said = str(error)
                assert said and "\n" not in said and len(said) < 2000, said
                found.n_refused += 1
            finally:
                shutil.rmtree(work)
                shutil.copytree(folder, work)

        try_one()
    return found


def what_changed(before: Path, after: Path) -> str:
    """In a few words: the bytes of a text, the columns and cells of a table, the files of a folder."""
    if before.is_dir():
        changed = [file.name for file in sorted(after.iterdir()) if _differs(before / file.name, file)]
        tables = [name for name in changed if name != "card.json"]
        return "; ".join(f"{name}: {what_changed(before / name, after / name)}" for name in tables or changed)
    if not _differs(before, after):
        return "nothing"
    if before.suffix == ".parquet":
        return _changed_table(pl.read_parquet(before), pl.read_parquet(after))
    old, new = before.read_bytes(), after.read_bytes()
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return f"{_shown(old[start : len(old) - end])} became {_shown(new[start : len(new) - end])}"


def _differs(before: Path, after: Path) -> bool:
    return before.is_dir() != after.is_dir() or (before.is_file() and before.read_bytes() != after.read_bytes())


def _changed_table(old: pl.DataFrame, new: pl.DataFrame) -> str:
    if old.columns != new.columns:
        return f"columns {sorted(set(old.columns) ^ set(new.columns))}"
    if len(old) != len(new):
        return f"{len(old)} rows became {len(new)}"
    cells = [
        f"{name} {_shown(a)} became {_shown(b)}"
        for name in old.columns
        for a, b in zip(old[name].to_list(), new[name].to_list(), strict=True)
        if repr(a) != repr(b)
    ]
    types = [f"{name} is {new[name].dtype}" for name in old.columns if old[name].dtype != new[name].dtype]
    return "; ".join([*types, *cells[:1]]) or "the order of its bytes"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def make_valid_bundle(folder: Path) -> Path:
    make_bundle(make_labelled(folder), folder / "bundle", title="Shapes", licence="CC0")
    return folder / "bundle"


def make_outfit_test(folder: Path) -> Path:
    """A test of taste, and answers to it."""
    questions = []
    for number in range(4):
        worn = tuple(Item(f"{kind}{number}", kind, f"{kind}{number}.png") for kind in ("dresses", "shoes"))
        choices = tuple(Item(f"bag{number}{letter}", "bags", f"bag{number}{letter}.png") for letter in "abc")
        questions.append(OutfitQuestion(f"LAT-{number}", "LAT", worn, choices, 2, people=(3, 1, 0)))
        questions.append(OutfitQuestion(f"AAT-{number}", "AAT", worn, choices, 2, "color", "same color", 1))
    write_test(
        folder / "test", questions, lambda image: image.encode(), title="Bags", licence="CC0", description="Bags."
    )
    rows = {"question": [question.name for question in questions], "scores": [[0.1, 0.7, 0.2]] * 8}
    pl.DataFrame(rows).write_ndjson(folder / "scores.jsonl")
    pl.DataFrame(rows).write_parquet(folder / "scores.parquet")
    pl.DataFrame({"question": rows["question"], "choice": [1] * 8}).write_csv(folder / "choices.csv")
    return folder


def bundle_format(bundle: Path) -> Format:
    def place(folder: Path) -> Path:
        return Path(shutil.copytree(bundle, folder / "bundle"))

    return Format("bundle", place, bundle_damage, read_bundle)


def outfit_formats(outfit_test: Path) -> list[Format]:
    def place(name: str) -> Callable[[Path], Path]:
        def copy(folder: Path) -> Path:
            shutil.copytree(outfit_test, folder, dirs_exist_ok=True)
            return folder / name

        return copy

    return [
        Format("outfit test", place("test"), bundle_damage, read_outfit_test),
        Format("scores.jsonl", place("scores.jsonl"), text_damage, read_outfit_answers),
        Format("scores.parquet", place("scores.parquet"), table_damage, read_outfit_answers),
        Format("choices.csv", place("choices.csv"), text_damage, read_outfit_answers),
    ]
