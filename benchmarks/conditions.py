"""Scoring the published object templates with random vectors, against a loop over templates; seconds of CPU.

python -m benchmarks.conditions --data FOLDER        FOLDER holds genecis/
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.timing import print_beside
from likewise.catalog.readers import read_tables
from likewise.conditional.composers import baseline_methods
from likewise.conditional.evaluate import recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures

DIM = 512
ROUNDS = 5


def one_by_one(templates: pl.DataFrame, features: ImageTextFeatures) -> float:
    """Recall@1 of image + text as a script would compute it: template by template."""
    right = 0
    for row in templates.iter_rows(named=True):
        image = features.image_features[features.row_of[row["reference"]]]
        text = features.text_features[features.text_row_of[row["condition"]]]
        query = image / np.linalg.norm(image) + text / np.linalg.norm(text)
        gallery = features.image_features[[features.row_of[key] for key in (row["target"], *row["gallery"])]]
        scores = (gallery / np.linalg.norm(gallery, axis=1, keepdims=True)) @ query
        right += int(scores.argmax() == 0)
    return right / len(templates)


def cpu_seconds(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU time of each way over a few rounds: other work on the machine does not count."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = time.process_time()
            way()
            found[name] = min(found[name], time.process_time() - started)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds genecis/")
    data = parser.parse_args(arguments).data
    templates = read_tables(data / "genecis", "genecis")["templates"]
    features = ImageTextFeatures.random(templates, DIM)
    image, text, both = baseline_methods()
    found = score_templates(templates, features, [both])
    value = recall_table({"random": found}).filter(task="average", measure="Recall@1")["value"].item()
    assert abs(value - one_by_one(templates, features)) < 1e-3, "both ways must agree"
    seconds = cpu_seconds(
        {
            "likewise, image + text": lambda: score_templates(templates, features, [both]),
            "likewise, all three baselines": lambda: score_templates(templates, features, [image, text, both]),
            "and the table with intervals": lambda: recall_table({"random": found}),
            "a loop over templates, image + text": lambda: one_by_one(templates, features),
        }
    )
    print_beside(f"{len(templates):,} templates, {DIM} dimensions", seconds, "likewise, image + text")


if __name__ == "__main__":
    main()
