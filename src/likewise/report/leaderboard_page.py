"""The leaderboard page: results of several workspaces and bundles side by side, one table per benchmark.

Numbers of different benchmarks are never ranked together. Date and command of a row come from the note that was
written when the model was evaluated, so the page has the same bytes whenever it is built.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.different_generators import no_rank_note
from likewise.evaluation.discovery import RESULT_SCHEMA
from likewise.evaluation.provenance import ResultNote, catalog_file, note_file, read_note
from likewise.report.catalog_board import CatalogBoard, catalog_board
from likewise.report.formatting import plural
from likewise.report.headline import RULES
from likewise.report.leaderboard import Cell, Column, Leaderboard, LeaderboardRow, Whisker, leaderboard
from likewise.report.page import render
from likewise.report.plots.palette import DASHES, MODEL_LIGHT, model_styles
from likewise.report.provenance import MEASURE_DESCRIPTIONS
from likewise.workspace import read_parquet, write_text

WORKSPACE_RESULTS = Path("results") / "discovery.parquet"
BRAND = "likewise <span>· leaderboard</span>"
"""In the head of every leaderboard page."""
SEPARATOR = "\x1f"  # between the number of a result and an encoder's name, which may stand in several results


@dataclass(frozen=True)
class ResultTable:
    """A table of results and its note; `catalog` has estimates for the whole catalog, where its pairs were drawn."""

    table: pl.DataFrame
    note: ResultNote
    catalog: pl.DataFrame | None = None


@dataclass(frozen=True)
class LeaderboardEntry:
    """One row: a model in one result."""

    encoder: str
    generator: bool
    learned: bool
    cells: list[Cell]
    whisker: Whisker | None
    note: ResultNote
    command: int  # its place in the benchmark's list, from 1

    @property
    def day(self) -> str:
        return self.note.date[:10]


@dataclass(frozen=True)
class BenchmarkLeaderboard:
    """Everything measured on the same queries, gallery and labels."""

    name: str
    id: str
    basis: str
    simulated: bool
    board: Leaderboard
    columns: list[Column]
    entries: list[LeaderboardEntry]
    commands: list[str]
    lineage: list[str]
    """What the guard said about models when they were evaluated."""
    whole: CatalogBoard | None = None
    """Estimates for the whole catalog; they stand first."""
    no_rank: str | None = None
    """Why its models have no ranks, where their generators are too much alike."""


def write_leaderboard_page(results: Sequence[Path], page: Path, *, title: str = "Leaderboard") -> Path:
    """Write the page from result files, workspaces, or folders of result files; returns its path."""
    if page.is_dir():
        raise LikewiseError(f"{page} is a folder: name the page, such as {page / 'leaderboard.html'}.")
    if page.exists() and not is_leaderboard_page(page):
        raise LikewiseError(
            f"{page} is no leaderboard page and would be overwritten: name the page to write first, then the results."
        )
    benchmarks = rank_by_benchmark([read_result(path) for path in result_files(results)])
    encoders = {row.encoder for benchmark in benchmarks for row in benchmark.entries}
    marks = {
        name: (MODEL_LIGHT.index(colour), DASHES.index(dash)) for name, (colour, dash) in model_styles(encoders).items()
    }
    dates = [row.day for benchmark in benchmarks for row in benchmark.entries]
    counted = f"{plural(len(dates), 'result')} on {plural(len(benchmarks), 'benchmark')}"
    page_text = render(
        "leaderboard_page.html",
        title=title,
        benchmarks=benchmarks,
        marks=marks,
        meanings=MEASURE_DESCRIPTIONS,
        counted=f"{counted}, the latest of {max(dates)}",
    )
    write_text(page_text, page)
    return page


def is_leaderboard_page(path: Path) -> bool:
    """Whether a file was written by `write_leaderboard_page`."""
    return path.is_file() and BRAND.encode() in path.read_bytes()


def result_files(paths: Sequence[Path]) -> list[Path]:
    """The files behind what a user named: a file, a workspace, or a folder of files that have notes."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.glob("*.parquet"))
            if (path / WORKSPACE_RESULTS).exists():
                inside = [path / WORKSPACE_RESULTS]
            noted = [file for file in inside if note_file(file).exists() or len(inside) == 1]
            if not noted:
                raise LikewiseError(f"{path} holds no results: run `likewise evaluate`, or name a results file.")
            found += noted
        else:
            found.append(path)
    if not found:
        raise LikewiseError("a leaderboard needs results: name result files, or workspaces that were evaluated.")
    return list({file.resolve(): file for file in found}.values())


def read_result(path: Path) -> ResultTable:
    table = read_parquet(path, "likewise evaluate")
    missing = [column for column in RESULT_SCHEMA if column not in table.columns]
    if missing or table.is_empty():
        what = f"no column {', '.join(missing)}" if missing else "no model"
        raise LikewiseError(f"{path} has {what}: no table that this `likewise evaluate` wrote; evaluate again.")
    beside = catalog_file(path)
    whole = read_parquet(beside, "likewise evaluate") if beside.exists() else None
    if whole is not None and whole.is_empty():
        whole = None
    return ResultTable(table.select(RESULT_SCHEMA.names()), read_note(path), whole)


def rank_by_benchmark(results: Sequence[ResultTable]) -> list[BenchmarkLeaderboard]:
    """Results by benchmark, those with the most rows first; within one, by falling gallery ROC-AUC."""
    by_id: dict[str, list[ResultTable]] = {}
    for result in sorted(results, key=lambda one: (one.note.date, one.note.command)):
        by_id.setdefault(result.note.benchmark_id, []).append(result)
    benchmarks = [_rank_benchmark(key, group) for key, group in by_id.items()]
    return sorted(benchmarks, key=lambda one: (-len(one.entries), one.name, one.id))


def _rank_benchmark(key: str, results: list[ResultTable]) -> BenchmarkLeaderboard:
    tables = [
        one.table.with_columns(encoder=pl.concat_str(pl.lit(f"{number}{SEPARATOR}"), "encoder"))
        for number, one in enumerate(results)
    ]
    board = leaderboard(pl.concat(tables))
    shown = board.shown
    ordered = [results[int(model.encoder.partition(SEPARATOR)[0])].note for model in board.models]
    commands = list(dict.fromkeys(note.command for note in ordered))
    note = results[0].note
    no_rank = next((said for one in results if (said := no_rank_note(one.note.n_different))), None)
    entries = [_make_entry(*row, shown, commands) for row in zip(board.models, ordered, strict=True)]
    return BenchmarkLeaderboard(
        name=note.benchmark,
        id=key,
        basis=_basis(board, note),
        simulated=note.simulated,
        board=board,
        columns=[board.columns[place] for place in shown],
        entries=entries if no_rank is None else _without_ranks(entries),
        commands=commands,
        lineage=list(dict.fromkeys(line for result in results for line in result.note.lineage)),
        whole=_whole_catalog(results),
        no_rank=no_rank,
    )


def _without_ranks(entries: list[LeaderboardEntry]) -> list[LeaderboardEntry]:
    """By name and date, none of them called best."""
    ordered = sorted(entries, key=lambda row: (row.encoder, row.note.date))
    return [replace(row, cells=[replace(cell, best=False) for cell in row.cells]) for row in ordered]


def _whole_catalog(results: list[ResultTable]) -> CatalogBoard | None:
    """The estimates of all results on one benchmark; of a model that was measured twice the latest."""
    tables = [one.catalog for one in results if one.catalog is not None]
    if not tables:
        return None
    return catalog_board(pl.concat(tables).unique(["encoder", "measure"], keep="last", maintain_order=True))


def _make_entry(model: LeaderboardRow, note: ResultNote, shown: list[int], commands: list[str]) -> LeaderboardEntry:
    encoder, cells = model.encoder.partition(SEPARATOR)[2], [model.cells[place] for place in shown]
    command = commands.index(note.command) + 1
    return LeaderboardEntry(encoder, model.generator, model.learned, cells, model.whisker, note, command)


def _basis(board: Leaderboard, note: ResultNote) -> str:
    experts = plural(note.n_experts, "simulated expert" if note.simulated else "expert")
    who = f"labelled by {experts}" if note.n_experts else "labels imported without votes"
    rule = f"; consensus: {RULES[note.consensus]}" if note.consensus in RULES else ""
    pairs = plural(board.n_pairs, "labelled pair")
    return f"{plural(board.n_queries_total, 'query', 'queries')}, {pairs}, {who}{rule}."
