"""The encode command against its parts: bare decoding, the bare network on ready tensors, and a plain loop.

The bound is what all cores would do if decoding and network cost nothing but their own CPU time,
cores / (CPU seconds of decoding one image + CPU seconds of the network on one image).  Because other programs may share
the machine, CPU seconds per image stand beside the speed.  What the command costs once (starting processes, loading
weights) is told apart from what each image costs by running it over a small and a large catalog.  A shared machine is
now faster, now slower: parts and command take turns, each round has its own bound, and shares are medians of rounds.
`python -m benchmarks.encode memory` measures only memory.
"""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, Popen

import numpy as np
import polars as pl
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.networks.network import Network
from likewise.encoders.protocol import Prepared
from likewise.encoders.registry import get_encoder
from likewise.machine import usable_cores
from likewise.workspace import FORMAT, WorkspaceFolder, write_json, write_parquet

ENCODER = "efficientnet-lite0"
PICTURES, FEW_IMAGES, IMAGES, BATCH, ROUNDS = 64, 64, 6144, 32, 3
SMALL = f"{ENCODER}?size=32"  # a cheap network: memory is what counts
CATALOGS = (10_000, 100_000)
DECODE, FORWARD = "bare decoding and preparing, one process", "bare network on ready tensors, onnxruntime"
WHOLE, STEADY = "`likewise encode`, the whole command", "`likewise encode`, without its start"


@dataclass(frozen=True)
class Cost:
    """Of one image."""

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Speed:
    """What one way of encoding costs, and how many images it saw."""

    way: str
    n_images: int
    seconds: float
    cpu_seconds: float
    share_cpu: float | None = None
    """Of the bound, by CPU time; only of the command."""
    share_clock: float | None = None


def main() -> None:
    if "memory" not in sys.argv:
        print(f"\nencode: JPEG photographs of 640 x 480, {ENCODER}, {usable_cores()} cores\n\n{table(speeds())}")
    memory()


def speeds(n_images: int = IMAGES) -> list[Speed]:
    """The bound's two parts, the plain loops, and the command."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (Path(folder) / name for name in ("few", "many"))
        few.mkdir()
        many.mkdir()
        small = make_workspace(few, FEW_IMAGES, photograph, PICTURES)
        large = make_workspace(many, n_images, photograph, PICTURES)
        paths = [large.root / image for image in pl.read_parquet(large.catalog_file)["image"]]
        rounds = []
        for _ in range(ROUNDS):
            found = bare(paths)
            whole, steady = commands(small, large)
            rounds.append(found | {WHOLE: (n_images, whole), STEADY: (n_images - FEW_IMAGES, steady)})
    return [over_rounds(way, rounds) for way in rounds[0]]


def over_rounds(way: str, rounds: list[dict[str, tuple[int, Cost]]]) -> Speed:
    """Medians; shares of the bound that was measured in the same round."""
    costs = [found[way][1] for found in rounds]
    seconds, cpu_seconds = median(each.seconds for each in costs), median(each.cpu_seconds for each in costs)
    if way not in (WHOLE, STEADY):
        return Speed(way, rounds[0][way][0], seconds, cpu_seconds)
    bounds = [found[DECODE][1].cpu_seconds + found[FORWARD][1].cpu_seconds for found in rounds]
    by_cpu = median(bound / each.cpu_seconds for bound, each in zip(bounds, costs, strict=True))
    by_clock = median(bound / usable_cores() / each.seconds for bound, each in zip(bounds, costs, strict=True))
    return Speed(way, rounds[0][way][0], seconds, cpu_seconds, by_cpu, by_clock)


def bare(paths: list[Path]) -> dict[str, tuple[int, Cost]]:
    """Decoding alone, the network alone, and both in a loop that a person would write first."""
    cores = usable_cores()
    network, by_torch = get_encoder(ENCODER), get_encoder(f"{ENCODER}?runtime=torch")
    assert isinstance(network, Network)
    assert isinstance(by_torch, Network)

    def decoded(path: Path) -> Prepared:
        return network.prepare(load_image(path, at_least=network.pixels))

    tensors = network.recipe.tensor(np.stack([decoded(path) for path in paths[:BATCH]]))
    run, torch_run = network.load(), by_torch.load()
    run(tensors)
    torch_run(tensors)

    def forward_on_all_cores() -> None:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(run, [tensors] * 2 * cores))

    def plain(encode: Network, n_images: int) -> None:
        for start in range(0, n_images, BATCH):
            encode.encode([encode.prepare(load_image(path)) for path in paths[start : start + BATCH]])

    works: dict[str, tuple[int, Callable[[], object]]] = {
        DECODE: (8 * BATCH, lambda: [decoded(path) for path in paths[: 8 * BATCH]]),
        FORWARD: (2 * cores * BATCH, forward_on_all_cores),
        "bare network on ready tensors, torch": (BATCH, lambda: torch_run(tensors)),
        "plain loop in one process, onnxruntime": (4 * BATCH, lambda: plain(network, 4 * BATCH)),
        "plain loop in one process, torch": (BATCH, lambda: plain(by_torch, BATCH)),
    }
    return {way: (n_images, cost(work, n_images)) for way, (n_images, work) in works.items()}


def commands(small: WorkspaceFolder, large: WorkspaceFolder) -> tuple[Cost, Cost]:
    """Of one image: the whole command over the large catalog, and what the images beyond the small one cost."""
    n_small, n_large = (len(pl.read_parquet(each.catalog_file)) for each in (small, large))
    few, many = command(small, ENCODER)[0], command(large, ENCODER)[0]
    more = n_large - n_small
    return many, Cost(
        (many.seconds * n_large - few.seconds * n_small) / more,
        (many.cpu_seconds * n_large - few.cpu_seconds * n_small) / more,
    )


def table(rows: list[Speed]) -> str:
    """Markdown, with the bound and the command's share of it."""
    by_way = {row.way: row for row in rows}
    cores = usable_cores()
    bound = by_way[DECODE].cpu_seconds + by_way[FORWARD].cpu_seconds
    lines = [
        "| what | n images | images/s | CPU ms per image | share of the bound, CPU | clock |",
        "|---" + "|--:" * 5 + "|",
    ]
    for row in rows:
        share = f"{row.share_cpu:.2f} | {row.share_clock:.2f}" if row.share_cpu else "– | –"
        numbers = f"{row.n_images:,} | {1 / row.seconds:,.0f} | {1000 * row.cpu_seconds:.2f}"
        lines.append(f"| {row.way} | {numbers} | {share} |")
    lines.append(
        f"| bound: decoding and network, nothing else | – | {cores / bound:,.0f} | {1000 * bound:.2f} | 1 | 1 |"
    )
    return "\n".join(lines)


def cost(work: Callable[[], object], n_images: int, rounds: int = 3) -> Cost:
    """The median of a few rounds."""
    found = []
    for _ in range(rounds):
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        found.append(((time.perf_counter() - clock) / n_images, (time.process_time() - cpu) / n_images))
    return Cost(median(seconds for seconds, _ in found), median(cpu for _, cpu in found))


def command(workspace: WorkspaceFolder, encoder: str) -> tuple[Cost, float]:
    """Run the command in a process of its own: cost per image, and the peak of all its processes in megabytes."""
    words = ["encode", str(workspace.path), "--with", encoder, "--json", "--force"]
    n_images = len(pl.read_parquet(workspace.catalog_file))
    started = time.perf_counter()
    process = Popen([sys.executable, "-m", "likewise", *words], stdout=DEVNULL, stderr=DEVNULL)
    peaks: dict[int, int] = {}
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        for pid in (process.pid, *children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0), peak_kilobytes(pid))
        time.sleep(0.1)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"likewise {' '.join(words)} ended with {process.returncode}")
    return Cost(seconds / n_images, (usage.ru_utime + usage.ru_stime) / n_images), sum(peaks.values()) / 1024


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def peak_kilobytes(pid: int) -> int:
    """The high-water mark that the kernel keeps for a process; 0 when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def memory() -> None:
    print(f"\npeak memory of all processes of likewise encode --with '{SMALL}', {usable_cores()} workers")
    for n_images in CATALOGS:
        print(f"  {n_images:>8,} images{peak_memory(n_images):>8.0f} MB")


def peak_memory(n_images: int) -> float:
    """Megabytes of all processes of the command over a catalog of so many small pictures."""
    with tempfile.TemporaryDirectory() as folder:
        return command(make_workspace(Path(folder), n_images, thumbnail, 16), SMALL)[1]


def photograph(number: int) -> Image.Image:
    """As rough as a photograph: large forms, small forms and grain."""
    rng = np.random.default_rng(number)
    layers = [
        np.asarray(
            Image.fromarray(rng.integers(0, 256, (side * 3 // 4, side, 3), dtype=np.uint8)).resize((640, 480)),
            np.float32,
        )
        for side in (8, 40, 160)
    ]
    grain = rng.normal(0, 6, (480, 640, 1)).astype(np.float32)
    mixed = 0.6 * layers[0] + 0.25 * layers[1] + 0.15 * layers[2] + grain
    return Image.fromarray(mixed.clip(0, 255).astype(np.uint8))


def thumbnail(number: int) -> Image.Image:
    return photograph(number).resize((64, 48))


def make_workspace(folder: Path, n_images: int, draw: Callable[[int], Image.Image], n_drawn: int) -> WorkspaceFolder:
    """A catalog of `n_images` names for `n_drawn` pictures: names cost no space."""
    pictures, workspace = folder / "pictures", WorkspaceFolder(folder / "workspace")
    pictures.mkdir()
    digests = []
    for number in range(n_drawn):
        draw(number).save(pictures / f"drawn{number}.jpg", quality=85)
        digests.append(hashlib.blake2b((pictures / f"drawn{number}.jpg").read_bytes(), digest_size=8).hexdigest())
    names = []
    for number in range(n_images):
        names.append(f"{number // 1000:03d}/{number:06d}.jpg")
        (pictures / names[-1]).parent.mkdir(exist_ok=True)
        os.link(pictures / f"drawn{number % n_drawn}.jpg", pictures / names[-1])
    width, height = Image.open(pictures / "drawn0.jpg").size
    catalog = pl.DataFrame({"image": names, "item": names, "digest": [digests[i % n_drawn] for i in range(n_images)]})
    sizes = [pl.lit(width, pl.Int32).alias("width"), pl.lit(height, pl.Int32).alias("height")]
    write_parquet(catalog.with_columns(pl.lit("thing").alias("category"), *sizes), workspace.catalog_file)
    write_json({"format": FORMAT, "root": str(pictures), "source": "folder"}, workspace.settings_file)
    return workspace


if __name__ == "__main__":
    main()
