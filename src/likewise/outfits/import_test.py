"""Published tests of taste as they come: a table of questions with a folder of pictures, or A100's folders.

`table`  one row per question: `question, items, choices` (pictures, separated by spaces or `;`, or lists), `right`
         (from 0, or the picture itself), and where there are any `kind` (LAT, AAT, FITB), `dimension, sub_dimension,
         category, blank` and `people` (how many chose what, in the order of the choices).
`a100`   a folder `LAT` and `AAT` with one folder of pictures per question: names that begin with a number, `q` or
         `question` are the outfit, names that begin with a letter A to E, `choice` or `answer` the choices; beside them
         `answers.csv` (test, question, answer, and for LAT how many chose A to E). The dimension of an AAT question
         follows from its number, as in the paper. Written after the paper's description: the files themselves were not
         at hand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

from likewise.catalog.check import check_image
from likewise.catalog.readers.table import read_table
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.files import check_name
from likewise.outfits.dimensions import AAT_PLAN
from likewise.outfits.protocol import Item, OutfitQuestion, QuestionKind
from likewise.untrusted import TEXT, ColumnRule, check_columns, check_line

LAYOUTS = ("table", "a100")
ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
CHOICE = re.compile(r"^(?:choice|answer|option)?[ _-]?([a-e])(?:[ _.-]|$)", re.IGNORECASE)
LETTERS = "ABCDE"
WORD, COUNT = ColumnRule(null=True, optional=True), ColumnRule("whole", null=True, optional=True, low=0, high=2**53)
COLUMNS = {
    "question": TEXT,
    "items": ColumnRule("anything"),
    "choices": ColumnRule("anything"),
    **dict.fromkeys(("kind", "right", "category", "dimension", "sub_dimension"), WORD),
    "blank": COUNT,
}
A100_COLUMNS = {
    "test": TEXT,
    "question": ColumnRule("whole", low=0, high=9999),
    "answer": TEXT,
    **dict.fromkeys(LETTERS, COUNT),
}


@dataclass(frozen=True)
class PublishedTest:
    """Questions whose pictures are files below `root`; those with a missing picture are left out and counted."""

    questions: list[OutfitQuestion]
    root: Path
    n_left_out: int


def read_published_test(source: Path, layout: str = "table", images: Path | None = None) -> PublishedTest:
    """A test from a table or from A100's folders."""
    if layout not in LAYOUTS:
        raise LikewiseError(f"there is no layout {layout!r}: use {' or '.join(LAYOUTS)}.")
    if layout == "a100":
        return _read_a100(source)
    path = next(iter(sorted(source.glob("questions.*"))), None) if source.is_dir() else source
    if path is None or not path.exists():
        raise LikewiseError(
            f"{source} holds no table of questions: name the file, or put questions.csv into the folder."
        )
    return _read_table_test(path, images or path.parent)


def _read_table_test(path: Path, root: Path) -> PublishedTest:
    table = check_columns(read_table(path), COLUMNS, str(path))
    made, n_left_out = [], 0
    is_picture = cache(lambda name: check_image(root / name).fault is None)
    for row in table.iter_rows(named=True):
        items, choices = (_names(row[column], f"{path}: {column}") for column in ("items", "choices"))
        for name in (*items, *choices):
            check_name(name, str(path))
        if not items or len(choices) < 2:
            raise LikewiseError(f"{path}: question {row['question']} needs an item and two choices at least.")
        if not all(is_picture(name) for name in (*items, *choices)):
            n_left_out += 1
            continue
        kind = str(row.get("kind") or "FITB")
        if kind not in get_args(QuestionKind):
            raise LikewiseError(f"{path}: question {row['question']} is of kind {kind}, not LAT, AAT or FITB.")
        right, people = _right(row.get("right"), choices, path, row["question"]), _counts(row.get("people"), path)
        if people and len(people) != len(choices):
            raise LikewiseError(
                f"{path}: question {row['question']} has {len(choices)} choices and {len(people)} counts."
            )
        if kind == "LAT" and not people and right is not None:
            people = tuple(int(place == right) for place in range(len(choices)))
        if right is None and not people:
            raise LikewiseError(
                f"{path}: nobody says what is right in question {row['question']}: add right or people."
            )
        made.append(
            OutfitQuestion(
                str(row["question"]),
                cast(QuestionKind, kind),
                tuple(Item(name, "", name) for name in items),
                tuple(Item(name, str(row.get("category") or ""), name) for name in choices),
                min(len(items), int(row["blank"])) if row.get("blank") is not None else len(items),
                row.get("dimension"),
                row.get("sub_dimension"),
                right,
                people,
            )
        )
    return _checked(made, root, n_left_out, path)


def _names(value: Any, where: str) -> list[str]:
    """A list, or what `;` or spaces separate."""
    parts = value if isinstance(value, list) else re.split(r"[;\s]+", str("" if value is None else value).strip())
    if not all(isinstance(each, str | int) for each in parts):
        raise LikewiseError(f"{where} holds {type(parts[0]).__name__}: write names, separated by spaces, or a list.")
    return [check_line(str(each), "the name", where) for each in parts if each != ""]


def _counts(value: Any, path: Path) -> tuple[int, ...]:
    """How many people chose what."""
    counts = _names(value, f"{path}: people")
    if not all(re.fullmatch(r"[0-9]{1,9}", each) for each in counts):
        raise LikewiseError(
            f"{path}: people are {' '.join(counts)[:60]!r}: write how many chose what, as whole numbers."
        )
    return tuple(map(int, counts))


def _right(value: Any, choices: Sequence[str], path: Path, question: object) -> int | None:
    if value is None:
        return None
    text = str(value)
    place = choices.index(text) if text in choices else int(text) if re.fullmatch(r"[0-9]{1,4}", text) else -1
    if not 0 <= place < len(choices):
        raise LikewiseError(f"{path}: question {question} has no choice {text}: count from 0, or name the picture.")
    return place


def _read_a100(folder: Path) -> PublishedTest:
    answers = _a100_answers(folder / "answers.csv")
    made, n_left_out = [], 0
    kinds: tuple[QuestionKind, ...] = ("LAT", "AAT")
    for kind in kinds:
        for place in sorted(path for path in (folder / kind).glob("*") if path.is_dir()):
            number = int(re.sub(r"\D", "", place.name) or 0)
            pictures = sorted(path for path in place.iterdir() if path.suffix.lower() in ENDINGS)
            choices = {found[1].upper(): path for path in pictures if (found := CHOICE.match(path.name))}
            items = [path for path in pictures if path not in choices.values()]
            answer = answers.get((kind, number))
            if not items or len(choices) < 2 or answer is None or answer[0] not in choices:
                n_left_out += 1
                continue
            letters = sorted(choices)
            dimension, sub = _a100_dimension(number) if kind == "AAT" else (None, None)
            right = letters.index(answer[0])
            people = answer[1] or tuple(int(one == answer[0]) for one in letters)
            made.append(
                OutfitQuestion(
                    f"{kind}-{number:03d}",
                    kind,
                    tuple(_picture(path, folder) for path in items),
                    tuple(_picture(choices[letter], folder) for letter in letters),
                    len(items),
                    dimension,
                    sub,
                    right,
                    people if kind == "LAT" else (),
                )
            )
    return _checked(made, folder, n_left_out, folder)


def _picture(path: Path, root: Path) -> Item:
    name = path.relative_to(root).as_posix()
    return Item(name, "", name)


def _a100_answers(path: Path) -> dict[tuple[str, int], tuple[str, tuple[int, ...]]]:
    if not path.exists():
        raise LikewiseError(f"{path} is not there: it says what is right (test, question, answer, and A to E for LAT).")
    table = check_columns(read_table(path), A100_COLUMNS, str(path))
    counted = [letter for letter in LETTERS if letter in table.columns]
    found = {}
    for row in table.iter_rows(named=True):
        counts = tuple(int(row[letter]) for letter in counted if row[letter] is not None)
        found[row["test"].upper(), int(row["question"])] = (row["answer"].strip().upper(), counts)
    return found


def _a100_dimension(number: int) -> tuple[str, str]:
    """The sub-dimension of an AAT question by its number, as the paper lists them."""
    last = 0
    for dimension, subs in AAT_PLAN.items():
        for sub, quota in subs.items():
            last += quota
            if number <= last:
                return dimension, sub
    raise LikewiseError(f"A100 has {last} questions, so there is none with the number {number}.")


def _checked(made: list[OutfitQuestion], root: Path, n_left_out: int, path: Path) -> PublishedTest:
    if not made:
        raise LikewiseError(f"{path}: no question has all its pictures and an answer ({n_left_out} were left out).")
    return PublishedTest(made, root, n_left_out)
