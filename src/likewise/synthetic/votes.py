"""Simulated experts answer the pool of a drawn workspace, and their votes go into its store."""

from likewise.catalog import read_catalog
from likewise.discovery import pairs_to_label
from likewise.errors import LikewiseError
from likewise.labeling.step import SIMULATED
from likewise.labeling.store import AddedVotes, add_votes, opened_votes
from likewise.labeling.store.clock import simulated_store_time
from likewise.synthetic.experts import sample_experts, simulate_votes
from likewise.synthetic.truth import is_wardrobe
from likewise.workspace import WorkspaceFolder, read_parquet


def add_simulated_votes(workspace: WorkspaceFolder, n_experts: int, seed: int) -> tuple[int, AddedVotes]:
    """Let simulated experts answer every pair of the pool: how many pairs, and what was stored."""
    if not is_wardrobe(workspace):
        raise LikewiseError(
            f"{workspace.path} is not a wardrobe: simulated experts know only what was drawn here; "
            "other catalogs need people's votes (`likewise label sheet`, then `likewise label import`)."
        )
    pairs = pairs_to_label(read_parquet(workspace.pool_file, f"likewise discover {workspace.quoted}"))
    votes = simulate_votes(read_catalog(workspace), pairs, sample_experts(n_experts, seed), seed)
    with simulated_store_time(str(votes["time"].max())), opened_votes(workspace) as engine:
        added = add_votes(engine, votes, f"{SIMULATED} seed={seed}")
    return len(pairs), added
