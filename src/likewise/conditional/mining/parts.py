"""Captions to relations in parts: several processes, one file per part, and a part that is there is not made again."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import polars as pl

from likewise.conditional.mining.captions import fingerprint, import_captions
from likewise.conditional.mining.relations import relations_of
from likewise.conditional.mining.tagging import Tagger, tagger_of
from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.workspace import read_json, write_json, write_parquet

ROWS_PER_PART = 50_000
GRAMMAR = 2
"""Counts up when the same captions would give other relations."""

RELATION_SCHEMA = {"row": pl.Int64(), "subject": pl.String(), "relation": pl.String(), "object": pl.String()}
Told = Callable[[str, int, int], None] | None


@dataclass(frozen=True)
class PartsSettings:
    """What decides the content of the parts."""

    source: str
    parser: str
    rows_per_part: int
    grammar: int = GRAMMAR


def captions_file(folder: Path) -> Path:
    return folder / "captions.parquet"


def part_file(folder: Path, part: int) -> Path:
    return folder / "relations" / f"part-{part:05d}.parquet"


def _settings_file(folder: Path) -> Path:
    return folder / "parts.json"


def rows_of_a_part(folder: Path) -> int:
    """How many captions each part but the last was made from."""
    return int(read_json(_settings_file(folder))["rows_per_part"])


def parse_captions(
    source: Path,
    folder: Path,
    *,
    parser: str,
    workers: int | None = None,
    rows_per_part: int = ROWS_PER_PART,
    force: bool = False,
    on_progress: Told = None,
) -> int:
    """Fill `folder/relations/` with the relations of every caption; returns the number of captions."""
    if rows_per_part < 1 or (workers is not None and workers < 1):
        raise LikewiseError("the number of workers and of rows per part must be at least 1.")
    captions = captions_file(folder)
    _settle(source, folder, parser, rows_per_part, force)
    if not captions.exists():
        import_captions(source, captions)
    n_rows = int(pl.scan_parquet(captions, glob=False).select(pl.len()).collect().item())
    parts = range(-(-n_rows // rows_per_part))
    missing = [part for part in parts if not part_file(folder, part).exists()]
    done = len(parts) - len(missing)

    def tell() -> None:
        if on_progress:
            on_progress("captions to relations", min(done * rows_per_part, n_rows), n_rows)

    tell()
    n_workers = min(workers or usable_cores(), len(missing))
    if n_workers <= 1:
        for part in missing:
            parse_part(folder, part, rows_per_part, parser)
            done += 1
            tell()
        return n_rows
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_workers, mp_context=context) as pool:
        waiting = [pool.submit(parse_part, folder, part, rows_per_part, parser) for part in missing]
        for finished in as_completed(waiting):
            finished.result()
            done += 1
            tell()
    return n_rows


def _settle(source: Path, folder: Path, parser: str, rows_per_part: int, force: bool) -> None:
    """Parts that were made from something else are an error, or with `force` discarded."""
    settings = asdict(PartsSettings(fingerprint(source), parser, rows_per_part))
    path = _settings_file(folder)
    if path.exists() and read_json(path) != settings:
        if not force:
            raise LikewiseError(
                f"{folder} holds relations of other captions, or by another parser: add `--force` to discard them, "
                "or name another folder with `--to`."
            )
        for old in [captions_file(folder), *(folder / "relations").glob("part-*.parquet")]:
            old.unlink(missing_ok=True)
    write_json(settings, path)


def parse_part(folder: Path, part: int, rows_per_part: int, parser: str) -> None:
    """Write one part: a row per relation, with the number of its caption."""
    start = part * rows_per_part
    captions = pl.scan_parquet(captions_file(folder), glob=False).slice(start, rows_per_part).collect()
    columns: tuple[list[int], list[str], list[str], list[str]] = ([], [], [], [])
    rows, subjects, names, objects = columns
    texts = [text or "" for text in captions["caption"].to_list()]
    for row, words in enumerate(_tagger(parser)(texts), start):
        for subject, relation, thing in relations_of(words):
            rows.append(row)
            subjects.append(subject)
            names.append(relation)
            objects.append(thing)
    table = pl.DataFrame(dict(zip(RELATION_SCHEMA, columns, strict=True)), schema=RELATION_SCHEMA)
    write_parquet(table, part_file(folder, part))


@cache
def _tagger(parser: str) -> Tagger:
    return tagger_of(parser)
