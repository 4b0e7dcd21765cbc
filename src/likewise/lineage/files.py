"""`lineage.parquet` beside a model or its vectors, and `FILE.lineage.parquet` beside a file that leaves a workspace.

One table with the columns lesson, kind, key, item, content. A row of the kind `lesson` has the facts of a lesson as
JSON; those of the kinds image, caption and answer, with the same number, are what it showed; `pretrained` and `unknown`
stand alone.
"""

import io
import json
from pathlib import Path

import polars as pl

from likewise.chain import table_digest
from likewise.errors import LikewiseError
from likewise.lineage.record import IMAGE_SCHEMA, TASKS, Examples, Lesson, Lineage
from likewise.untrusted import ColumnRule, check_columns, read_untrusted_parquet
from likewise.workspace import discard_result, write_atomically

NAME = "lineage.parquet"
SCHEMA = pl.Schema({"lesson": pl.Int32, "kind": pl.String, "key": pl.String, "item": pl.String, "content": pl.String})
ALONE = ("pretrained", "unknown")
TOLD = ("lesson", "image", "caption", "answer")
COLUMNS = {
    "lesson": ColumnRule("whole", null=True, low=0, high=2**31 - 1),
    "kind": ColumnRule(),
    "key": ColumnRule(one_line=False),
    "item": ColumnRule(null=True, one_line=False),
    "content": ColumnRule(null=True),
}


def lineage_file(folder: Path) -> Path:
    """Where the record of a model, or of vectors, lies in its folder."""
    return folder / NAME


def sidecar_file(path: Path) -> Path:
    """Where the record of a single file lies: beside it."""
    return path.with_name(f"{path.name}.{NAME}")


def to_bytes(lineage: Lineage) -> bytes:
    """The same record always gives the same bytes."""
    parts = [_rows(None, kind, getattr(lineage, kind)) for kind in ALONE]
    for number, lesson in enumerate(lineage.lessons):
        facts = {name: getattr(lesson, name) for name in ("task", "step", "catalog", "fingerprint", "half")}
        parts += [
            _rows(number, "lesson", [json.dumps(facts, ensure_ascii=False)]),
            lesson.examples.images.select(
                pl.lit(number, pl.Int32).alias("lesson"),
                pl.lit("image").alias("kind"),
                pl.col("image").alias("key"),
                "item",
                "content",
            ),
            _rows(number, "caption", sorted(lesson.examples.captions)),
            _rows(number, "answer", sorted(lesson.examples.answers)),
        ]
    buffer = io.BytesIO()
    pl.concat(parts).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def from_bytes(content: bytes, where: str) -> Lineage:
    """The record that `to_bytes` wrote; `where` is named in an error."""
    try:
        table = check_columns(read_untrusted_parquet(content, where), COLUMNS, where)
        table = table.select(SCHEMA.names()).cast(dict(SCHEMA))  # type: ignore[arg-type]
        known = (
            pl.when(pl.col("lesson").is_null()).then(pl.col("kind").is_in(ALONE)).otherwise(pl.col("kind").is_in(TOLD))
        )
        if len(odd := table.select(known).to_series().not_().arg_true()):
            raise ValueError(f"row {odd[0] + 1} is of the kind {table['kind'][int(odd[0])]!r:.60}")
        alone = {kind: tuple(table.filter(kind=kind)["key"]) for kind in ALONE}
        lessons = tuple(_lesson(part) for part in table.drop_nulls("lesson").partition_by("lesson"))
    except (pl.exceptions.PolarsError, LikewiseError, ValueError, KeyError, TypeError) as error:
        first = str(error).split("\n", 1)[0]
        raise LikewiseError(f"{where} does not say what a model learned from ({first}): make it again.") from error
    return Lineage(lessons, **alone)


def write_lineage(lineage: Lineage, path: Path) -> None:
    content = to_bytes(lineage)
    write_atomically(path, lambda file: discard_result(file.write(content)))


def read_lineage(path: Path) -> Lineage | None:
    """The record in a file, None where there is none."""
    return from_bytes(path.read_bytes(), str(path)) if path.is_file() else None


def record_digest(path: Path) -> str:
    """Of the content of a record; empty where there is none."""
    return table_digest(pl.read_parquet(path, glob=False)) if path.is_file() else ""


def read_model_lineage(folder: Path, name: str) -> Lineage:
    """The record of a model's folder; a model without one is of unknown lineage."""
    found = read_lineage(lineage_file(folder))
    return Lineage(unknown=(name,)) if found is None else found


def _rows(number: int | None, kind: str, keys: list[str] | tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame({"key": pl.Series(keys, dtype=pl.String)}).select(
        pl.lit(number, pl.Int32).alias("lesson"),
        pl.lit(kind).alias("kind"),
        "key",
        pl.lit(None, pl.String).alias("item"),
        pl.lit(None, pl.String).alias("content"),
    )


def _lesson(rows: pl.DataFrame) -> Lesson:
    [about] = rows.filter(kind="lesson")["key"]
    facts = json.loads(about)
    if facts["task"] not in TASKS:
        raise ValueError(f"the task {facts['task']!r} is not known")
    images = rows.filter(kind="image").select(pl.col("key").alias("image"), "item", "content")
    captions, answers = (frozenset(rows.filter(kind=kind)["key"]) for kind in ("caption", "answer"))
    return Lesson(examples=Examples(images.cast(dict(IMAGE_SCHEMA)), captions, answers), **facts)  # type: ignore[arg-type]
