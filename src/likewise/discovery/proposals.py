"""Who proposed which pair: the generators of today's pool, of pools that it replaced, and of files that named theirs.

Labels keep the answer in their column `generators` (names, sorted, separated by commas; empty where nobody knows), so
that a model that fed a label stays its generator when the pool is made again without it, or the label goes elsewhere.
`random` alone marks a pair that only chance proposed, which serves to estimate prevalence; `picked` one that somebody
chose by looking at models. Neither judges a model, but a picked pair that a round of the pool took in counts as drawn.
"""

import polars as pl

from likewise.catalog.versions import key_changes, read_history, read_versions, rename_keys
from likewise.chain import digest_of, table_digest
from likewise.discovery.pool import DRAWN, IMPORTED, PAIR, PICKED, RANDOM, read_pool_note
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

GENERATORS = "generators"
SEPARATOR = ","
NO_GENERATORS = (RANDOM, DRAWN, PICKED, IMPORTED)
JUDGE_NOBODY = (RANDOM, PICKED, f"{PICKED}{SEPARATOR}{RANDOM}")
PROPOSAL_SCHEMA = pl.Schema(dict.fromkeys([*PAIR, "generator"], pl.String))


def earlier_proposals(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Proposals (query, candidate, generator) of pools that were replaced, and of files of votes."""
    if not workspace.retired_pairs_file.exists():
        return pl.DataFrame(schema=PROPOSAL_SCHEMA)
    found = read_parquet(workspace.retired_pairs_file, f"likewise discover {workspace.quoted} --replace")
    if "generator" not in found.columns:  # once it held random pairs alone
        found = found.with_columns(generator=pl.lit(RANDOM))
    return found.select(PROPOSAL_SCHEMA.names())


def remember_proposals(
    workspace: WorkspaceFolder, proposals: pl.DataFrame, staged: WorkspaceFolder | None = None
) -> None:
    """Add proposals to the earlier ones; those of today's pool are remembered when it is replaced.

    `staged` is where they wait, if they are to be written together with other files.
    """
    known = earlier_proposals(workspace)
    new = proposals.select(PROPOSAL_SCHEMA.names()).filter(~pl.col("generator").is_in([DRAWN, IMPORTED]))
    together = pl.concat([known, new]).unique().sort(PROPOSAL_SCHEMA.names())
    if len(together) > len(known):
        write_parquet(together, (staged or workspace).retired_pairs_file)


def all_proposals(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Of today's pool and before."""
    earlier = earlier_proposals(workspace)
    if not workspace.pool_file.exists():
        return earlier
    pool = read_parquet(workspace.pool_file, f"likewise discover {workspace.quoted}")
    every = pl.concat([pool_proposals(pool), earlier]).unique()
    if workspace.as_of is None:
        return every
    latest = read_versions(workspace)[-1].version
    return rename_keys(every, key_changes(read_history(workspace), latest, workspace.as_of), *PAIR)


def pool_proposals(pool: pl.DataFrame) -> pl.DataFrame:
    """The rows of a pool as proposals: what somebody picked and a round took in counts as drawn."""
    taken_in = pl.col("generator").replace(PICKED, DRAWN)
    return pool.select(*PAIR, taken_in)


def proposals_digest(workspace: WorkspaceFolder) -> str:
    """Of the pool, its settings and earlier proposals; empty where there is none."""
    pool = digest_of(read_pool_note(workspace)) if workspace.pool_settings_file.exists() else ""
    earlier = earlier_proposals(workspace)
    return pool if earlier.is_empty() else digest_of([pool, table_digest(earlier)])


def random_pairs(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Every pair (query, candidate) that was only drawn at random, for this pool or one before it."""
    every = all_proposals(workspace)
    proposed = every.filter(~pl.col("generator").is_in([RANDOM, PICKED]))
    return every.filter(pl.col("generator") == RANDOM).select(PAIR).join(proposed, on=PAIR, how="anti").sort(PAIR)


def pick_pairs(workspace: WorkspaceFolder, pairs: pl.DataFrame) -> None:
    """Remember pairs as picked, before experts are asked about them."""
    remember_proposals(workspace, pairs.select(PAIR, generator=pl.lit(PICKED)))


def pick_outside(workspace: WorkspaceFolder, pool: pl.DataFrame, pairs: pl.DataFrame) -> int:
    """Remember as picked those of some pairs that a pool does not hold, and say how many."""
    outside = pairs.select(PAIR).unique().join(pool.select(PAIR), on=PAIR, how="anti")
    pick_pairs(workspace, outside)
    return len(outside)


def picked_pairs(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The pairs (query, candidate) that were picked by looking at models."""
    return earlier_proposals(workspace).filter(pl.col("generator") == PICKED).select(PAIR)


def with_generators(pairs: pl.DataFrame, proposals: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the column `generators`; what it says already stays."""
    if GENERATORS not in pairs.columns:
        pairs = pairs.with_columns(pl.lit(None, pl.String).alias(GENERATORS))
    named = (
        proposals.filter(pl.col("generator") != IMPORTED)
        .group_by(PAIR)
        .agg(pl.col("generator").unique().sort().str.join(SEPARATOR).alias("found"))
    )
    joined = pairs.join(named, on=PAIR, how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce(GENERATORS, "found").alias(GENERATORS)).drop("found")


def named_proposals(pairs: pl.DataFrame) -> pl.DataFrame:
    """The column `generators` of pairs as proposals, a row each."""
    if GENERATORS not in pairs.columns:
        return pl.DataFrame(schema=PROPOSAL_SCHEMA)
    named = pairs.filter(pl.col(GENERATORS).fill_null("") != "").select(PAIR, generator=pl.col(GENERATORS))
    exploded = named.with_columns(pl.col("generator").str.split(SEPARATOR)).explode("generator", empty_as_null=True)
    return exploded.with_columns(pl.col("generator").str.strip_chars()).filter(pl.col("generator") != "")


def fed_by(labels: pl.DataFrame) -> list[str]:
    """The models that proposed a labelled pair."""
    named = named_proposals(labels)
    return named.filter(~pl.col("generator").is_in(NO_GENERATORS))["generator"].unique().sort().to_list()


def drop_random_pairs(labels: pl.DataFrame) -> pl.DataFrame:
    """Labels that judge models: not those of pairs that only chance proposed (easy ones), or somebody picked."""
    return labels.filter(~pl.col(GENERATORS).is_in(JUDGE_NOBODY).fill_null(False))
