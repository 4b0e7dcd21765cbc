"""A million votes imported and judged: seconds and memory of the two commands, written into docs/labeling.md.

python -m benchmarks.million_votes [--votes 1000000]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from benchmarks.pages import DOCS, fill
from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.workspace import WorkspaceFolder

PAGE = DOCS / "labeling.md"
N_EXPERTS = 5
N_IMAGES = 1200
COMMANDS = (
    ("label", "import", "WS", "VOTES"),
    ("label", "consensus", "WS", "--rule", "majority"),
    ("label", "consensus", "WS", "--rule", "dawid-skene"),
)


@dataclass(frozen=True)
class Measured:
    """One command: its clock, its processor's time, and the most memory it held."""

    command: str
    seconds: float
    processor: float
    megabytes: float


def run(arguments: list[str]) -> Measured:
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "likewise", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    unit = 1024 if sys.platform != "darwin" else 1024**2
    words = " ".join(Path(word).name if "/" in word else word for word in arguments)
    return Measured(
        f"likewise {words}", time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / unit
    )


def make_votes(folder: Path, n_votes: int) -> tuple[WorkspaceFolder, Path]:
    """A catalog of small pictures, and answers of five experts who are right in nine of ten cases."""
    pictures = folder / "pictures"
    pictures.mkdir()
    for number in range(N_IMAGES):
        Image.new("RGB", (8, 8), (number % 256, number // 256, 0)).save(pictures / f"{number:04}.png")
    reading, workspace = read(pictures), WorkspaceFolder(folder / "shop")
    made = make_catalog(workspace, reading.rows, reading.root, "folder")
    images, rng = made.catalog["image"].to_numpy(), np.random.default_rng(0)
    n_pairs = n_votes // N_EXPERTS
    query, step = np.divmod(np.arange(n_pairs), N_IMAGES - 1)
    candidate = (query + 1 + step) % N_IMAGES
    truth = rng.random(n_pairs) < 0.3
    parts = []
    for expert in range(N_EXPERTS):
        similar = truth ^ (rng.random(n_pairs) < 0.1)
        answer = np.where(similar, "similar", "not similar")
        parts.append(pl.DataFrame({"query": images[query], "candidate": images[candidate], "answer": answer}))
        parts[-1] = parts[-1].with_columns(expert=pl.lit(f"expert {expert}"))
    pl.concat(parts).write_csv(folder / "votes.csv")
    return workspace, folder / "votes.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=1_000_000)
    n_votes = parser.parse_args().votes
    with tempfile.TemporaryDirectory(prefix="likewise-votes-") as name:
        workspace, votes = make_votes(Path(name), n_votes)
        named = {"WS": str(workspace.path), "VOTES": str(votes)}
        found = [run([named.get(word, word) for word in command]) for command in COMMANDS]
        size = workspace.votes_file.stat().st_size / 1e6
    rows = ["| command | clock, s | processor, s | memory, MB |", "|---|---:|---:|---:|"]
    rows += [f"| `{one.command}` | {one.seconds:.0f} | {one.processor:.0f} | {one.megabytes:,.0f} |" for one in found]
    text = f"{n_votes:,} votes of {N_EXPERTS} experts; votes.db then takes {size:,.0f} MB.\n\n" + "\n".join(rows)
    print(text)
    if n_votes >= 1_000_000:
        fill(PAGE, {"labeling-million-votes": text})


if __name__ == "__main__":
    main()
