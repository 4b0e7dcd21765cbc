"""`likewise train perceptual` on answers of simulated people: seconds, processor time, memory, and what it found.

Two cases: few items and many questions about them, and a million answers about ten thousand items. Items have hidden
properties; encoders see mixtures of them with noise, people look at some of them more than at others. Each case runs in
a process of its own, so its memory is its own, and fills its block of docs/learning.md.

`python -m benchmarks.perceptual small` runs one of them. With LIKEWISE_SOURCE=OTHER/src it measures another version of
the package and fills nothing.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.pages import DOCS, fill, paragraph
from likewise.encoders.storage.importing import import_vectors
from likewise.machine import usable_cores
from likewise.workspace import FORMAT, WorkspaceFolder, write_json, write_parquet

N_PROPERTIES, CLARITY, VOTES = 40, 0.5, 3


@dataclass(frozen=True)
class Case:
    """So many answers about so many items, seen by encoders of these sizes."""

    n_items: int
    n_answers: int
    dims: tuple[int, ...]


CASES = {
    "small": Case(85, 30_000, (1280, 627, 656, 229, 112, 627, 229, 229)),
    "large": Case(10_000, 1_000_000, (1280, 627, 656, 229, 112)),
}


BLOCKS = {"learning-speed-small": "small", "learning-speed-large": "large"}


def main() -> None:
    for name in sys.argv[1:] if sys.argv[0].endswith("perceptual.py") and sys.argv[1:] else CASES:
        with tempfile.TemporaryDirectory() as folder:
            write_case(CASES[name], Path(folder))
            said = measure(name, Path(folder))
        if "LIKEWISE_SOURCE" not in os.environ:
            fill(DOCS / "learning.md", {block: paragraph(said) for block, case in BLOCKS.items() if case == name})


def write_case(case: Case, folder: Path) -> None:
    """A workspace with stored vectors, and a file of triplets."""
    rng = np.random.default_rng(0)
    properties = rng.normal(size=(case.n_items, N_PROPERTIES)) * np.linspace(1.0, 0.2, N_PROPERTIES)
    names = pl.Series("image", [f"item-{number:05d}" for number in range(case.n_items)])
    workspace = WorkspaceFolder(folder / "workspace")
    catalog = pl.DataFrame({"image": names, "item": names, "category": "thing", "digest": names})
    write_parquet(catalog, workspace.path / "catalog.parquet")
    write_json({"format": FORMAT, "root": "."}, workspace.path / "workspace.json")
    for number, dim in enumerate(case.dims):
        seen = properties @ rng.normal(size=(N_PROPERTIES, dim)) + 1.5 * rng.normal(size=(case.n_items, dim))
        np.savez(folder / "vectors.npz", images=names.to_numpy().astype(str), vectors=seen.astype(np.float32))
        import_vectors(workspace, f"encoder-{number}", folder / "vectors.npz")
    simulated_answers(properties, names, case.n_answers, rng).write_csv(folder / "triplets.csv")


def simulated_answers(
    properties: NDArray[np.float64], names: pl.Series, n_answers: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Votes whose probability is a sigmoid of the difference of squared distances, as people weigh the properties."""
    weights = rng.gamma(0.5, 1.0, N_PROPERTIES)
    anchor = rng.integers(0, len(names), n_answers)
    close, far = ((anchor + rng.integers(1, len(names), n_answers)) % len(names) for _ in range(2))
    different = close != far
    anchor, close, far = anchor[different], close[different], far[different]
    gap = (properties[anchor] - properties[far]) ** 2 - (properties[anchor] - properties[close]) ** 2
    yes = rng.binomial(VOTES, 1.0 / (1.0 + np.exp(-CLARITY * (gap @ weights))))
    roles = {"anchor": anchor, "close": close, "far": far}
    named = pl.DataFrame({role: names.gather(rows) for role, rows in roles.items()})
    return named.with_columns(votes_close=pl.Series(yes), votes_far=pl.Series(VOTES - yes))


def measure(name: str, folder: Path) -> str:
    """Run the command in a process of its own, print what it took, and say it in a sentence."""
    command = [sys.executable, "-m", "likewise", "train", "perceptual", "workspace", "--triplets", "triplets.csv"]
    bases = ",".join(f"encoder-{number}" for number in range(len(CASES[name].dims)))
    source = os.environ.get("LIKEWISE_SOURCE", str(Path(__file__).parents[1] / "src"))
    environment = os.environ | {"PYTHONPATH": source, "COLUMNS": "100"}
    started = time.perf_counter()
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen([*command, "--with", bases], cwd=folder, env=environment, stdout=output, stderr=-2)
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    text = (folder / "output.txt").read_text()
    if status:
        raise SystemExit(text)
    case, cores = CASES[name], usable_cores()
    print(f"\nperceptual, {name}: {case.n_answers:,} answers, {case.n_items:,} items, {len(case.dims)} encoders")
    print(f"  {seconds:,.1f} s on {cores} cores, {used.ru_utime + used.ru_stime:,.1f} s of processor time")
    print(f"  {used.ru_maxrss / 1e6:,.2f} GB at most")
    load, processor = os.getloadavg()[1], used.ru_utime + used.ru_stime
    for line in re.findall(r"^(?:choosing and.*|chosen.*|\s+perceptual .*)$", text, re.MULTILINE):
        print(f"  {line.strip()}")
    return (
        f"{case.n_answers:,} answers about {case.n_items:,} items, seen by {len(case.dims)} encoders: "
        f"{processor:,.0f} s of processor time and at most {used.ru_maxrss / 1e6:,.1f} GB, {seconds:,.0f} s on the "
        f"clock of {cores} cores (load average {load:.0f})."
    )


if __name__ == "__main__":
    main()
