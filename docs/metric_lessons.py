"""The figures and tables of `metric_lessons.md`: `python docs/metric_lessons.py --data FOLDER` (needs torch).

FOLDER holds the data sets of Table 2: `emoji`, `clothing` and `materials`, each with a catalog.csv.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import polars as pl
from marks import fill
from matplotlib.figure import Figure
from numpy.typing import NDArray

from likewise.catalog import make_catalog, read_catalog
from likewise.catalog.readers import read
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.recipe import IMAGENET_MEAN, IMAGENET_STD, Recipe
from likewise.evaluation.clustering import clustering
from likewise.report.plots.palette import MODEL_LIGHT
from likewise.report.plots.svg import STYLE
from likewise.training.lessons.spaces import GAPS, MEASURES, random_table, toy_scores, toy_space
from likewise.workspace import WorkspaceFolder

HERE = Path(__file__).parent
FIGURES = HERE / "metric_lessons"
Array = NDArray[np.float32]
RANDOM_POINTS = 10_000
MAX_IMAGES = 2000  # of a data set
SIDE = 64


def toy_figure() -> str:
    """Fig. 1: three spaces, and what the measures say about them."""
    rows = []
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8.4, 2.7), layout="constrained")
        for number, (name, gap) in enumerate(GAPS):
            points, labels = toy_space(gap)
            values = toy_scores(points, labels)
            rows.append((name, values))
            axes = figure.add_subplot(1, len(GAPS), number + 1)
            for label in (0, 1):
                here = points[labels == label]
                axes.scatter(here[:, 0], here[:, 1], s=7, color=MODEL_LIGHT[label])
            axes.set(xlim=(-5.6, 5.6), ylim=(-3.4, 3.4), aspect="equal", xticks=[], yticks=[])
            axes.set_title(f"{name}   P@1 {values['P@1']:.0%}   MAP@R {values['MAP@R']:.0%}", fontsize=9)
        figure.savefig(FIGURES / "toy_spaces.svg", metadata={"Date": None})
    return table(["space", *MEASURES], [[name, *(f"{100 * values[m]:.1f}" for m in MEASURES)] for name, values in rows])


def random_figure(n_points: int) -> str:
    """Fig. 2: every measure on random vectors, against the number of classes."""
    found = random_table(n_points).rows(named=True)
    rows = [(each["n_classes"], {m: each[m] for m in MEASURES}, each["formula"]) for each in found]
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(7.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        counts = [n for n, _, _ in rows]
        for number, measure in enumerate(MEASURES):
            line = [values[measure] for _, values, _ in rows]
            axes.plot(counts, line, color=MODEL_LIGHT[number], marker="o", markersize=3, label=measure)
        axes.plot(counts, [formula for _, _, formula in rows], color="black", linestyle=":", label="1 − log S / log C")
        axes.set(xscale="log", xlabel="number of classes C", ylabel="value", ylim=(-0.02, 1))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.legend(frameon=False, loc="upper left")
        figure.savefig(FIGURES / "random_vectors.svg", metadata={"Date": None})
    header = ["classes", *MEASURES, "NMI by the formula"]
    return table(header, [[f"{n:,}", *(f"{100 * v[m]:.1f}" for m in MEASURES), f"{100 * f:.1f}"] for n, v, f in rows])


@dataclass(frozen=True)
class Labelled:
    """One data set of Table 2."""

    name: str
    folder: str
    column: str


DATA = (
    Labelled("clothing, category", "clothing", "category"),
    Labelled("materials, material", "materials", "item"),
    Labelled("emoji, item", "emoji", "item"),
)


def untrained_table(data: Path, max_images: int) -> str:
    """Table 2: networks with random weights."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for each in DATA:
            workspace = WorkspaceFolder(Path(folder) / each.folder)
            reading = read(data / each.folder / "catalog.csv")
            make_catalog(workspace, reading.rows, reading.root, "table")
            catalog = first_classes(read_catalog(workspace), each.column, max_images)
            labels = catalog[each.column].cast(pl.String).to_list()
            for name, network in networks().items():
                found = clustering(vectors_of(network, workspace, catalog["image"].to_list()), labels)
                counts = [f"{found.n_images:,} / {found.n_classes:,}"]
                values = (found.nmi, found.expected_nmi, found.nmi_of_random_vectors, found.ami, found.f1)
                rows.append([each.name, name, *counts, *(f"{100 * value:.1f}" for value in values)])
                print(rows[-1], flush=True)
    header = ["data", "untrained network", "images / classes", "NMI", "NMI by chance", "formula", "AMI", "F1"]
    return table(header, rows)


def first_classes(catalog: pl.DataFrame, column: str, max_images: int) -> pl.DataFrame:
    """Images of every n-th class, whole, so that they are about as many as wanted; of few classes, every n-th image."""
    named = catalog.filter(pl.col(column).is_not_null())
    step = max(1, round(len(named) / max_images))
    if named[column].n_unique() < 10 * step:
        return named.gather_every(step)
    return named.filter(pl.col(column).is_in(named[column].unique().sort().gather_every(step).implode()))


def networks() -> dict[str, Network]:
    """Three architectures at their starting weights."""
    recipe = Recipe(SIDE, (SIDE, SIDE), mean=IMAGENET_MEAN, std=IMAGENET_STD)
    from likewise.encoders.families.small import small_model

    made = {
        "four convolutions": small_model(),
        "EfficientNet-Lite0": NetworkModel("lite0", recipe, lambda: 1280, lambda: "untrained", _efficientnet),
        "ViT, 6 layers of 192": NetworkModel("vit", recipe, lambda: 192, lambda: "untrained", _vit),
    }
    return {name: Network(name, model, runtime="torch") for name, model in made.items()}


def _efficientnet() -> Any:
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    torch.manual_seed(0)
    network = EfficientNet.from_name("efficientnet-lite0")
    return _Features(lambda pixels: network.extract_features(pixels).mean((2, 3)), network)


def _vit() -> Any:
    import torch
    from transformers import ViTConfig, ViTModel

    torch.manual_seed(0)
    shape: dict[str, Any] = {"hidden_size": 192, "num_hidden_layers": 6, "num_attention_heads": 3}
    network = ViTModel(ViTConfig(image_size=SIDE, patch_size=8, intermediate_size=768, **shape))
    return _Features(lambda pixels: network(pixels).last_hidden_state.mean(1), network)


class _Features:
    """What a runtime needs of a module: a call, and a place."""

    def __init__(self, call: Callable[[Any], Any], network: Any) -> None:
        self.call, self.network = call, network.eval()

    def to(self, place: str) -> "_Features":
        self.network.to(place)
        return self

    def __call__(self, pixels: Any) -> Any:
        return self.call(pixels)


def vectors_of(network: Network, workspace: WorkspaceFolder, images: list[str]) -> Array:
    from likewise.catalog.images import load_image

    parts = []
    for start in range(0, len(images), 128):
        pictures = [load_image(workspace.root / image, network.pixels) for image in images[start : start + 128]]
        parts.append(network.encode([network.prepare(picture) for picture in pictures]))
    return np.concatenate(parts)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--points", type=int, default=RANDOM_POINTS, help="random vectors of the second figure")
    parser.add_argument("--images", type=int, default=MAX_IMAGES, help="of each data set of the last table")
    options = parser.parse_args()
    FIGURES.mkdir(exist_ok=True)
    fill(
        HERE / "metric_lessons.md",
        {
            "metric_lessons-toy": toy_figure(),
            "metric_lessons-random": random_figure(options.points),
            "metric_lessons-untrained": untrained_table(options.data, options.images),
        },
    )


if __name__ == "__main__":
    main()
