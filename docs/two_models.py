"""How often a first import with vectors of two models is pointed out, and one of a single model. Fills docs/living.md.

    python docs/two_models.py --data FOLDER --work FOLDER

500 photographs of a collection, drawn once, seen by networks at 64 pixels and by descriptors; 400 of them are drawn
3 times. Two networks are mixed at random. The limits of the rule were chosen on other draws of
these pictures.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill, paragraph
from numpy.typing import NDArray
from papers_catalogs import likewise

from likewise.catalog import read_catalog
from likewise.encoders.storage.reading import read_vectors
from likewise.encoders.storage.two_models import follows_a_column, halves_of_two_models
from likewise.workspace import WorkspaceFolder

PAGE = Path(__file__).with_name("living.md")
COLLECTIONS = ("clothing", "products", "captioned", "stylists", "emoji", "materials")
NETWORKS = tuple(f"efficientnet-lite{number}_size-64" for number in range(3))
DESCRIPTORS = ("colour", "layout", "texture", "shape")
N_PICTURES, N_DRAWN, N_DRAWS, SEED = 500, 400, 3, 0
SHARES = (0.5, 0.2, 0.1)
PAIRS = (("emoji", "clothing"), ("products", "stylists"), ("captioned", "materials"))
Vectors = NDArray[np.float32]


def make_workspace(work: Path, data: Path) -> WorkspaceFolder:
    workspace, rng, tables = work / "collections", np.random.default_rng(SEED), []
    if not (workspace / "catalog.parquet").exists():
        for name in COLLECTIONS:
            rows = pl.read_csv(data / name / "catalog.csv", infer_schema=False)
            rows = rows[np.sort(rng.permutation(len(rows))[:N_PICTURES])]
            tables.append(rows.select(image=pl.format("{}/{}", pl.lit(name), "image")))
        pl.concat(tables).write_csv(work / "collections.csv")
        likewise("new", workspace, work / "collections.csv", "--root", data)
    names = [*(name.replace("_size-", "?size=") for name in NETWORKS), *DESCRIPTORS]
    if any(name not in WorkspaceFolder(workspace).encoders() for name in (*NETWORKS, *DESCRIPTORS)):
        likewise("encode", workspace, "--with", ",".join(names))
    return WorkspaceFolder(workspace)


def alarms(vectors: list[Vectors], share: float, rows: pl.DataFrame | None, seed: int) -> str:
    """Of draws from one model, or from two of which the second has that share: those that are pointed out."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(N_DRAWS):
        drawn = rng.permutation(len(vectors[0]))[:N_DRAWN]
        second = rng.random(len(drawn)) < share
        mixed = np.where(second[:, None], vectors[-1][drawn], vectors[0][drawn])
        halves = halves_of_two_models(mixed)
        if halves is not None:
            found += rows is None or not follows_a_column(halves, rows[drawn])
    return f"{found} of {N_DRAWS}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--work", type=Path, required=True)
    chosen = options.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    workspace = make_workspace(chosen.work, chosen.data.resolve())
    images = read_catalog(workspace)["image"]
    source = images.str.split("/").list.first().to_numpy().astype(str)
    seen = {name: read_vectors(workspace, name, images.to_list()) for name in (*NETWORKS, *DESCRIPTORS)}
    shares = [f"two networks, {100 * share:.0f} % of the second" for share in SHARES]
    heads = ["collection", *shares, "one network", "one descriptor"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, members in of_collections(source):
        rows = pl.DataFrame({"image": images.to_numpy()[members]})
        of = {encoder: each[members] for encoder, each in seen.items()}
        cells = [alarms([of[NETWORKS[0]], of[NETWORKS[1]]], share, None, 1) for share in SHARES]
        cells += [worst([of[encoder] for encoder in some], rows) for some in (NETWORKS, DESCRIPTORS)]
        lines.append(f"| {' | '.join([name, *cells])} |")
        print(lines[-1], flush=True)
    said = f"""{N_DRAWN} pictures of each draw ({N_DRAWS} draws) of {N_PICTURES}, of materials of 200; networks at 64
    pixels. One network, one descriptor: the worst of three and of four. Two collections in one catalog are told
    apart by their folders, and therefore no alarm."""
    fill(PAGE, {"living-two-models": "\n".join(lines) + f"\n\n{paragraph(said)}"})


def of_collections(source: NDArray[np.str_]) -> list[tuple[str, NDArray[np.int64]]]:
    """Each of its own, and two kinds of pictures in one catalog."""
    alone = [(name, np.flatnonzero(source == name)) for name in COLLECTIONS]
    return [*alone, *((" and ".join(pair), np.flatnonzero(np.isin(source, pair))) for pair in PAIRS)]


def worst(vectors: list[Vectors], rows: pl.DataFrame) -> str:
    return max((alarms([each], 0.0, rows, 2) for each in vectors), key=lambda text: int(text.split()[0]))


if __name__ == "__main__":
    main()
