"""Labelled pairs of the VSD benchmark with the similarities four models gave them: read, scored, checked."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.exchange.labels_io import read_labels_file, refuse_conflicting_labels
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from tests.evaluation.judging import result_table
from tests.real.places import find_data, needs_data

EXAMPLES = find_data("vsd_examples") or Path("vsd_examples")
MODELS = ("argus", "beit", "clip", "dino")
KINDS = ("false_neg", "false_pos", "true_neg", "true_pos")

pytestmark = needs_data("vsd_examples")


def read_task(task: str) -> tuple[JudgedPairs, dict[str, EncoderScores]]:
    """The pairs of all four files, each once, and every model's scores of them."""
    files = [EXAMPLES / task / f"{kind}.json" for kind in KINDS]
    labels = pl.concat([read_labels_file(file).labels for file in files])
    refuse_conflicting_labels(labels, task)
    labels = labels.unique().sort("query", "candidate")
    rows = {(row["query"], row["gallery"]): row for file in files for row in json.loads(file.read_text())}
    images = sorted({image for pair in rows for image in pair})
    items = [image.rpartition("/")[0] for image in images]  # img/WOMEN/Dresses/id_00007859/04_4_full.jpg
    catalog = pl.DataFrame({"image": images, "item": items})
    queries, gallery = sorted({query for query, _ in rows}), sorted({candidate for _, candidate in rows})
    pairs = build_judged_pairs(catalog, labels, queries, gallery)
    keys = [(queries[q], gallery[c]) for q, c in zip(pairs.query, pairs.candidate, strict=True)]
    no_lists = np.full((len(queries), 9), -1)
    return pairs, {
        name: EncoderScores(name, np.array([rows[key][f"sim_{name}"] for key in keys]), no_lists) for name in MODELS
    }


@pytest.mark.parametrize(("task", "n_pairs", "n_similar", "n_mixed"), [("catalog", 36, 20, 1), ("wild", 38, 20, 0)])
def test_the_examples_are_read_and_scored(task: str, n_pairs: int, n_similar: int, n_mixed: int) -> None:
    pairs, models = read_task(task)
    assert (len(pairs), int(pairs.label.sum())) == (n_pairs, n_similar)
    table = result_table(list(models.values()), pairs, MODELS)
    for name, measured in models.items():
        own = table.filter(pl.col("encoder") == name)
        found = {row["measure"]: row for row in own.iter_rows(named=True)}
        micro = found['ROC_AUC(average="micro")']
        assert micro["value"] == pytest.approx(roc_auc_score(pairs.label, measured.scores))
        assert micro["low"] <= micro["value"] <= micro["high"]
        assert found['AP(average="micro")']["value"] == pytest.approx(
            average_precision_score(pairs.label, measured.scores)
        )
        mixed = [query for query in range(len(pairs.queries)) if len(set(pairs.label[pairs.query == query])) == 2]
        assert found["ROC_AUC"]["n_queries"] == len(mixed) == n_mixed
        by_query = [
            roc_auc_score(pairs.label[pairs.query == query], measured.scores[pairs.query == query]) for query in mixed
        ]
        assert found["ROC_AUC"]["value"] == (pytest.approx(np.mean(by_query)) if mixed else None)


def test_the_files_hold_what_their_names_say() -> None:
    """A false negative was labelled similar and stands low in some model's list; a pair listed twice agrees."""
    for task in ("catalog", "wild"):
        for kind, label in (("false_neg", 1), ("true_pos", 1), ("false_pos", 0), ("true_neg", 0)):
            read = read_labels_file(EXAMPLES / task / f"{kind}.json")
            assert (read.n_rows, read.labels["label"].unique().to_list()) == (10, [label])
