"""The final evaluation, the only part that reads test classes (Reality Check, sec. 3.2).

With the best hyper-parameters the four folds are trained again several times.  *Separated*: the mean of the four
models' accuracies.  *Concatenated*: the four unit vectors side by side, normalised again.  The pretrained trunk stands
beside them, reduced by principal components that are fitted on the first half of the classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from likewise.encoders.families.projection import fit_projection
from likewise.encoders.networks.runtimes import device
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.evaluation.retrieval import Retrieval, retrieval
from likewise.optional_dependencies import needed
from likewise.training.methods import Params
from likewise.training.runs import Run
from likewise.training.seeds import seed_for
from likewise.training.split import Rows
from likewise.training.stage import FoldTask, Runner, Stage, run_fold
from likewise.training.trainer import EMBED_BATCH, Trained, Weights, embed
from likewise.workspace import write_json, write_parquet

if TYPE_CHECKING:
    from torch import nn

METRICS = ("P@1", "R-Precision", "MAP@R")
EMBEDDINGS = ("concatenated", "separated")
PRETRAINED = "pretrained"


def train_again(stage: Stage, method: str, params: Params, rerun: int, seed: int, runner: Runner) -> list[Trained]:
    """The models of all folds with one seed; the same seeds for every method, so that reruns are paired."""
    tasks = [
        FoldTask(stage.setting, method, dict(params), fold, seed_for(seed, "rerun", rerun, fold), keep_weights=True)
        for fold in range(stage.setting.plan.n_folds)
    ]
    folds: list[Trained] = runner(run_fold, tasks)
    for fold, trained in enumerate(folds):
        if trained.failure:
            raise LikewiseError(
                f"{method}, rerun {rerun}, fold {fold}: {trained.failure}; start again with another --seed."
            )
    return folds


def evaluate_rerun(stage: Stage, run: Run, method: str, rerun: int, folds: Sequence[Trained]) -> None:
    """Measure the models of one rerun on the test classes and write what was found."""
    models = [load(stage, trained.weights or {}) for trained in folds]
    vectors = [embed(model, stage.plain, stage.split.test) for model in models]
    labels = stage.split.labels[stage.split.test]
    together = retrieval(side_by_side(vectors), labels, whole_rank=False)
    apart = [retrieval(each, labels, whole_rank=False) for each in vectors]
    curves = [
        {"fold": fold, "best_step": each.step, "points": [asdict(p) for p in each.curve]}
        for fold, each in enumerate(folds)
    ]
    write_json(curves, run.curves(method, rerun))
    write_parquet(per_query(stage, together, apart), run.rerun(method, rerun))


def load(stage: Stage, weights: Weights) -> "nn.Module":
    torch = needed("torch", "training")
    network = stage.make_network().to(device())
    network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return network


def side_by_side(vectors: Sequence[Vectors]) -> Vectors:
    return unit_rows(np.concatenate([unit_rows(each) for each in vectors], axis=1))


def per_query(stage: Stage, together: Retrieval, apart: Sequence[Retrieval]) -> pl.DataFrame:
    """One row per test image and embedding; separated values are means over the models."""
    test = stage.split.test
    parts = []
    for embedding, measured in (("concatenated", [together]), ("separated", apart)):
        values = {metric: np.mean([each.per_query(metric) for each in measured], axis=0) for metric in METRICS}
        parts.append(
            pl.DataFrame(
                {
                    "image": stage.split.keys(test),
                    "class": stage.split.labels[test],
                    "embedding": [embedding] * len(test),
                    **values,
                }
            ).with_columns(pl.col(*METRICS).fill_nan(None))
        )
    return pl.concat(parts)


def evaluate_pretrained(stage: Stage, run: Run) -> dict[str, int]:
    """The trunk without training; the dimensions that were left of 512 (four heads) and 128 (one)."""
    features = pretrained_features(stage)
    development, test = features(stage.split.development), features(stage.split.test)
    labels = stage.split.labels[stage.split.test]
    plan = stage.setting.plan
    measured, dims = {}, {}
    for embedding, wanted in (("concatenated", plan.n_folds * plan.dim), ("separated", plan.dim)):
        dims[embedding] = min(wanted, development.shape[1], len(development) - 1)
        projection = fit_projection(lambda: iter([development]), dims[embedding], whiten=False)
        measured[embedding] = retrieval(unit_rows(projection.apply(test)), labels, whole_rank=False)
    table = per_query(stage, measured["concatenated"], [measured["separated"]])
    write_json(dims, run.curves(PRETRAINED, 0))
    write_parquet(table, run.rerun(PRETRAINED, 0))
    return dims


def pretrained_features(stage: Stage) -> Callable[[Rows], Vectors]:
    """What the head sees, of length one: stored vectors, or the trunk's output."""
    if stage.setting.plan.trunk == "frozen":
        return stage.plain
    torch = needed("torch", "training")
    torch.manual_seed(0)  # a small trunk starts at random
    place = device()
    trunk = stage.new_network(stage.split.development).trunk.to(place).eval()  # type: ignore[union-attr]

    def features(rows: Rows) -> Vectors:
        parts = []
        with torch.inference_mode():
            for start in range(0, len(rows), EMBED_BATCH):
                inputs = torch.from_numpy(stage.plain(rows[start : start + EMBED_BATCH])).to(place)
                parts.append(trunk(inputs).cpu().numpy())
        return unit_rows(np.concatenate(parts))

    return features
