"""The constants behind `likewise plan compute`, measured on the machine this runs on, in seconds of one core.

CPU seconds are counted, not the clock, so that other programs on the machine do not spoil the numbers.
"""

import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.neighbours.index import KnnProblem, build_index, search_index, tune_effort
from likewise.neighbours.scores import Floats
from likewise.workspace import read_json

PACKAGED_CONSTANTS = Path(__file__).with_name("constants.json")
DEEP_ENCODER, BUILT_IN_ENCODER = "efficientnet-lite0", "blend"
N_QUERIES, K, BATCH = 500, 10, 16

Result = TypeVar("Result")


@dataclass(frozen=True)
class CostConstants:
    """What work costs one core; `machine` and `how` say where and on what that was measured."""

    machine: str
    how: str
    deep_seconds: float
    """An image through efficientnet-lite0, decoding included."""
    built_in_seconds: float
    """An image through blend, decoding included."""
    exact_rate: float
    """Exact search: queries x gallery x dimensions per second."""
    ivf_build_rate: float
    """Training and filling: gallery x cells x dimensions per second."""
    ivf_search_rate: float
    """Queries x (cells + gallery visited) x dimensions per second."""
    ivf_visited: float
    """Share of the gallery that is visited at the wanted recall."""
    hnsw_build_seconds: float
    """A vector, for each dimension and each doubling of the gallery."""
    hnsw_search_seconds: float
    """A query, for each dimension and each doubling of the gallery."""
    ray_start_seconds: float
    """Until the first worker works."""
    ray_overhead: float
    """Core seconds on Ray for one core second of the same work without."""
    catalog_bytes: float
    """Memory for one image's row of the catalog and its key."""


def read_constants(file: Path = PACKAGED_CONSTANTS) -> CostConstants:
    """The constants of a file, by default those that came with the package."""
    try:
        return CostConstants(**read_json(file))
    except TypeError as error:
        raise LikewiseError(f"{file} does not hold the constants of a plan ({error}): measure them again.") from error


def measure_constants(n_vectors: int = 30_000, dim: int = 128, n_images: int = 48) -> CostConstants:
    """The constants of this machine; those of Ray and of the catalog are taken over from the packaged ones."""
    return replace(
        read_constants(),
        machine=f"{platform.system()} {platform.machine()}, {usable_cores()} cores",
        how=f"{n_vectors:,} clustered random vectors of {dim} dimensions, {n_images} drawn photographs of 640 x 480",
        **measure_encoding(n_images),
        **measure_search(n_vectors, dim),
    )


def measure_encoding(n_images: int) -> dict[str, float]:
    """Seconds per image; a network that is not installed keeps the packaged number."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = [Path(folder) / f"{number}.jpg" for number in range(n_images)]
        for number, path in enumerate(pictures):
            synthetic_photo(number).save(path, quality=85)
        found = {"built_in_seconds": encode_seconds(get_encoder(BUILT_IN_ENCODER), pictures)}
        with suppress(LikewiseError):
            found["deep_seconds"] = encode_seconds(get_encoder(DEEP_ENCODER), pictures)
    return found


def encode_seconds(encoder: Encoder, pictures: Sequence[Path]) -> float:
    """Core seconds per image, from the file to the vector."""

    def run(some: Sequence[Path]) -> None:
        for start in range(0, len(some), BATCH):
            opened = [load_image(each, at_least=encoder.pixels) for each in some[start : start + BATCH]]
            encoder.encode([encoder.prepare(image) for image in opened])

    run(pictures[:2])  # libraries and weights are loaded
    return core_seconds(lambda: run(pictures))[0] / len(pictures)


def measure_search(n_vectors: int, dim: int) -> dict[str, float]:
    """Rates of exact search and of both indexes."""
    gallery = clustered_vectors(n_vectors, dim)
    rows = np.arange(0, n_vectors, max(1, n_vectors // N_QUERIES))
    problem = KnnProblem(gallery[rows].copy(), gallery, K, rows, np.arange(n_vectors), one_per_group=False)
    problem.subset(np.arange(8)).exact_top_k()
    exact, _ = core_seconds(problem.exact_top_k)
    build, search, visited = measure_index("ivf", problem)
    slow_build, slow_search, _ = measure_index("hnsw", problem)
    cells, doublings = int(2 * np.sqrt(n_vectors)), float(np.log2(n_vectors))
    return {
        "exact_rate": len(rows) * n_vectors * dim / exact,
        "ivf_build_rate": n_vectors * cells * dim / build,
        "ivf_search_rate": len(rows) * (cells + visited * n_vectors) * dim / search,
        "ivf_visited": visited,
        "hnsw_build_seconds": slow_build / n_vectors / doublings / dim,
        "hnsw_search_seconds": slow_search / len(rows) / doublings / dim,
    }


def measure_index(kind: str, problem: KnnProblem) -> tuple[float, float, float]:
    """Core seconds to build and to search, and the share of cells visited."""
    build, index = core_seconds(lambda: build_index(problem.gallery, kind, 0))
    effort = tune_effort(index, kind, problem.subset(np.arange(0, len(problem.queries), 8)))
    search, _ = core_seconds(lambda: search_index(index, problem))
    return build, search, effort / index.nlist if kind == "ivf" else 1.0


def core_seconds(work: Callable[[], Result]) -> tuple[float, Result]:
    """CPU seconds of all threads of this process."""
    started = time.process_time()
    result = work()
    return max(time.process_time() - started, 1e-6), result


def clustered_vectors(n_vectors: int, dim: int, seed: int = 0) -> Floats:
    """Unit vectors in clusters of about fifty, as encoders leave them."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, n_vectors // 50), dim), dtype=np.float32)
    rows = centres[rng.integers(0, len(centres), n_vectors)]
    rows += 0.7 * rng.standard_normal((n_vectors, dim), dtype=np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def synthetic_photo(number: int) -> Image.Image:
    """About as rough as a photograph."""
    rng = np.random.default_rng(number)
    large, small = (
        np.asarray(
            Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8)).resize((640, 480)), np.float32
        )
        for side in (8, 80)
    )
    grain = rng.normal(0, 6, (480, 640, 1)).astype(np.float32)
    return Image.fromarray((0.7 * large + 0.3 * small + grain).clip(0, 255).astype(np.uint8))
