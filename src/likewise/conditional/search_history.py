"""What was asked before: asked.jsonl in a workspace, a line per question, so that it can be asked again."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from likewise.conditional.conditional_query import ConditionalQuery
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

HISTORY_FILE = "asked.jsonl"


@dataclass(frozen=True)
class AskedBefore:
    """One question, and when it was asked."""

    date: str
    request: ConditionalQuery

    @property
    def title(self) -> str:
        asked = self.request
        parts = [f"like {asked.image}"] if asked.image is not None else []
        parts += [f"“{condition}”" for condition in asked.conditions]
        parts += [f"more like {key}" for key in asked.more_like] + [f"less like {key}" for key in asked.less_like]
        parts += list(asked.where)
        return ", ".join(parts)


def add_search_to_history(workspace: WorkspaceFolder, asked: ConditionalQuery) -> None:
    """Remember a question about an image of the catalog, a file or a text.

    The last one asked again stands there once: so does one whose command was ended after it had been written.
    """
    line = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "image": None if asked.image is None else str(asked.image),
        "conditions": asked.conditions,
        "text_weight": asked.text_weight,
        "more_like": asked.more_like,
        "less_like": asked.less_like,
        "keep": asked.keep,
        "where": asked.where,
        "top_k": asked.top_k,
    }
    path, told = workspace.path / HISTORY_FILE, json.dumps(line, ensure_ascii=False)
    if _without_date((_lines(path) or [""])[-1]) != _without_date(told):
        _append(path, f"{told}\n".encode())


def _without_date(line: str) -> str:
    return line.partition(", ")[2]


def _append(path: Path, line: bytes) -> None:
    """All of a line, or, where the disk is full, nothing: the next one would be added to half a line."""
    with path.open("ab", buffering=0) as file:
        before, left = file.tell(), memoryview(line)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            file.truncate(before)
            raise


def read_history(workspace: WorkspaceFolder) -> list[AskedBefore]:
    """Every question, oldest first."""
    path = workspace.path / HISTORY_FILE
    return [_read_line(path, number, line) for number, line in enumerate(_lines(path), 1)]


def _lines(path: Path) -> list[str]:
    """Lines end with a line feed: a text may hold what else Unicode calls the end of a line."""
    text = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else ""
    return text.split("\n") if text else []


def _read_line(path: Path, number: int, line: str) -> AskedBefore:
    try:
        told = json.loads(line)
        request = ConditionalQuery(
            told["image"],
            tuple(told["conditions"]),
            float(told["text_weight"]),
            more_like=tuple(told["more_like"]),
            less_like=tuple(told["less_like"]),
            keep=tuple(told["keep"]),
            where=tuple(told["where"]),
            top_k=int(told["top_k"]),
        )
        return AskedBefore(str(told["date"]), request)
    except (ValueError, KeyError, TypeError) as error:
        raise LikewiseError(f"{path}, line {number} is no question: remove the line, or the file.") from error
