"""The table of outfits.md on how long a suggestion takes: `python docs/outfits_speed.py` (two minutes of one core).

Runs `python -m benchmarks.looks` with one thread and puts what it prints into the page.
"""

import os
import subprocess
import sys
from pathlib import Path

from marks import fill

HERE = Path(__file__).parent
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.looks"],
        cwd=HERE.parent,
        env=os.environ | ONE_THREAD,
        check=True,
        capture_output=True,
        text=True,
    )
    title, head, *rows = ran.stdout.splitlines()
    print(ran.stdout)
    lines = [f"| {' | '.join(line.split())} |" for line in (head, *rows)]
    fill(
        HERE / "outfits.md",
        {"outfits-looks-speed": "\n".join([f"{title}:", "", lines[0], "|---|---|---|---|---|---|---|", *lines[1:]])},
    )


if __name__ == "__main__":
    main()
