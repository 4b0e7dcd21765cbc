"""`label judge`: draw pairs for a machine judge, pass the guard, and have them answered.

The judge answers every pair of the pool and the pairs of a larger draw of its own, by the same design and over the same
queries; what it says feeds the model-assisted estimate alone (`estimates/judge.py`).
"""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery.designs.drawn_pool import sampled_pool
from likewise.discovery.designs.sampled import LIST_DEPTH
from likewise.discovery.step import Pool, read_pool, search_generators
from likewise.discovery.unit import ITEMS
from likewise.encoders.lineage import encoder_ancestors, encoder_lineage
from likewise.encoders.storage.files import relocate_run
from likewise.errors import LikewiseError
from likewise.evaluation.screening import label_set
from likewise.labeling.judges.answers import JudgeNote, ask_judge, pairs_digest, read_judge, store_judge
from likewise.labeling.judges.chat import parse_chat_spec
from likewise.labeling.judges.local import EncoderJudge, FunctionJudge
from likewise.labeling.judges.protocol import MachineJudge, PicturePair
from likewise.labeling.store import opened_votes
from likewise.labeling.store.project import Project, read_project
from likewise.labeling.votes import PAIR
from likewise.lineage.guard import refuse_descendant, screen_models
from likewise.lineage.states import earlier_states
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

PAIRS_PER_LABEL = 10
JUDGE_SEED = 1_000_003  # the judge's draw must not follow from the pool's


@dataclass(frozen=True)
class JudgedResult:
    """What asking a judge did, and cost."""

    judge: str
    n_pairs: int
    n_new: int
    n_without_answer: int
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float | None
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge_pairs(
    workspace: WorkspaceFolder,
    spec: str,
    *,
    n_pairs: int | None = None,
    n_workers: int = 4,
    price: tuple[float, float] | None = None,
    on_progress: ProgressCallback | None = None,
) -> JudgedResult:
    """Have a judge answer; run again, it goes on where it stopped. `price`: per million tokens in and out."""
    pool = read_pool(workspace)
    if pool.settings.design == "eds":
        raise LikewiseError(
            "a judge helps to estimate the whole catalog, which an EDS pool does not allow: draw the pairs with "
            f"`likewise discover {workspace.quoted} --design sampled`."
        )
    judge, ancestors, notes = open_judge(workspace, spec, pool, n_workers)
    pairs = _pairs(workspace, pool, n_pairs or PAIRS_PER_LABEL * len(pool.rows), on_progress)
    store_judge(
        workspace,
        JudgeNote(spec, judge.name, judge.identity, ancestors, notes, len(pairs), JUDGE_SEED, pairs_digest(pool.rows)),
        pairs,
    )
    asked = [
        PicturePair(query, candidate, workspace.root / query, workspace.root / candidate)
        for query, candidate in pairs.select(PAIR).iter_rows()
    ]
    progress = None if on_progress is None else (lambda done, total: on_progress("asking", done, total))
    fresh = ask_judge(workspace, judge, asked, progress)
    stored = read_judge(workspace)
    assert stored is not None
    tokens_in, tokens_out = (int(fresh[name].sum()) for name in ("tokens_in", "tokens_out"))
    cost = None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6
    silent = stored.rows["answer"].null_count() - stored.n_open
    seconds = float(fresh["seconds"].sum())
    return JudgedResult(judge.name, len(pairs), len(fresh), silent, tokens_in, tokens_out, seconds, cost, notes)


def open_judge(
    workspace: WorkspaceFolder, spec: str, pool: Pool, n_workers: int
) -> tuple[MachineJudge, list[str], list[str]]:
    """The judge that a spec names, the encoders it descends from, and what must be said about it.

    Refused where it is made from a model that is measured here, or learned from the labels it would predict.
    """
    family = spec.partition(":")[0]
    if family == "openai":
        return parse_chat_spec(spec, _guidelines(workspace), n_workers), [], [_unknown(spec)]
    if family == "python":
        return FunctionJudge(spec), [], [_unknown(spec)]
    if family != "run":
        raise LikewiseError(f"{spec!r} is no judge: use run:NAME, python:MODULE:FUNCTION or openai:URL#MODEL.")
    ancestors = encoder_ancestors(workspace, spec)
    refuse_descendant(spec, ancestors, workspace.encoders())
    asked = label_set(read_catalog(workspace), pool.rows, "the pairs of the pool", earlier_states(workspace))
    screening = screen_models({spec: encoder_lineage(workspace, spec)}, asked)
    screening.refuse_learned()
    return EncoderJudge(spec, relocate_run(workspace, spec)), ancestors, screening.notes([spec])


def _unknown(spec: str) -> str:
    return f"{spec}: what it learned from is not recorded; its answers are calibrated on people's labels"


def _guidelines(workspace: WorkspaceFolder) -> str:
    """What people were told."""
    if not workspace.votes_file.exists() and not workspace.votes_location_file.exists():
        return Project().guidelines
    with opened_votes(workspace) as engine:
        return read_project(engine).guidelines


def _pairs(workspace: WorkspaceFolder, pool: Pool, n_pairs: int, on_progress: ProgressCallback | None) -> pl.DataFrame:
    """The judge's own draw with its probabilities, and the pairs of the pool, 0 where they are not in it."""
    settings, query_gallery = pool.settings, pool.query_gallery
    if n_pairs < len(query_gallery.queries):
        n_queries = len(query_gallery.queries)
        raise LikewiseError(f"{n_pairs} pairs for {n_queries} queries: let the judge see at least one of each.")
    there = workspace.encoders()
    generators = [name for name in settings.generators if name in there] or there
    found = search_generators(
        workspace, settings, generators, query_gallery, min(LIST_DEPTH, len(query_gallery.gallery)), on_progress
    )
    lists = [one.neighbours.indices for one in found.values()]
    seed = settings.seed + JUDGE_SEED
    drawn = sampled_pool(query_gallery, lists, n_pairs, seed, one_per_item=settings.unit == ITEMS)
    only_pool = pool.rows.select(PAIR).unique().join(drawn, on=PAIR, how="anti").with_columns(probability=pl.lit(0.0))
    return pl.concat([drawn.select(*PAIR, "probability"), only_pool])
