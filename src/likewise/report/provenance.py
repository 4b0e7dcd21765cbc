"""How the page was made: the commands that lead to it, the versions behind it, and what each number means."""

import shlex
from importlib.metadata import version
from typing import Any

from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.unit import IMAGES
from likewise.evaluation.summary import EvaluationSummary
from likewise.report.tables import Tables
from likewise.workspace import WARDROBE

MEASURE_DESCRIPTIONS = {
    "gallery ROC_AUC": "the chance that a candidate labelled similar scores above one drawn at random from the whole "
    "gallery (never one of an item labelled similar), per query that has a similar one, then the mean; 50 % is a coin "
    "toss. Models are ranked by it.",
    "ROC_AUC": "the same against candidates labelled not similar, which are mistakes of the models that contributed to "
    "the pool: compare it within a group only.",
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


def commands_to_reproduce(tables: Tables, workspace: str) -> list[str]:
    """The commands that lead to this page; the folder of pictures and the files of votes carry their own names."""
    name, labels, pool = shlex.quote(workspace), tables.summary.labels, tables.pool_settings
    rule, seconds = labels.consensus.rule, tables.summary.prevalence.seconds_per_pair
    chosen = tables.summary.settings.command_options()
    slow = f"--seconds-per-pair {seconds:g}" if seconds != SECONDS_PER_PAIR else ""
    lines = [
        [_new_command(tables.settings, name)],
        [f"likewise encode {name} --with {shlex.quote(','.join(tables.encoder_notes))}"],
        [f"likewise discover {name}", *_discover_options(pool)] if tables.summary.pool.generators else [],
        *([_votes_command(source, name, labels.agreement.n_experts)] for source in dict.fromkeys(labels.sources)),
        [f"likewise label consensus {name} --rule {rule}" if rule != "majority" else ""],
        [f"likewise evaluate {name}", *chosen, "--store" if chosen else ""],
        [f"likewise plan labels {name}", *_budget_options(tables), slow] if tables.budget is not None else [],
        [f"likewise report {name}"],
    ]
    return [line for line in (" ".join(filter(None, parts)) for parts in lines) if line]


def _discover_options(pool: dict[str, Any]) -> list[str]:
    parts = _options(pool, {"--k": "k", "--n-queries": "n_queries"}) + _range_options(pool)
    parts += _options(pool, {"--per-query": "per_query_budget", "--total": "total_budget", "--random": "n_random"})
    parts += _options(pool, {"--index": "index"})
    return [*parts, "--unit images"] if pool.get("unit") == IMAGES else parts


def _budget_options(tables: Tables) -> list[str]:
    """k and the number of queries are read off the table; the rest is taken to be as in the pool."""
    assert tables.budget is not None
    if tables.budget.is_empty():
        return []
    widest = tables.budget.row(-1, named=True)
    n_queries = round(widest["n_pairs"] / widest["pairs_per_query"])
    return [f"--k {widest['k']}", f"--n-queries {n_queries}", *_range_options(tables.pool_settings)]


def _range_options(pool: dict[str, Any]) -> list[str]:
    """What `discover` and `budget` understand alike: who proposes, and among which images."""
    parts = [f"--with {shlex.quote(','.join(pool.get('generators', [])))}"]
    parts += _options(pool, {"--queries": "queries", "--gallery": "gallery"})
    parts += ["--by-category"] if pool.get("by_category") else []
    return parts + _options(pool, {"--seed": "seed"})


def _options(settings: dict[str, Any], names: dict[str, str]) -> list[str]:
    return [
        f"{option} {shlex.quote(str(settings[key]))}" for option, key in names.items() if settings.get(key) is not None
    ]


def _new_command(settings: dict[str, Any], name: str) -> str:
    made = settings.get("source_settings") or {}
    if settings["source"] != WARDROBE:
        return f"likewise new {name} {'TABLE' if settings['source'] == 'table' else 'FOLDER'}"
    options = " ".join(f"--{key} {value}" for key, value in made.items() if key in ("items", "views", "wild", "seed"))
    return f"likewise new {name} --wardrobe {options}".rstrip()


def _votes_command(source: str, name: str, n_experts: int) -> str:
    kind, _, rest = source.partition(" ")
    if kind == "simulated":
        seed = rest.partition("seed=")[2]
        return f"likewise label simulate {name} --experts {n_experts}" + (
            f" --seed {shlex.quote(seed)}" if seed else ""
        )
    if kind == "import":
        return f"likewise label import {name} {shlex.quote(rest)}"
    if kind == "labels":
        return f"likewise label import {name} {shlex.quote(rest)}"
    return f"# votes: {source}"


def settings_table(tables: Tables) -> list[tuple[str, str]]:
    """What decided the numbers, as pairs of name and value."""
    summary, made = tables.summary, tables.settings
    source = made["source"]
    if made.get("source_settings"):
        source += " (" + ", ".join(f"{key} {value}" for key, value in made["source_settings"].items()) + ")"
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
