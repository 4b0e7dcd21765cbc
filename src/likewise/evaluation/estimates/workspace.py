"""Whole-catalog estimates of a workspace: pool, labels and vectors read and put together."""

from collections.abc import Sequence
from dataclasses import dataclass

from likewise.discovery.pool import QueryGallery
from likewise.discovery.step import read_pool
from likewise.discovery.unit import ITEMS
from likewise.evaluation.estimates.arrival import not_at_random
from likewise.evaluation.estimates.step import PoolEstimates, estimate_pool
from likewise.evaluation.judged import EvaluationInputs, StoredVectors
from likewise.labeling.judges.answers import JudgeTable, pairs_digest, read_judge
from likewise.lineage.guard import descends_from
from likewise.workspace import WorkspaceFolder


def estimate_workspace(
    workspace: WorkspaceFolder, inputs: EvaluationInputs, ks: tuple[int, ...], seed: int
) -> PoolEstimates | None:
    """Estimates for every admissible pair; None where the labels were not drawn with known probabilities, are too few,
    or are no random part of the draw (`why_no_estimates`).

    Encoders that learned from these labels would predict them, so they are left out.
    """
    pairs, settings = inputs.pairs, inputs.pool.settings
    encoders = [name for name in inputs.encoders if name not in inputs.screening.learned]
    if settings.design == "eds" or not encoders or why_no_estimates(inputs):
        return None
    return estimate_pool(
        inputs.pool.rows,
        inputs.labels,
        QueryGallery(pairs.queries, pairs.gallery, pairs.query_items, pairs.gallery_items),
        StoredVectors(workspace, pairs),
        encoders,
        ks=ks,
        one_per_item=settings.unit == ITEMS,
        seed=seed,
        update_rounds=inputs.pool.update_rounds,
        purpose=settings.purpose,
        generators=settings.generators,
        judge=usable_judge(workspace, encoders).judge,
    )


def why_no_estimates(inputs: EvaluationInputs) -> str:
    """Why drawn pairs say nothing of the whole catalog although they have labels; empty where they may."""
    pool = inputs.pool
    if pool.settings.design == "eds":
        return ""
    labelled = inputs.labels.drop_nulls("label").join(pool.rows, on=["query", "candidate"], how="semi")
    if labelled["query"].n_unique() < 2 or labelled["label"].n_unique() < 2:
        return (
            "nothing is estimated for the whole catalog yet: two queries with labels of both kinds, similar and not "
            "similar, are needed."
        )
    return not_at_random(pool.rows, inputs.labels, pool.update_rounds)


@dataclass(frozen=True)
class UsableJudge:
    """The judge that estimates may use, or why they may not use the one there is."""

    judge: JudgeTable | None = None
    why_not: str = ""


def usable_judge(workspace: WorkspaceFolder, contestants: Sequence[str]) -> UsableJudge:
    """The workspace's judge, if it has answered all it was asked about this pool, and descends from no contestant."""
    table = read_judge(workspace)
    if table is None:
        return UsableJudge()
    name, again = table.note.name, f"run `likewise label judge {workspace.quoted} --judge {table.note.spec}` again"
    if shared := descends_from(table.note.ancestors, contestants):
        return UsableJudge(None, f"the judge {name} is not used: it is made from {', '.join(shared)}, measured here.")
    if table.note.pool != pairs_digest(read_pool(workspace).rows):
        return UsableJudge(None, f"the judge {name} is not used: the pool is another one now; {again}.")
    if table.n_open:
        return UsableJudge(None, f"the judge {name} is not used: {table.n_open:,} pairs are unanswered; {again}.")
    if table.rows["answer"].drop_nulls().n_unique() < 2:
        return UsableJudge(None, f"the judge {name} is not used: it gives every pair the same answer, or none.")
    return UsableJudge(table)
