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
from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.evaluation.retrieval import Retrieval, retrieval
from likewise.files import written_together
from likewise.optional_dependencies import import_optional
from likewise.training.context import FoldTask, TaskRunner, TrainingContext, run_fold
from likewise.training.methods import Params
from likewise.training.plan import TrainingPlan
from likewise.training.runs import RunFolder
from likewise.training.seeds import derive_seed
from likewise.training.split import Rows
from likewise.training.trainer import TrainedFold, Weights, embed, split_batches
from likewise.workspace import write_json, write_parquet

if TYPE_CHECKING:
    from torch import nn

MEASURES = ("P@1", "R_Precision", "MAP@R")
EMBEDDINGS = ("concatenated", "separated")
PRETRAINED = "pretrained"


def train_rerun(
    context: TrainingContext, method: str, params: Params, rerun: int, seed: int, runner: TaskRunner
) -> list[TrainedFold]:
    """The models of all folds with one seed, the same seeds for every method; what failed says so in its fold."""
    tasks = [
        FoldTask(context.config, method, dict(params), fold, derive_seed(seed, "rerun", rerun, fold), keep_weights=True)
        for fold in range(context.config.plan.n_folds)
    ]
    folds: list[TrainedFold] = runner(run_fold, tasks)
    return folds


def describe_failure(folds: Sequence[TrainedFold]) -> str:
    """Why a rerun gave no model; empty where every fold did."""
    return next((f"fold {fold}: {each.failure}" for fold, each in enumerate(folds) if each.failure), "")


def evaluate_rerun(
    context: TrainingContext, run: RunFolder, method: str, rerun: int, folds: Sequence[TrainedFold]
) -> None:
    """Measure the models of one rerun on the test classes and write what was found."""
    models = [load_network(context, trained.weights or {}) for trained in folds]
    vectors = [embed(model, context.eval_inputs, context.split.test) for model in models]
    labels = context.split.labels[context.split.test]
    concatenated = retrieval(concatenate_embeddings(vectors), labels, whole_rank=False)
    separated = [retrieval(each, labels, whole_rank=False) for each in vectors]
    curves = [
        {"fold": fold, "best_step": each.step, "points": [asdict(p) for p in each.curve]}
        for fold, each in enumerate(folds)
    ]
    with written_together(run.path) as staged:
        write_json(curves, staged.place(run.curves_file(method, rerun)))
        write_parquet(per_query_table(context, concatenated, separated), staged.place(run.rerun_file(method, rerun)))


def load_network(context: TrainingContext, weights: Weights) -> "nn.Module":
    torch = import_optional("torch", "training")
    network = move_to_device(context.make_network())
    network.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return network


def concatenate_embeddings(vectors: Sequence[Vectors]) -> Vectors:
    return unit_rows(np.concatenate([unit_rows(each) for each in vectors], axis=1))


def per_query_table(context: TrainingContext, concatenated: Retrieval, separated: Sequence[Retrieval]) -> pl.DataFrame:
    """One row per test image and embedding; separated values are means over the models."""
    test = context.split.test
    parts = []
    for embedding, measured in (("concatenated", [concatenated]), ("separated", separated)):
        values = {measure: np.mean([each.per_query(measure) for each in measured], axis=0) for measure in MEASURES}
        parts.append(
            pl.DataFrame(
                {
                    "image": context.split.keys(test),
                    "class": context.split.labels[test],
                    "embedding": [embedding] * len(test),
                    **values,
                }
            ).with_columns(pl.col(*MEASURES).fill_nan(None))
        )
    return pl.concat(parts)


def n_untrained_reruns(plan: TrainingPlan) -> int:
    """A pretrained trunk is always the same; one that starts from nothing is another one with every seed."""
    return plan.n_reruns if plan.trunk == "small" else 1


def evaluate_pretrained(context: TrainingContext, run: RunFolder, rerun: int, seed: int) -> None:
    """The trunk without training; the dimensions that were left of 512 (four heads) and 128 (one) are written too."""
    features = pretrained_features(context, derive_seed(seed, "rerun", rerun, 0))
    development, test = features(context.split.development), features(context.split.test)
    labels = context.split.labels[context.split.test]
    plan = context.config.plan
    wanted = {"concatenated": plan.n_folds * plan.dim, "separated": plan.dim}
    dims = {embedding: min(dim, development.shape[1], len(development) - 1) for embedding, dim in wanted.items()}
    projection = fit_projection(lambda: iter([development]), max(dims.values()), whiten=False)
    measured = {
        embedding: retrieval(unit_rows(projection.first(dim).apply(test)), labels, whole_rank=False)
        for embedding, dim in dims.items()
    }
    table = per_query_table(context, measured["concatenated"], [measured["separated"]])
    with written_together(run.path) as staged:
        write_json(dims, staged.place(run.curves_file(PRETRAINED, rerun)))
        write_parquet(table, staged.place(run.rerun_file(PRETRAINED, rerun)))


def pretrained_features(context: TrainingContext, seed: int) -> Callable[[Rows], Vectors]:
    """What the head sees, of length one: stored vectors, or the trunk's output."""
    if context.config.plan.trunk == "frozen":
        return context.eval_inputs
    torch = import_optional("torch", "training")
    torch.manual_seed(seed)  # a small trunk starts at random
    trunk = move_to_device(context.new_network(context.split.development)).trunk.eval()  # type: ignore[union-attr]

    def features(rows: Rows) -> Vectors:
        parts = []
        with torch.inference_mode():
            for batch in split_batches(rows):
                parts.append(to_numpy(trunk(to_device(context.eval_inputs(batch)))))
        return unit_rows(np.concatenate(parts))

    return features
