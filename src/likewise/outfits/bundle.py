"""A test as something to hand around: a folder or zip with a card and a checksum, verified whenever it is opened.

questions.parquet   question, kind, dimension, sub_dimension, category, blank, items, choices (names of items)
answers.parquet     question, right (place of the right choice), people (how many chose what), n_people
items.parquet       item, image, category
images/             the pictures, by `image`
card.json, card.md  what it is, who answered, under which licence, and the sums of all files
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise import __version__
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.card import checksum_of, has_card, read_card
from likewise.evaluation.bundles.files import (
    CARD,
    Entry,
    FileRecord,
    check_name,
    file_record,
    open_entries,
    read_entry,
    refuse_existing,
    verify_entry,
    write_entries,
)
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.tables import answer_table, item_table, question_table, questions_from_tables
from likewise.untrusted import TEXT, ColumnRule, check_columns, check_shape, read_untrusted_parquet

FORMAT, VERSION = "likewise-outfit-test", 1
TABLES = ("questions", "answers", "items")
MAX_TABLE_BYTES = 1 << 30
COLUMNS = {
    "questions": {
        "question": TEXT,
        "kind": TEXT,
        "items": ColumnRule("texts"),
        "choices": ColumnRule("texts"),
        "blank": ColumnRule("whole", null=True, low=0),
        "dimension": ColumnRule(null=True),
        "sub_dimension": ColumnRule(null=True),
    },
    "items": {"item": TEXT, "category": ColumnRule(null=True), "image": TEXT},
    "answers": {
        "question": TEXT,
        "right": ColumnRule("whole", null=True, low=0),
        "people": ColumnRule("wholes", null=True),
    },
}

KEYS = {"questions": "question", "answers": "question", "items": "item"}
FACTS = {"title": str, "description": str, "licence": str, "likewise": str, "sizes": {}, "made": {}}


@dataclass(frozen=True)
class OutfitTest:
    """A verified test."""

    path: Path
    card: dict[str, Any]
    questions: list[OutfitQuestion]

    @property
    def images(self) -> list[str]:
        """Every picture that the questions show, sorted."""
        return item_table(self.questions)["image"].unique().sort().to_list()


def write_test(
    path: Path,
    questions: Sequence[OutfitQuestion],
    read_image: Callable[[str], bytes],
    *,
    title: str,
    licence: str,
    description: str = "",
    made: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> OutfitTest:
    """Write a test; `read_image` gives the file of an image key; `made` says how the questions came about."""
    if not questions:
        raise LikewiseError(f"{path}: a test needs at least one question.")
    if not title.strip() or not licence.strip():
        raise LikewiseError("a test needs a title and a licence: say under which terms others may use it.")
    names = Counter(question.name for question in questions)
    if names.most_common(1)[0][1] > 1:
        raise LikewiseError(f"two questions are called {names.most_common(1)[0][0]}: names must differ.")
    check_overwrite(path, overwrite=overwrite)
    facts = {
        "title": title.strip(),
        "description": description.strip(),
        "licence": licence.strip(),
        "likewise": __version__,
        "sizes": _sizes(questions),
        "made": dict(made or {}),
    }
    write_entries(path, _entries(questions, read_image, facts))
    return open_test(path)


def check_overwrite(path: Path, *, overwrite: bool) -> None:
    """Nothing is written over silently, and what is no test not at all."""
    refuse_existing(path, is_ours=has_card(path, FORMAT), replace=overwrite, what="test of taste")


def open_test(path: Path, checksum: str | None = None) -> OutfitTest:
    """Read a test, every file verified; with `checksum`, only the test that has this very one."""
    with open_entries(path) as open_entry:
        card = read_card(read_entry(open_entry, CARD, None, path), path, FORMAT, VERSION, "test of taste", checksum)
        files = {name: FileRecord(each["bytes"], each["sha256"]) for name, each in card["files"].items()}
        tables = {}
        for name in TABLES:
            stored = files.get(f"{name}.parquet")
            if stored is None or stored.bytes > MAX_TABLE_BYTES:
                raise LikewiseError(f"{path} has no {name}.parquet that could be read: it is not a complete test.")
            where = f"{path}: {name}.parquet"
            content = read_entry(open_entry, f"{name}.parquet", stored, path)
            tables[name] = check_columns(read_untrusted_parquet(content, where), COLUMNS[name], where)
        for name, stored in files.items():
            if name.removesuffix(".parquet") not in TABLES:
                verify_entry(open_entry, name, stored, path)
    for name, key in KEYS.items():
        _refuse_repeats(tables[name][key], f"{path}: {name}.parquet")
    questions = questions_from_tables(tables["questions"], tables["items"], tables["answers"])
    _check_facts(card, questions, tables["answers"], path)
    return OutfitTest(path, card, questions)


def _refuse_repeats(names: pl.Series, where: str) -> None:
    if (repeated := names.filter(names.is_duplicated())).len():
        raise LikewiseError(f"{where} has two rows of the {names.name} {repeated[0]}: keep one.")


def _check_facts(card: dict[str, Any], questions: Sequence[OutfitQuestion], answers: pl.DataFrame, path: Path) -> None:
    """A card is shown to people, so its facts have their types, and its counts are those of the tables."""
    check_shape(card, FACTS, f"{path}: {CARD}")
    if not questions:
        raise LikewiseError(f"{path} has no questions: it is no test.")
    if unknown := set(answers["question"]) - {question.name for question in questions}:
        raise LikewiseError(f"{path}: answers.parquet answers {min(unknown)}, which is no question of the test.")
    for name, n in _sizes(questions).items():
        if (said := card["sizes"].get(name)) != n:
            what = name.replace("_", " ")
            raise LikewiseError(f"{path}: the card speaks of {said} for {what}, the tables of {n}: get it again.")


def read_images(test: OutfitTest) -> Iterator[Entry]:
    """(image key, file content) of every picture of the test."""
    with open_entries(test.path) as open_entry:
        for image in test.images:
            each = test.card["files"].get(f"images/{image}")
            if each is not None:
                stored = FileRecord(each["bytes"], each["sha256"])
                yield image, read_entry(open_entry, f"images/{image}", stored, test.path)


def _entries(
    questions: Sequence[OutfitQuestion], read_image: Callable[[str], bytes], facts: dict[str, Any]
) -> Iterator[Entry]:
    files: dict[str, FileRecord] = {}
    tables = {
        "questions": question_table(questions),
        "answers": answer_table(questions),
        "items": item_table(questions),
    }
    for name, table in tables.items():
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression="zstd")
        files[f"{name}.parquet"] = file_record(buffer.getvalue())
        yield f"{name}.parquet", buffer.getvalue()
    for image in tables["items"]["image"].unique().sort():
        check_name(f"images/{image}", "the test")
        content = read_image(image)
        files[f"images/{image}"] = file_record(content)
        yield f"images/{image}", content
    text = _card_text(facts).encode()
    files["card.md"] = file_record(text)
    yield "card.md", text
    listed = {name: {"bytes": stored.bytes, "sha256": stored.sha256} for name, stored in sorted(files.items())}
    card = {"format": FORMAT, "version": VERSION, **facts, "files": listed}
    card |= {"checksum": checksum_of(card)}
    yield CARD, (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()


def card_text(test: OutfitTest) -> str:
    """The card as people read it."""
    return _card_text(test.card)


def _sizes(questions: Sequence[OutfitQuestion]) -> dict[str, Any]:
    kinds = Counter(question.kind for question in questions)
    dimensions = Counter(question.dimension for question in questions if question.dimension)
    people = [sum(question.people) for question in questions if question.people]
    return {
        "questions": len(questions),
        "kinds": dict(sorted(kinds.items())),
        "dimensions": dict(sorted(dimensions.items())),
        "items": len(item_table(questions)),
        "people_per_question": [min(people), max(people)] if people else None,
    }


def _card_text(facts: Mapping[str, Any]) -> str:
    sizes = facts["sizes"]
    kinds = ", ".join(f"{n} {kind}" for kind, n in sizes["kinds"].items())
    people = sizes["people_per_question"]
    lines = [
        f"# {facts['title']}",
        "",
        facts["description"] or "(no description)",
        "",
        f"- **licence:** {facts['licence']}",
        f"- **questions:** {sizes['questions']} ({kinds}), showing {sizes['items']:,} items",
        *(f"- **{name}:** {n} questions" for name, n in sizes["dimensions"].items()),
        f"- **people per question:** {f'{people[0]} to {people[1]}' if people else 'nobody was asked'}",
        *(f"- **{name.replace('_', ' ')}:** {value}" for name, value in facts["made"].items()),
        f"- **made with:** likewise {facts['likewise']}",
        "",
        "Take it: `likewise outfits score TEST --model …`. The checksum of all files is in `card.json`.",
    ]
    return "\n".join(lines) + "\n"
