"""The figures and tables of `metric_lessons.md`: `python docs/metric_lessons.py --data FOLDER --work FOLDER`.

FOLDER of --data holds `clothing`, `products`, `materials` and `emoji`, each with a catalog.csv. Every number is what
`likewise train lessons` prints; what is in the folder of --work is not done again. Needs torch.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl
from marks import fill
from papers_catalogs import has_vectors, likewise
from papers_runs import stored

from likewise.training.lessons.spaces import MEASURES
from likewise.training.report.lessons import random_embeddings_plot, toy_plot

HERE = Path(__file__).parent
FIGURES = HERE / "metric_lessons"
RANDOM_POINTS = 10_000
MAX_IMAGES = 2000  # of a data set
TRAINED = "efficientnet-lite0?size=64"
DATA = (
    ("clothing, category", "clothing", "category"),
    ("products, type", "products", "articleType"),
    ("materials, material", "materials", "item"),
    ("emoji, item", "emoji", "item"),
)


def lessons_of(data: Path, work: Path, column: str, random_points: int) -> dict[str, Any]:
    """The lessons on one data set: a trained network, and three untrained ones beside it."""
    workspace = work / data.name
    if not (workspace / "catalog.parquet").exists():
        likewise("new", workspace, data / "catalog.csv", "--root", data)
    if not has_vectors(workspace, "efficientnet-lite0_size-64"):
        likewise("encode", workspace, "--with", TRAINED)
    networks = f"small,{TRAINED},hf:{save_vit(work)}"
    few = ("--max-images", MAX_IMAGES, "--random-points", random_points)
    found: dict[str, Any] = stored(
        work / f"{data.name}.json", "train", "lessons", workspace, "--column", column, "--untrained", networks, *few
    )
    return found


def save_vit(work: Path) -> Path:
    """A small vision transformer in a folder; its weights do not matter, they are drawn anew."""
    folder = work / "vit-6-192"
    if not (folder / "preprocessor_config.json").exists():
        from transformers import ViTConfig, ViTModel

        shape: dict[str, Any] = {"hidden_size": 192, "num_hidden_layers": 6, "num_attention_heads": 3}
        ViTModel(ViTConfig(image_size=64, patch_size=8, intermediate_size=768, **shape)).save_pretrained(folder)
        half = [0.5] * 3
        steps = {"do_resize": True, "do_rescale": True, "do_normalize": True, "image_mean": half, "image_std": half}
        about = {"image_processor_type": "ViTImageProcessor", "size": {"height": 64, "width": 64}, **steps}
        (folder / "preprocessor_config.json").write_text(json.dumps(about))
    return folder


def toy_table(rows: list[dict[str, Any]]) -> str:
    return table(["space", *MEASURES], [[row["space"], *(percent(row[name]) for name in MEASURES)] for row in rows])


def random_table(rows: list[dict[str, Any]]) -> str:
    columns = [*MEASURES, "formula"]
    lines = [[f"{row['n_classes']:,}", *(percent(row[name]) for name in columns)] for row in rows]
    return table(["classes", *MEASURES, "NMI by the formula"], lines)


def untrained_table(found: dict[str, dict[str, Any]]) -> str:
    """Table 2: what untrained networks score, beside random vectors and a network that was trained."""
    lines = []
    for title, folder, _ in DATA:
        for row in found[folder]["nmi"] if folder in found else ():
            counts = f"{row['n_images']:,} / {row['n_classes']:,}"
            values = [percent(row[name]) for name in ("NMI", "by chance", "formula", "AMI", "F1")]
            lines.append([title, network_name(row["encoder"]), counts, *values])
    return table(["data", "network", "images / classes", "NMI", "NMI by chance", "formula", "AMI", "F1"], lines)


def network_name(encoder: str) -> str:
    """As people call it."""
    for sign, name in (("small", "four convolutions"), ("efficientnet", "EfficientNet-Lite0"), ("vit", "ViT, 6 × 192")):
        if sign in encoder:
            return f"{name}, {'untrained' if encoder.endswith('untrained') else 'trained'}"
    return encoder


def percent(value: float) -> str:
    return f"{100 * value:.1f}".replace("-0.0", "0.0")


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--points", type=int, default=RANDOM_POINTS, help="random vectors of the second figure")
    parser.add_argument("--only", help="data sets, comma-separated, instead of all")
    options = parser.parse_args()
    chosen = [one for one in DATA if options.only is None or one[1] in options.only.split(",")]
    options.work.mkdir(parents=True, exist_ok=True)
    found = {}
    for place, (_, folder, column) in enumerate(chosen):
        points = options.points if place == 0 else 100
        found[folder] = lessons_of(options.data.resolve() / folder, options.work.resolve(), column, points)
    toy, random = found[chosen[0][1]]["toy"], found[chosen[0][1]]["random"]
    (FIGURES / "toy_spaces.svg").write_text(toy_plot(pl.DataFrame(toy)) + "\n", encoding="utf-8")
    (FIGURES / "random_vectors.svg").write_text(random_embeddings_plot(pl.DataFrame(random)) + "\n", encoding="utf-8")
    fill(
        HERE / "metric_lessons.md",
        {
            "metric_lessons-toy": toy_table(toy),
            "metric_lessons-random": random_table(random),
            "metric_lessons-untrained": untrained_table(found),
        },
    )


if __name__ == "__main__":
    main()
