"""How the page was made: the settings and versions behind it, and what each number means."""

from importlib.metadata import version
from typing import Any

from likewise.evaluation.summary import EvaluationSummary
from likewise.report.tables import Tables
from likewise.workspace import WARDROBE

MEASURE_DESCRIPTIONS = {
    "gallery ROC_AUC": "the chance that an item labelled similar scores above an item drawn at random from the whole "
    "gallery (never one labelled similar), each by its best image, per query that has a similar one, then the mean; "
    "50 % is a coin toss. Models are ranked by it.",
    "ROC_AUC": "the chance that an image labelled similar scores above one labelled not similar. The latter are "
    "mostly candidates that contributing models rank high: compare it within a group only.",
    "AP": "average precision: the precision at the rank of each similar pair, averaged.",
    "macro / micro": "macro: one value per query that has both classes, then the mean; micro: all pairs in one list.",
    "P@k": "precision: labelled similar candidates in a model’s first k, as a share of k, over queries that have any.",
    "VSD_MRR@k": "the same with weight 1/rank, as a share of the largest possible sum.",
    "nDCG@k": "hits weighted by 1/log2(rank + 1), divided by the largest value that the query’s labels allow.",
    "Judged@k": "the share of a model’s first k candidates that have a label.",
    "95 % interval": "over queries, as if others of their kind had been drawn: Wilson’s score interval with the "
    "spread between the queries and Student’s t; docs/inference.md says how often it holds.",
    "Fleiss’ κ, Krippendorff’s α": "agreement beyond chance: 0 is chance, 1 is perfect.",
}

OTHER_DESCRIPTIONS = {
    "lead, p": "the difference of two models over the same queries; p of the paired t-test, after Holm’s correction "
    "for all pairs of models; significant below 0.05.",
    "Spearman, Kendall": "how far two orders of the models agree: 1 the same order, 0 unrelated, −1 reversed; with "
    "fewer than five models it says little. p counts all orders of up to eight models, else the t approximation.",
    "bpref": "1 minus the share of labelled dissimilar candidates above each similar one; unlabelled ones are ignored.",
}


def settings_table(tables: Tables) -> list[tuple[str, str]]:
    """What decided the numbers, as pairs of name and value."""
    summary, made = tables.summary, tables.settings
    chosen = made.get("source_settings") or {}
    source = made["source"] + (f" of {chosen['path']}" if "path" in chosen else "")
    if made["source"] == WARDROBE:
        source += " (" + ", ".join(f"{key} {value}" for key, value in chosen.items()) + ")"
    encoders = [
        f"{name} ({note.get('version', '?')}, {note.get('dim', '?')} dimensions)"
        for name, note in tables.encoder_notes.items()
    ]
    rows = [
        ("catalog", f"{source}: {summary.n_images:,} images of {summary.n_items:,} items"),
        ("fingerprint", str(made.get("fingerprint", "–"))),
        ("models", "; ".join(encoders)),
        ("pool", _describe_pool(tables.pool_settings)),
        ("index", "; ".join(f"{generator}: {recall}" for generator, recall in tables.recalls.items())),
        ("votes", "; ".join(dict.fromkeys(summary.labels.sources))),
        ("consensus", summary.labels.consensus.rule),
        ("evaluation", _describe_evaluation(summary)),
        ("seconds per pair", f"{summary.prevalence.seconds_per_pair:g}"),
        ("likewise", version("likewise")),
    ]
    return [row for row in rows if row[1]]


def _describe_evaluation(summary: EvaluationSummary) -> str:
    made = summary.settings
    parts = [
        f"k {', '.join(str(k) for k in made.ks)}",
        *([] if made.are_default_measures else [f"measures {', '.join(made.measures)}"]),
        f"seed {made.seed}",
    ]
    if summary.sampled_negatives:
        parts.append(f"{summary.sampled_negatives:,} sampled negatives from {made.negatives}")
    return "; ".join(parts)


def _describe_pool(pool: dict[str, Any]) -> str:
    parts = [
        key.replace("_", " ") + ("" if value is True else f" {value}")
        for key, value in pool.items()
        if key != "generators" and value is not None and value is not False
    ]
    return "; ".join([f"generators {', '.join(pool.get('generators', []))}", *parts])
