"""Measure the base install and the demo, and write them into `encoders.md`: `python docs/base_install.py`.

Two new environments: the base install without the deep encoder (its weights, onnx, onnxruntime) and with it; then the
demo in the second, with an empty cache. Seconds are those of the clock and, because other work may go on, of all
processors together (user + system). It takes a few minutes and the network.
"""

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from marks import fill, paragraph

HERE = Path(__file__).parent
DEEP = ("onnxruntime", "onnx>", "efficientnet-lite0")


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    processor_seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.processor_seconds:.0f} s of processor time)"


def run(command: Sequence[object], **environment: str) -> Cost:
    started, before = time.perf_counter(), os.times()
    subprocess.run([str(each) for each in command], check=True, cwd=HERE.parent, env=os.environ | environment)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(time.perf_counter() - started, used)


def new_environment(folder: Path, requirements: Sequence[object]) -> tuple[Cost, float]:
    """An environment with the requirements; what installing took, and how many MB there are."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir", "-c", "constraints.txt"]
    cost = run([*pip, *requirements])
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return cost, sum(sizes) / 1e6


def main() -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    plain = [each for each in project["dependencies"] if not each.startswith(DEEP)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        cost_before, size_before = new_environment(folder / "before", plain)
        cost_after, size_after = new_environment(folder / "after", ["."])
        demo = run(
            [folder / "after" / "bin" / "likewise", "demo", folder / "demo"],
            LIKEWISE_CACHE=str(folder / "cache"),
            PYTHONPATH="",
        )
    said = (
        f"The base install without the deep encoder has {size_before:.0f} MB and takes {cost_before} in a new "
        f"environment; with it {size_after:.0f} MB and {cost_after}. `likewise demo` takes {demo} after that on "
        f"{len(os.sched_getaffinity(0))} cores, with nothing in its cache."
    )
    fill(HERE / "encoders.md", {"encoders-install": paragraph(said)})
    print(said)


if __name__ == "__main__":
    main()
