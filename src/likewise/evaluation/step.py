"""The evaluate step of a workspace: every encoder against the labels; all tables the report draws are written here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery import RANDOM, Arena, budget_table, duplicate_share, generator_table, overlap_table, prevalence
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import Pool, PoolSettings, make_pool, read_pool
from likewise.encoders.store import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.bootstrap import RESAMPLES, Interval, query_weights
from likewise.evaluation.curves import curve_table
from likewise.evaluation.differences import difference_table
from likewise.evaluation.discovery import KS, Measured, measure, score, scored_table
from likewise.evaluation.fidelity import Truth, admissible_pairs, fidelity_table, found_share
from likewise.evaluation.mistakes import mistake_table
from likewise.evaluation.negatives import BAND, with_sampled_negatives
from likewise.evaluation.pairs import JudgedPairs, judge_pairs
from likewise.labeling.simulate import true_labels
from likewise.labeling.step import read_labels, read_labels_note
from likewise.search import as_unit, pair_scores
from likewise.workspace import Workspace, write_json, write_parquet


@dataclass(frozen=True)
class Evaluated:
    """The long table of numbers, and the facts that go with it."""

    results: pl.DataFrame
    summary: dict[str, Any]


def evaluate(
    workspace: Workspace,
    encoders: Sequence[str] | None = None,
    *,
    ks: Sequence[int] = KS,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    interval: Interval = "percentile",
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Evaluated:
    """Measure every encoder that has vectors (or the ones named) and write results/."""
    names = list(encoders or workspace.encoders())
    if not names:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    if not ks or min(ks) < 1:
        raise LikewiseError(f"every k must be at least 1, not {min(ks, default=0)}.")
    labels, pool = read_labels(workspace), read_pool(workspace)
    pairs = _judged(workspace, names, labels, pool)
    generators = pool.settings.generators
    measured, sampled = measure_all(workspace, names, pairs, generators, max(ks), seed, on_progress)
    weights = query_weights(len(pairs.queries), n_resamples, seed)
    scored = [score(one, pairs, sampled, ks=ks, weights=weights) for one in measured]
    results = scored_table(scored, generators, interval)
    summary = _summary(workspace, pool, pairs, labels, seconds_per_pair)
    summary["sampled_negatives"] = None if sampled is None else len(sampled) - int(sampled.label.sum())
    summary["settings"] = {"ks": list(ks), "resamples": n_resamples, "seed": seed, "interval": interval}
    folder = workspace.results_folder
    write_parquet(results, folder / "discovery.parquet")
    write_parquet(difference_table(scored, seed=seed), folder / "differences.parquet")
    write_parquet(curve_table(measured, pairs), folder / "curves.parquet")
    write_parquet(mistake_table(measured, pairs), folder / "mistakes.parquet")
    write_parquet(generator_table(pool.rows, labels), folder / "generators.parquet")
    write_parquet(overlap_table(pool.rows, len(pool.arena.queries), pool.settings.k), folder / "overlap.parquet")
    write_json(summary, folder / "summary.json")
    return Evaluated(results, summary)


def measure_all(
    workspace: Workspace,
    encoders: Sequence[str],
    pairs: JudgedPairs,
    generators: Sequence[str],
    k: int,
    seed: int,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> tuple[list[Measured], JudgedPairs | None]:
    """Search and score with every encoder, one after the other; also the pairs with sampled negatives.

    The negatives come from the lists of the generators among `encoders`; without one there are none.
    """
    measured: list[Measured] = []
    for done, name in enumerate(encoders):
        if on_progress:
            on_progress(name, done, len(encoders))
        queries, gallery = (read_vectors(workspace, name, images) for images in (pairs.queries, pairs.gallery))
        measured.append(measure(name, pairs, queries, gallery, k, BAND if name in generators else None))
    bands = [one.band for one in measured if one.band is not None]
    sampled = with_sampled_negatives(pairs, bands, seed) if bands else None
    if sampled is None:
        return measured, None
    return [
        replace(
            one,
            band=None,
            sampled_scores=pair_scores(
                as_unit(read_vectors(workspace, one.encoder, pairs.queries)),
                as_unit(read_vectors(workspace, one.encoder, pairs.gallery)),
                sampled.query,
                sampled.candidate,
            ),
        )
        for one in measured
    ], sampled


def results_are_current(workspace: Workspace) -> bool:
    """Whether results/ was written after everything it rests on."""
    written = workspace.results_folder / "summary.json"  # the last file that `evaluate` writes
    if not written.exists():
        return False
    rests_on = [workspace.catalog_file, workspace.pool_file, workspace.labels_file]
    rests_on += workspace.vectors_folder.glob("*/meta.json")
    return all(path.stat().st_mtime_ns <= written.stat().st_mtime_ns for path in rests_on if path.exists())


def budget(workspace: Workspace, settings: PoolSettings, seconds_per_pair: float = SECONDS_PER_PAIR) -> pl.DataFrame:
    """Write and return results/budget.parquet, k up to `settings.k`; with recall and fidelity if the truth is known."""
    pool = make_pool(workspace, settings)
    labels = read_labels(workspace) if workspace.labels_file.exists() else None
    table = budget_table(pool.rows, labels, seconds_per_pair)
    catalog = read_catalog(workspace)
    if workspace.knows_truth:
        encoders = workspace.encoders()
        vectors = {
            name: (
                read_vectors(workspace, name, pool.arena.queries),
                read_vectors(workspace, name, pool.arena.gallery),
            )
            for name in encoders
        }
        faithful = fidelity_table(pool.rows, pool.arena, truth_of(catalog, pool.arena), vectors)
        table = table.join(
            faithful.select("generators", "k", "item_recall", "spearman"), on=["generators", "k"], how="left"
        )
    write_parquet(table, workspace.results_folder / "budget.parquet")
    return table


def truth_of(catalog: pl.DataFrame, arena: Arena) -> Truth:
    """The true label of every admissible pair, for catalogs whose truth is known."""
    query, candidate = admissible_pairs(arena)
    pairs = pl.DataFrame(
        {
            "query": pl.Series(arena.queries).gather(query),
            "candidate": pl.Series(arena.gallery).gather(candidate),
        }
    )
    return Truth(query, candidate, true_labels(catalog, pairs)["label"].to_numpy())


def _judged(workspace: Workspace, encoders: Sequence[str], labels: pl.DataFrame, pool: Pool) -> JudgedPairs:
    """Labels without the pairs that only chance proposed; images restricted to those every encoder has."""
    chance = pool.rows.filter(pl.col("generator") == RANDOM).join(
        pool.rows.filter(pl.col("generator") != RANDOM), on=["query", "candidate"], how="anti"
    )
    used = labels.join(chance, on=["query", "candidate"], how="anti")
    queries = common_images(workspace, encoders, pool.arena.queries)
    gallery = common_images(workspace, encoders, pool.arena.gallery)
    pairs = judge_pairs(read_catalog(workspace), used, queries, gallery)
    if not len(pairs):
        raise LikewiseError(
            "none of the labels belongs to a query and candidate of the pool: "
            "label the pairs of `likewise label sheet`, or run `likewise discover` for the catalog they come from."
        )
    return pairs


def _summary(
    workspace: Workspace, pool: Pool, pairs: JudgedPairs, labels: pl.DataFrame, seconds_per_pair: float
) -> dict[str, Any]:
    catalog = read_catalog(workspace)
    note = read_labels_note(workspace)
    summary = {
        "prevalence": prevalence(pool.rows, labels, pool.arena.n_pairs, seconds_per_pair).to_dict(),
        "labels": note,
        "pool": {
            "generators": list(pool.settings.generators),
            "k": pool.settings.k,
            "seed": pool.settings.seed,
            "duplicate_share": duplicate_share(pool.rows),
        },
        "n_images": len(catalog),
        "n_items": catalog["item"].n_unique(),
        "n_queries": len(pairs.queries),
        "n_gallery": len(pairs.gallery),
        "n_queries_without_vectors": len(pool.arena.queries) - len(pairs.queries),
        "n_gallery_without_vectors": len(pool.arena.gallery) - len(pairs.gallery),
        "truth": None,
    }
    if workspace.knows_truth:
        found = found_share(pool.arena, truth_of(catalog, pool.arena), pool.rows, labels)
        summary["truth"] = found.to_dict()
    return summary
