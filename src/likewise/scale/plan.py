"""What a catalog of a given size needs: memory, time and cost on one machine, with an index, and on Ray workers.

Everything follows from a few constants (`cost_constants.py`): encoding is linear in the images, exact search multiplies
queries by gallery by dimensions, an ivf index visits a share of the gallery, an hnsw index grows with its logarithm.
Waiting for disks and networks is not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2, sqrt

from likewise.errors import LikewiseError
from likewise.neighbours.index import HNSW_M
from likewise.scale.cost_constants import CostConstants
from likewise.scale.search import MAX_PART_BYTES

GIGABYTE = 1e9
HOUR = 3600.0
UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9}


@dataclass(frozen=True)
class CatalogSize:
    """What is planned: a catalog, its encoders, and the queries that will be asked."""

    images: int
    dim: int
    encoders: int
    queries: int = 2000

    @property
    def vectors_bytes(self) -> float:
        """Of one encoder."""
        return 4.0 * self.images * self.dim


@dataclass(frozen=True)
class DeploymentEstimate:
    """One way to do it; memory is that of the fullest machine, hours are by the clock, cost is for all cores."""

    name: str
    machines: int
    cores: int
    memory_gb: float
    disk_gb: float
    encode_hours: float
    build_hours: float
    search_hours: float
    cost: float
    exact: bool
    fits: bool

    @property
    def hours(self) -> float:
        return self.encode_hours + self.build_hours + self.search_hours


def estimate_deployments(
    size: CatalogSize,
    constants: CostConstants,
    *,
    cores: int,
    memory_gb: float,
    workers: Sequence[int],
    cores_per_worker: int,
    price_per_core_hour: float,
    image_seconds: float | None = None,
) -> list[DeploymentEstimate]:
    """Local exact, local indexes, and every number of Ray workers; `image_seconds` is a core's time for an image."""
    per_image = constants.deep_seconds if image_seconds is None else image_seconds
    encode = size.images * size.encoders * per_image
    exact = size.encoders * size.queries * size.images * size.dim / constants.exact_rate
    catalog = size.images * constants.catalog_bytes
    on_a_worker = 2.0 * cores_per_worker * min(MAX_PART_BYTES, size.vectors_bytes)
    workloads = [
        Workload("local, exact", 0, encode, 0.0, exact, size.vectors_bytes + catalog, 0.0),
        *(
            Workload(
                f"local, {kind}", 0, encode, build, search, size.vectors_bytes + index + catalog, size.encoders * index
            )
            for kind, build, search, index in index_costs(size, constants)
        ),
        *(Workload(f"ray, {n} workers", n, encode, 0.0, exact, max(catalog, on_a_worker), 0.0) for n in workers),
    ]

    def estimate(work: Workload) -> DeploymentEstimate:
        n_cores = work.workers * cores_per_worker or cores
        overhead = constants.ray_overhead if work.workers else 1.0
        encode, build, search = (overhead * each / n_cores / HOUR for each in (work.encode, work.build, work.search))
        if work.workers:
            encode += constants.ray_start_seconds / HOUR
        return DeploymentEstimate(
            work.name,
            max(1, work.workers),
            n_cores,
            work.memory / GIGABYTE,
            (size.encoders * size.vectors_bytes + work.more_disk) / GIGABYTE,
            encode,
            build,
            search,
            cost=(encode + build + search) * n_cores * price_per_core_hour,
            exact=not work.more_disk,
            fits=work.memory / GIGABYTE <= memory_gb,
        )

    return [estimate(work) for work in workloads]


@dataclass(frozen=True)
class Workload:
    """Core seconds and bytes of one way, on one machine (no workers) or on Ray."""

    name: str
    workers: int
    encode: float
    build: float
    search: float
    memory: float
    more_disk: float


def index_costs(size: CatalogSize, constants: CostConstants) -> list[tuple[str, float, float, float]]:
    """For each kind: core seconds to build and to search for all encoders, and the bytes of one index."""
    cells, doublings = ceil(2 * sqrt(size.images)), log2(max(2, size.images))
    visited = cells + constants.ivf_visited * size.images
    ivf_build = size.images * cells * size.dim / constants.ivf_build_rate
    ivf_search = size.queries * visited * size.dim / constants.ivf_search_rate
    hnsw_build = size.images * doublings * size.dim * constants.hnsw_build_seconds
    hnsw_search = size.queries * doublings * size.dim * constants.hnsw_search_seconds
    n, codes = size.encoders, float(size.images * size.dim)
    links = 4.0 * (2 * HNSW_M + 1) * size.images
    return [
        ("ivf", n * ivf_build, n * ivf_search, codes + 8.0 * size.images),
        ("hnsw", n * hnsw_build, n * hnsw_search, codes + links),
    ]


def parse_count(text: str) -> int:
    """A number as people write it: 100M, 2.5k, 1_000_000."""
    cleaned = text.strip().upper().replace(",", "").replace("_", "")
    factor = UNITS.get(cleaned[-1:], 1.0)
    try:
        number = float(cleaned[:-1] if cleaned[-1:] in UNITS else cleaned) * factor
    except ValueError:
        number = 0.0
    if not 1 <= number < 1e15 or number != int(number):
        raise LikewiseError(f"{text!r} is not a count: write 52000, 250k or 100M.")
    return int(number)
