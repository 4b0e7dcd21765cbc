"""The encode command against its parts: bare decoding, the bare network on ready tensors, and a plain loop.

The bound is what all cores would do if decoding and network cost nothing but their own CPU time,
cores / (CPU seconds of decoding one image + CPU seconds of the network on one image).  Because other programs may share
the machine, CPU seconds per image stand beside the speed.  `python -m benchmarks.encode memory` measures only memory.
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
from subprocess import DEVNULL, Popen

import numpy as np
import polars as pl
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.network import Network
from likewise.encoders.pipeline import usable_cores
from likewise.encoders.protocol import Prepared
from likewise.encoders.registry import get_encoder
from likewise.workspace import FORMAT, Workspace, write_json, write_parquet

ENCODER = "efficientnet-lite0"
PICTURES, IMAGES, BATCH = 64, 2048, 32
SMALL = f"{ENCODER}?size=32"  # a cheap network: memory is what counts
CATALOGS = (10_000, 100_000)


@dataclass(frozen=True)
class Cost:
    """Of one image."""

    seconds: float
    cpu_seconds: float


def main() -> None:
    if "memory" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            speed(Path(folder))
    memory()


def speed(folder: Path) -> None:
    cores = usable_cores()
    workspace = make_workspace(folder, IMAGES, photograph, PICTURES)
    paths = [workspace.root / image for image in pl.read_parquet(workspace.catalog_file)["image"]]
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

    decode = cost(lambda: [decoded(path) for path in paths[:256]], 256)
    forward = cost(forward_on_all_cores, 2 * cores * BATCH)
    forward_torch = cost(lambda: torch_run(tensors), BATCH)
    loop = cost(lambda: plain(network, 4 * BATCH), 4 * BATCH)
    loop_torch = cost(lambda: plain(by_torch, 2 * BATCH), 2 * BATCH)
    command(workspace, ENCODER)  # once for the file cache
    encode, _ = command(workspace, ENCODER)
    start_up, _ = command(workspace, ENCODER, again=True)
    steady = Cost(encode.seconds - start_up.seconds, encode.cpu_seconds - start_up.cpu_seconds)
    bound = (decode.cpu_seconds + forward.cpu_seconds) / cores

    print(f"\nencode: {IMAGES:,} JPEG photographs of 640 x 480, {ENCODER}, {cores} cores")
    for name, each in {
        "bare decoding and preparing, one process": decode,
        "bare network on ready tensors, onnxruntime": forward,
        "bare network on ready tensors, torch": forward_torch,
        "plain loop in one process, onnxruntime": loop,
        "plain loop in one process, torch": loop_torch,
        "likewise encode, whole command": encode,
        "likewise encode, without its start": steady,
    }.items():
        print(f"  {name:<46}{1 / each.seconds:>8.0f} images/s{1000 * each.cpu_seconds:>9.2f} CPU ms per image")
    print(f"  {'bound':<46}{1 / bound:>8.0f} images/s{1000 * bound * cores:>9.2f} CPU ms per image")
    print(f"  share of the bound: {bound / steady.seconds:.2f} by the clock, "
          f"{bound * cores / steady.cpu_seconds:.2f} by CPU time")  # fmt: skip


def cost(work: Callable[[], object], n_images: int, rounds: int = 3) -> Cost:
    """The best of a few rounds."""
    found = []
    for _ in range(rounds):
        clock, cpu = time.perf_counter(), time.process_time()
        work()
        found.append(((time.perf_counter() - clock) / n_images, (time.process_time() - cpu) / n_images))
    return Cost(min(seconds for seconds, _ in found), min(cpu for _, cpu in found))


def command(workspace: Workspace, encoder: str, *, again: bool = False) -> tuple[Cost, float]:
    """Run the command in a process of its own: cost per image, and the peak of all its processes in megabytes."""
    words = ["encode", str(workspace.path), "--with", encoder, "--json"]
    if not again:
        words.append("--force")
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


def make_workspace(folder: Path, n_images: int, draw: Callable[[int], Image.Image], n_drawn: int) -> Workspace:
    """A catalog of `n_images` names for `n_drawn` pictures: names cost no space."""
    pictures, workspace = folder / "pictures", Workspace(folder / "workspace")
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
