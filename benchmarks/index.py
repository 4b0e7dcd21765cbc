"""Exact search against the indexes at three sizes: time, memory and recall.

`python -m benchmarks.index` prints a Markdown table (that of docs/scale.md); every row runs in a process of its own, so
that its peak memory is its own.  Times are CPU seconds of all threads, because other programs may share the machine.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from likewise.intervals import wilson_interval
from likewise.neighbours.index import (
    KINDS,
    KnnProblem,
    build_index,
    recall_per_query,
    search_index,
    tune_effort,
)
from likewise.scale.cost_constants import clustered_vectors, core_seconds

SIZES, DIM, QUERIES, K = (52_000, 250_000, 1_000_000), 256, 1000, 10
TUNED = 100


@dataclass(frozen=True)
class Row:
    """One way at one size."""

    way: str
    vectors: int
    build_seconds: float
    search_seconds: float
    megabytes: float
    """Peak of the process beyond the vectors themselves and what importing takes."""
    recall: float
    low: float
    high: float
    effort: int


def measure(way: str, n_vectors: int) -> Row:
    gallery = clustered_vectors(n_vectors, DIM)
    rows = np.random.default_rng(1).choice(n_vectors, QUERIES, replace=False)
    problem = KnnProblem(gallery[rows], gallery, K, rows, np.arange(n_vectors), one_per_group=False)
    problem.subset(np.arange(8)).exact_top_k()
    before = forget_peak()
    if way == "exact":
        search, _ = core_seconds(problem.exact_top_k)
        return Row(way, n_vectors, 0.0, search, peak() - before, 1.0, 1.0, 1.0, 0)
    build, index = core_seconds(lambda: build_index(gallery, way, 0))
    effort = tune_effort(index, way, problem.subset(np.arange(TUNED)))
    search, found = core_seconds(lambda: search_index(index, problem))
    megabytes = peak() - before
    measured = problem.subset(np.arange(TUNED, QUERIES))
    recall = float(recall_per_query(found.indices[TUNED:], measured.exact_top_k().indices).mean())
    return Row(way, n_vectors, build, search, megabytes, recall, *wilson_interval(recall, QUERIES - TUNED), effort)


def forget_peak() -> float:
    """Let the kernel begin its high-water mark anew; megabytes held now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def table(rows: list[Row]) -> str:
    lines = [
        f"| vectors × {DIM} | way | build, CPU s | {QUERIES:,} queries, CPU s | more memory, MB | recall@{K} |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        build = f"{row.build_seconds:,.1f}" if row.build_seconds else "–"
        share = f"{100 * row.recall:.1f} % ({100 * row.low:.1f}–{100 * row.high:.1f})" if row.effort else "exact"
        lines.append(
            f"| {row.vectors:,} | {row.way} | {build} | {row.search_seconds:,.2f} | {row.megabytes:,.0f} | {share} |"
        )
    return "\n".join(lines)


def slower_than_exact(rows: list[Row]) -> str:
    """Where an index did not pay, in a sentence; nothing where it always did."""
    exact = {row.vectors: row.search_seconds for row in rows if row.way == "exact"}
    slow = [row for row in rows if row.search_seconds > exact.get(row.vectors, float("inf"))]
    where = " and ".join(
        f"{row.way} over {row.vectors:,} ({row.search_seconds / exact[row.vectors]:.1f} times the CPU time)"
        for row in slow
    )
    return f"Slower than exact search on these vectors: {where}." if slow else ""


def all_rows(sizes: tuple[int, ...], file: Path) -> list[Row]:
    """Every way at every size, the slow ones last; rows that the file has already are kept."""
    rows = [Row(**each) for each in json.loads(file.read_text())] if file.exists() else []
    for way in ("exact", *KINDS):
        for n_vectors in sizes:
            if any((row.way, row.vectors) == (way, n_vectors) for row in rows):
                continue
            words = [sys.executable, "-m", "benchmarks.index", way, str(n_vectors)]
            rows.append(Row(**json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)))
            file.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return sorted(rows, key=lambda row: (row.vectors, ("exact", *KINDS).index(row.way)))


def main(file: Path | None = None) -> None:
    """`file` keeps the rows, so that a stopped run goes on."""
    with tempfile.TemporaryDirectory() as folder:
        rows = all_rows((5000,) if "small" in sys.argv else SIZES, file or Path(folder) / "rows.json")
    print(f"\nindex: recall measured on {QUERIES - TUNED} queries that were not used for tuning\n\n{table(rows)}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdecimal():
        print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2])))))
    else:
        main(Path(sys.argv[1]) if sys.argv[1:] and sys.argv[1] != "small" else None)
