"""Captions to relations in shards: several processes, one file per shard; a shard that is there is not made again."""

from collections.abc import Sequence
from concurrent.futures import as_completed
from functools import cache
from pathlib import Path

import polars as pl

from likewise.conditional.mining.captions import CAPTION_COLUMNS, CaptionChoice, import_captions, source_fingerprint
from likewise.conditional.mining.parsers import CaptionParser, get_parser
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.machine import usable_cores
from likewise.progress import ProgressCallback
from likewise.worker_processes import WorkerProcesses
from likewise.workspace import read_json, write_json, write_parquet

ROWS_PER_SHARD = 50_000
MAX_CHARACTERS = 2000  # of a caption that are parsed; a parser takes time by the square of a sentence
GRAMMAR = 4
"""Counts up when the same captions would give other relations."""

RELATION_SCHEMA = {"row": pl.Int64(), "subject": pl.String(), "relation": pl.String(), "object": pl.String()}


def captions_file(folder: Path) -> Path:
    return folder / "captions.parquet"


def shard_file(folder: Path, shard: int) -> Path:
    return folder / "relations" / f"part-{shard:05d}.parquet"


def _settings_file(folder: Path) -> Path:
    return folder / "parts.json"


def stored_rows_per_shard(folder: Path) -> int:
    """How many captions each shard but the last was made from."""
    return int(read_json(_settings_file(folder))["rows_per_part"])


def parse_captions(
    source: Path,
    folder: Path,
    *,
    parser: str,
    half: str | None = None,
    where: str | None = None,
    columns: Sequence[str] = CAPTION_COLUMNS,
    workers: int | None = None,
    rows_per_shard: int = ROWS_PER_SHARD,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> int:
    """Fill `folder/relations/` with the relations of every caption; returns the number of captions."""
    if rows_per_shard < 1 or (workers is not None and workers < 1):
        raise LikewiseError("the number of workers and of rows per shard must be at least 1.")
    captions = captions_file(folder)
    chosen = CaptionChoice(half, where, tuple(columns))
    _prepare(source, chosen, folder, parser, rows_per_shard, force)
    n_rows = int(pl.scan_parquet(captions, glob=False).select(pl.len()).collect().item())
    shards = range(-(-n_rows // rows_per_shard))
    missing = [shard for shard in shards if not shard_file(folder, shard).exists()]
    done = len(shards) - len(missing)

    def report_progress() -> None:
        if on_progress:
            on_progress("captions to relations", min(done * rows_per_shard, n_rows), n_rows)

    report_progress()
    n_workers = min(workers or usable_cores(), len(missing))
    if n_workers <= 1:
        for shard in missing:
            parse_shard(folder, shard, rows_per_shard, parser)
            done += 1
            report_progress()
        return n_rows
    with WorkerProcesses(n_workers) as pool:
        waiting = [pool.submit(parse_shard, folder, shard, rows_per_shard, parser) for shard in missing]
        for finished in as_completed(waiting):
            finished.result()
            done += 1
            report_progress()
    return n_rows


def _prepare(source: Path, chosen: CaptionChoice, folder: Path, parser: str, rows_per_shard: int, force: bool) -> None:
    """Read the captions; parts that were made from something else are an error, or with `force` discarded."""
    settings = {
        "source": source_fingerprint(source, chosen),
        "parser": parser,
        "rows_per_part": rows_per_shard,
        "grammar": GRAMMAR,
    }
    path = _settings_file(folder)
    replaced = path.exists() and read_json(path) != settings
    if replaced and not force:
        raise LikewiseError(
            f"{folder} holds relations of other captions, or by another parser: add `--force` to discard them, "
            "or name another folder with `--output`."
        )
    if path.exists() and captions_file(folder).exists() and not replaced:
        return
    get_parser(parser)  # an unknown one leaves nothing behind
    with written_together(folder) as staged:
        import_captions(source, staged.place(captions_file(folder)), chosen)
        write_json(settings, staged.place(path))
        if replaced:
            for old in (folder / "relations").glob("part-*.parquet"):
                staged.remove(old)


def parse_shard(folder: Path, shard: int, rows_per_shard: int, parser: str) -> None:
    """Write one shard: a row per relation or attribute (an empty relation), with the number of its caption."""
    start = shard * rows_per_shard
    captions = pl.scan_parquet(captions_file(folder), glob=False).slice(start, rows_per_shard).collect()
    columns: tuple[list[int], list[str], list[str], list[str]] = ([], [], [], [])
    rows, subjects, names, objects = columns
    texts = [(text or "")[:MAX_CHARACTERS] for text in captions["caption"].to_list()]
    for row, found in enumerate(_parser(parser)(texts), start):
        for subject, relation, thing in found:
            rows.append(row)
            subjects.append(subject)
            names.append(relation)
            objects.append(thing)
    table = pl.DataFrame(dict(zip(RELATION_SCHEMA, columns, strict=True)), schema=RELATION_SCHEMA)
    write_parquet(table, shard_file(folder, shard))


@cache
def _parser(parser: str) -> CaptionParser:
    return get_parser(parser)
