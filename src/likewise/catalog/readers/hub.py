"""A benchmark as data-set hubs have it (MTEB's layout), such as `likewise bundle benchmark --to hub` writes:

    corpus/*.parquet, queries/*.parquet   id, image (bytes and path), item, category …
    qrels/*.parquet                       query-id, corpus-id, score
    labels/*.parquet                      query, candidate, label, grade …: every label, where likewise wrote the folder

Pictures are written to `root` under their ids; where ids name no picture, the ending of the picture is added. A query
that shares its id with another picture of the corpus goes to `queries/`. Tables: `queries`, and `labels`, which
`likewise label import` takes; without labels/ they are the qrels, whose scores are grades.
"""

from pathlib import Path, PurePosixPath

import polars as pl

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.readers.embedded_images import FILE_SIGNATURES
from likewise.catalog.readers.parsing import AnnotationParser
from likewise.catalog.readers.reading import MalformedLine, Reading, SourceFile
from likewise.errors import LikewiseError
from likewise.untrusted import read_untrusted_parquet
from likewise.workspace import discard_result, write_atomically

QRELS = {"query-id": "query", "corpus-id": "candidate", "score": "label"}
IMAGE = "image"


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of corpus and queries, and the labels as a table."""
    parser = AnnotationParser(path.absolute())
    if not (path / "corpus").is_dir() or not (path / "queries").is_dir():
        raise LikewiseError(
            f"{path} has no folders corpus and queries: give a folder in MTEB's layout, with corpus, queries and qrels."
        )
    pictures = _Pictures(parser, root)
    corpus = pictures.take(_parquet(path / "corpus", parser), "corpus")
    queries = pictures.take(_parquet(path / "queries", parser), "queries")
    rows = pl.concat([corpus, queries], how="diagonal_relaxed").drop("id").unique(IMAGE, keep="first")
    rows = rows.sort(IMAGE).with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("row"))
    named = [dict(each.select("id", IMAGE).iter_rows()) for each in (queries, corpus)]
    labels = _labels(path, parser, *named)
    tables = {"queries": queries.select(IMAGE).unique().sort(IMAGE), "labels": labels}
    return parser.to_reading(rows.select("row", IMAGE, pl.exclude("row", IMAGE)), root or path, tables)


class _Pictures:
    """Gives every id its key, and writes the pictures that come inside the files."""

    def __init__(self, parser: AnnotationParser, root: Path | None) -> None:
        self._parser, self._root = parser, root
        self._written: dict[str, bytes | None] = {}

    def take(self, table: pl.DataFrame, part: str) -> pl.DataFrame:
        """The table with the key of each picture instead of the picture."""
        contents = table[IMAGE].to_list() if IMAGE in table.columns else [None] * len(table)
        keys = []
        for number, (name, value) in enumerate(zip(table["id"].cast(pl.String), contents, strict=True), 1):
            content = None if value is None else value["bytes"]
            key = _key(str(name), content)
            if key is None:
                bad = MalformedLine(part, number, "row", "an id inside the folder", repr(name))
                self._parser.malformed.append(bad)
            elif part == "queries" and content is not None and self._written.get(key, content) != content:
                key = f"queries/{key}"
            if key is not None and content is not None and self._written.get(key) != content:
                self._write(key, content)
            keys.append(key)
        kept = table.with_columns(pl.Series("key", keys, pl.String)).filter(pl.col("key").is_not_null())
        return kept.drop(IMAGE, "modality", strict=False).rename({"key": IMAGE})

    def _write(self, key: str, content: bytes) -> None:
        if self._root is None:
            raise LikewiseError("the pictures are stored inside the data: say with `root` where to write them.")
        self._written[key] = content
        file = self._root / key
        if not file.is_file() or file.read_bytes() != content:
            write_atomically(file, lambda out: discard_result(out.write(content)))


def _key(name: str, content: bytes | None) -> str | None:
    """The key of a picture; None where an id would lead out of the folder."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        return None
    if content is None or Path(name).suffix.lower() in IMAGE_ENDINGS:
        return name
    return name + next((ending for start, ending in FILE_SIGNATURES.items() if content.startswith(start)), ".img")


def _labels(path: Path, parser: AnnotationParser, queries: dict[str, str], corpus: dict[str, str]) -> pl.DataFrame:
    """Every label, by the keys of its pictures; of pictures that are not here, none."""
    if (path / "labels").is_dir():
        table = _parquet(path / "labels", parser)
    elif (path / "qrels").is_dir():
        table = _parquet(path / "qrels", parser).rename(QRELS).select(*QRELS.values())
    else:
        return pl.DataFrame()
    names = corpus | queries
    table = table.with_columns(
        pl.col(column).cast(pl.String).replace_strict(known, default=None, return_dtype=pl.String)
        for column, known in (("query", names), ("candidate", corpus))
    )
    return table.drop_nulls(["query", "candidate"])


def _parquet(folder: Path, parser: AnnotationParser) -> pl.DataFrame:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise LikewiseError(f"{folder} has no Parquet file: download the data set again.")
    parts = []
    for file in files:
        parts.append(read_untrusted_parquet(file, str(file)))
        parser.files.append(SourceFile(parser.name(file.absolute()), len(parts[-1])))
    return pl.concat(parts, how="diagonal_relaxed")
