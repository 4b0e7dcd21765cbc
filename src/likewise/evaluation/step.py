"""The evaluate step of a workspace: every encoder against the labels; all tables the report draws are written here."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery import duplicate_share, generator_table, overlap_table, prevalence
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import Pool, read_pool, retired_pairs
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.evaluation.bootstrap import RESAMPLES, Interval, interval_of, query_weights
from likewise.evaluation.curves import curve_table
from likewise.evaluation.differences import difference_table
from likewise.evaluation.discovery import KS, Scored, score, scored_table
from likewise.evaluation.exchange.labels_import import IMPORTED
from likewise.evaluation.exchange.labels_io import drop_random_pairs
from likewise.evaluation.expert_groups import expert_groups
from likewise.evaluation.fidelity import truth_coverage
from likewise.evaluation.identification import MAIN as MAIN_IDENTIFICATION
from likewise.evaluation.identification import compare_orders, identification_table
from likewise.evaluation.incomplete import auc_bounds, bpref, next_pairs
from likewise.evaluation.leave_one_out import leave_one_out
from likewise.evaluation.measurements import Measurements, measure_encoders, unjudged_list_scores
from likewise.evaluation.mistakes import mistake_table
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.pool_recall import pool_recall
from likewise.evaluation.provenance import make_result_note, write_note
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.evaluation.ranking import MAIN, of_measure
from likewise.evaluation.sampled_negatives import NEGATIVE_RANKS
from likewise.evaluation.training_gains import (
    DISCOVERY,
    IDENTIFICATION,
    learned_from_labels,
    trained_from_base,
    trained_table,
)
from likewise.evaluation.truth import ground_truth
from likewise.evaluation.vsd_tables import vsd_tables
from likewise.labeling.step import read_labels, read_labels_note, read_stored_votes
from likewise.labeling.store.owner import ADJUDICATOR_NAME
from likewise.progress import ProgressCallback
from likewise.workspace import Workspace, read_json, write_json, write_parquet

NEXT_PAIRS = 200


@dataclass(frozen=True)
class Evaluated:
    """All tables by name (`discovery` is the long one), and the facts that go with them."""

    tables: dict[str, pl.DataFrame]
    summary: dict[str, Any]
    pairs: JudgedPairs

    @property
    def results(self) -> pl.DataFrame:
        return self.tables["discovery"]


def evaluate(
    workspace: Workspace,
    encoders: Sequence[str] | None = None,
    *,
    ks: Sequence[int] = KS,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    interval: Interval = "percentile",
    n_next_pairs: int = NEXT_PAIRS,
    command: str = "likewise.evaluate",
    on_progress: ProgressCallback | None = None,
) -> Evaluated:
    """Measure every encoder that has vectors (or the ones named) under every protocol and write results/.

    Those that learned from these very labels are measured only when they are named.

    `command` is what a leaderboard will say made these results.
    """
    names = list(encoders or unbiased_encoders(workspace))
    if not names:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    if not ks or min(ks) < 1:
        raise LikewiseError(f"every k must be at least 1, not {min(ks, default=0)}.")
    labels, pool = read_labels(workspace), read_pool(workspace)
    generators = pool.settings.generators
    needed = [*names, *(name for name in generators if name in workspace.encoders())]
    pairs = _judged(workspace, needed, labels, pool)
    labelled = build_judged_pairs(read_catalog(workspace), labels, pairs.queries, pairs.gallery)
    found = measure_encoders(workspace, names, pairs, generators, ks, seed, on_progress, labelled)
    weights = query_weights(len(pairs.queries), n_resamples, seed)
    scored = []
    for done, one in enumerate(found.measured):
        if on_progress:
            on_progress("intervals", done, len(names))
        scored.append(score(one, pairs, found.sampled, ks=ks, weights=weights, kind=interval))
    left_out = leave_one_out(found.measured, pairs, pool.rows, ks)
    differences = difference_table(scored, seed=seed)
    tables = {
        "discovery": scored_table(scored, generators),
        "differences": differences,
        "leave_one_out": left_out.models,
        "leave_one_out_orders": left_out.orders,
        "identification": identification_table(found.identified, weights, interval),
        "trained": _trained(workspace, found, scored, ks, weights, seed, interval),
        "incomplete": incomplete_table(found, max(ks), weights, interval),
        "next_pairs": _next_pairs(found, differences, n_next_pairs),
        "curves": curve_table(found.measured, pairs),
        "mistakes": mistake_table(found.measured, pairs),
        "generators": generator_table(pool.rows, labels),
        "overlap": overlap_table(pool.rows, len(pool.query_gallery.queries), pool.settings.k),
    }
    tables |= vsd_tables(tables, ks)
    summary = _summary(workspace, pool, pairs, labels, seconds_per_pair)
    summary["n_labels_outside"] = len(labels) - len(labelled)
    summary["encoders"] = names
    summary["learned_from_labels"] = learned_from_labels(workspace, workspace.encoders())
    summary["settings"] = {
        "ks": list(ks),
        "resamples": n_resamples,
        "seed": seed,
        "interval": interval,
        "next_pairs": n_next_pairs,
    }
    summary["sampled_negatives"] = None if found.sampled is None else int((found.sampled.label == 0).sum())
    if found.sampled is None:
        summary["no_sampled_negatives"] = _why_none(workspace, generators, len(pairs.gallery))
    summary["orders"] = _orders(found, scored, ks, weights, interval)
    votes = read_stored_votes(workspace) if summary["labels"]["consensus"]["rule"] != IMPORTED else None
    if votes is not None:  # an adjudicator is no member of a group of experts: they only settle its ties
        votes = votes.filter(pl.col("expert") != ADJUDICATOR_NAME)
    if votes is not None and votes["expert"].n_unique() > 1:
        groups = expert_groups(found.measured, pairs, votes, seed, weights=weights, kind=interval)
        tables["expert_groups"] = groups.values
        summary["expert_groups"] = {
            "winner": groups.winner,
            "winner_share": groups.winner_share,
            "n_groups": groups.n_groups,
            "n_undefined": groups.n_undefined,
        }
    for name, table in tables.items():
        write_parquet(table, workspace.results_folder / f"{name}.parquet")
    note = make_result_note(workspace.path.resolve().name, pairs, summary["labels"], command)
    write_note(note, workspace.results_folder / "discovery.parquet")
    write_json(summary, workspace.results_folder / "summary.json")
    return Evaluated(tables, summary, pairs)


def _why_none(workspace: Workspace, generators: Sequence[str], n_gallery: int) -> str:
    if not generators:
        return "no generator proposed the pairs of these labels, and they are drawn from the generators' lists"
    gone = [name for name in generators if name not in workspace.encoders()]
    if gone:
        return f"the vectors of {', '.join(gone)}, which fed the pool, are gone"
    first, end = NEGATIVE_RANKS
    return f"the gallery of {n_gallery} images is too small: they are drawn from ranks {first} to {end - 1}"


def unbiased_encoders(workspace: Workspace) -> list[str]:
    """Every encoder that has vectors and did not learn from the labels it would be measured on."""
    names = workspace.encoders()
    knowing = learned_from_labels(workspace, names)
    return [name for name in names if name not in knowing]


def incomplete_table(found: Measurements, k: int, weights: Floats, interval: Interval = "percentile") -> pl.DataFrame:
    """Per encoder: bpref with its interval, and the range of its macro ROC-AUC once its top k were all labelled."""
    rows = []
    for one in found.measured:
        low, high, n_unlabelled = auc_bounds(one, unjudged_list_scores(found, one), found.pairs, k)
        preference = bpref(one.scores, found.pairs)
        ends = interval_of(preference, weights, interval)
        rows.append((one.encoder, preference.value(), *ends, preference.n_defined, low, high, n_unlabelled, k))
    schema = {
        "encoder": pl.String,
        "bpref": pl.Float64,
        "bpref_low": pl.Float64,
        "bpref_high": pl.Float64,
        "n_queries": pl.Int64,
        "auc_low": pl.Float64,
        "auc_high": pl.Float64,
        "n_unlabelled": pl.Int64,
        "k": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def _trained(
    workspace: Workspace,
    found: Measurements,
    scored: Sequence[Scored],
    ks: Sequence[int],
    weights: Floats,
    seed: int,
    interval: Interval,
) -> pl.DataFrame:
    """What training changed, where trained networks and what they come from are both measured."""
    metric = _main_identification(found, ks)
    questions = {
        DISCOVERY: ("ROC-AUC macro", _main_sums(scored)),
        IDENTIFICATION: (metric, {one.encoder: one.sums[metric] for one in found.identified}),
    }
    return trained_table(
        trained_from_base(workspace, [one.encoder for one in scored]), questions, weights, seed, interval
    )


def _main_identification(found: Measurements, ks: Sequence[int]) -> str:
    return MAIN_IDENTIFICATION if MAIN_IDENTIFICATION in found.identified[0].sums else f"HR@{min(ks)}"


def _next_pairs(found: Measurements, differences: pl.DataFrame, n_pairs: int) -> pl.DataFrame:
    main = differences.filter(of_measure(MAIN))
    significant = {
        (a, b): differs for a, b, differs in main.select("encoder_a", "encoder_b", "significant").iter_rows()
    }
    judged_scores = {one.encoder: one.scores for one in found.measured}
    return next_pairs(found.pairs, *found.unlabelled, found.unlabelled_scores, judged_scores, significant, n_pairs)


def _orders(
    found: Measurements, scored: Sequence[Scored], ks: Sequence[int], weights: Floats, interval: Interval
) -> dict[str, Any]:
    """How the order of the models by identification agrees with the order by discovery (macro ROC-AUC)."""
    metric = _main_identification(found, ks)
    identification = {one.encoder: one.sums[metric] for one in found.identified}
    discovery = _main_sums(scored)
    return {"identification": metric, **asdict(compare_orders(identification, discovery, weights, interval))}


def _main_sums(scored: Sequence[Scored]) -> dict[str, QuerySums]:
    """Macro ROC-AUC of every encoder, per query."""
    return {one.encoder: row.sums for one in scored for row in one.rows if row.key == MAIN and row.sums is not None}


def settings_of_last_time(workspace: Workspace) -> dict[str, Any]:
    """The options of the evaluation before, so that a report renews results instead of changing their settings."""
    written = workspace.results_folder / "summary.json"
    stored = read_json(written).get("settings") if written.exists() else None
    if stored is None:
        return {}
    return {
        "ks": tuple(stored["ks"]),
        "n_resamples": stored["resamples"],
        "seed": stored["seed"],
        "interval": stored["interval"],
        "n_next_pairs": stored.get("next_pairs", NEXT_PAIRS),
    }


def results_are_current(workspace: Workspace) -> bool:
    """Whether results/ was written after everything it rests on, and about every encoder there is."""
    written = workspace.results_folder / "summary.json"  # the last file that `evaluate` writes
    if not written.exists() or read_json(written).get("encoders") != unbiased_encoders(workspace):
        return False
    rests_on = [workspace.catalog_file, workspace.pool_file, workspace.labels_file]
    rests_on += workspace.vectors_folder.glob("*/meta.json")
    return all(path.stat().st_mtime_ns <= written.stat().st_mtime_ns for path in rests_on if path.exists())


def _judged(workspace: Workspace, encoders: Sequence[str], labels: pl.DataFrame, pool: Pool) -> JudgedPairs:
    """Labels without the pairs that only chance proposed; images restricted to those every encoder has."""
    used = drop_random_pairs(labels, pool.rows, retired_pairs(workspace))
    queries = common_images(workspace, encoders, pool.query_gallery.queries)
    gallery = common_images(workspace, encoders, pool.query_gallery.gallery)
    pairs = build_judged_pairs(read_catalog(workspace), used, queries, gallery)
    refuse_queries_without_candidates(pairs)
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
    summary = {
        "prevalence": prevalence(pool.rows, labels, pool.query_gallery.n_pairs, seconds_per_pair).to_dict(),
        "pool_recall": pool_recall(pool.rows, labels, pool.query_gallery.n_pairs).to_dict(),
        "labels": read_labels_note(workspace),
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
        "n_queries_without_vectors": len(pool.query_gallery.queries) - len(pairs.queries),
        "n_gallery_without_vectors": len(pool.query_gallery.gallery) - len(pairs.gallery),
        "truth": None,
    }
    if workspace.knows_truth:
        found = truth_coverage(pool.query_gallery, ground_truth(catalog, pool.query_gallery), pool.rows, labels)
        summary["truth"] = found.to_dict()
    return summary
