"""Results of a workspace's models as MTEB stores them: one JSON file per model, in a folder of its name.

Scores are measured on the queries that have a similar candidate, each model's best image of an item in its lists.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.measures import MRR, Measure, P, Recall, nDCG
from likewise.evaluation.provenance import benchmark_id, utc_now
from likewise.evaluation.step import evaluate
from likewise.evaluation.summary import EvaluationSettings
from likewise.workspace import WorkspaceFolder, write_json

CUTOFFS = (1, 3, 5, 10, 20, 100)
NAMES = {"ndcg_at_{}": nDCG, "recall_at_{}": Recall, "precision_at_{}": P, "mrr_at_{}": MRR}
MAIN = "ndcg_at_10"


def write_mteb_results(
    workspace: WorkspaceFolder, folder: Path, *, task: str, encoders: Sequence[str] | None = None
) -> list[Path]:
    """Measure the encoders and write `folder/MODEL/TASK.json` for each."""
    measures: dict[str, Measure] = {name.format(k): one @ k for name, one in NAMES.items() for k in CUTOFFS}
    settings = EvaluationSettings.of_measures(tuple(measures.values()))
    done = evaluate(workspace, encoders, settings, store=False)
    results = done.evaluation.results
    learned = [name for name in done.summary.lineage.learned_labels if name in results["encoder"]]
    if learned:
        raise LikewiseError(
            f"{learned[0]} learned from the labels it would be measured on, and MTEB's files cannot mark that: "
            "leave it out, or measure it on a half it has not seen."
        )
    revision = benchmark_id(done.evaluation.gathered.pairs)
    if not re.fullmatch(r"[\w.-]+", task):
        raise LikewiseError(f"the task {task!r} names a file: use letters, digits, dots and hyphens.")
    written = []
    for encoder in results["encoder"].unique(maintain_order=True):
        of_encoder = dict(results.filter(pl.col("encoder") == encoder).select("measure", "value").iter_rows())
        path = folder / re.sub(r"[^\w.-]+", "__", encoder) / f"{task}.json"
        scores = {name: of_encoder[str(measure)] for name, measure in measures.items()}
        write_json(_task_result(task, revision, scores), path)
        written.append(path)
    return written


def _task_result(task: str, revision: str, scores: dict[str, float | None]) -> dict[str, Any]:
    """What `mteb.TaskResult` reads."""
    return {
        "dataset_revision": revision,
        "task_name": task,
        "mteb_version": None,
        "scores": {"test": [scores | {"main_score": scores[MAIN], "hf_subset": "default", "languages": ["zxx-Zxxx"]}]},
        "evaluation_time": None,
        "kg_co2_emissions": None,
        "date": utc_now(),
    }
