"""The page as a script: commands that make a second workspace with the same labels and the same results.

What the workspace alone holds (votes of the site, vectors and labels from elsewhere, trained models; where the catalog
was updated, its versions and the pool that grew with them) is taken from it; everything else is made again. The script
runs in the folder that holds the workspace.
"""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from likewise.discovery.pool import DRAWN
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import PoolSettings
from likewise.discovery.unit import IMAGES
from likewise.evaluation.budget import BudgetNote
from likewise.report.tables import Tables
from likewise.workspace import WARDROBE

AGAIN = "-again"
POOL_OPTIONS = {
    "generators": "--with",
    "k": "--k",
    "n_queries": "--n-queries",
    "seed": "--seed",
    "queries": "--queries",
    "gallery": "--gallery",
    "by_category": "--by-category",
    "unit": "--unit",
    "per_query_budget": "--per-query",
    "total_budget": "--total",
    "n_random": "--random",
    "index": "--index",
    "design": "--design",
    "n_labels": "--labels",
    "n_rounds": "--rounds",
    "purpose": "--for",
}  # a pool `of_labels` comes with its labels
RANGE = ("generators", "queries", "gallery", "by_category", "seed")  # what `discover` and `plan labels` ask alike
ALWAYS = ("k", "n_queries", "seed", "n_rounds")  # options that are written whatever they are
SIMULATED, LABELS = "simulated", "labels"


def commands_to_reproduce(tables: Tables, name: str) -> list[str]:
    """Lines for a shell; `name` is the folder of the workspace."""
    old, new = shlex.quote(name), shlex.quote(name + AGAIN)
    chosen = tables.summary.settings.command_options()
    lines = [
        _new_command(tables, old, new),
        *_encode_commands(tables, old, new),
        *_pool_and_label_commands(tables, old, new),
        _joined("likewise evaluate", new, *chosen, "--store" if chosen else ""),
        _plan_command(tables.budget_note, new) if tables.budget_note is not None else "",
        f"likewise report {new}",
    ]
    return [line for line in lines if line]


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _was_updated(tables: Tables) -> bool:
    return len(tables.settings.get("versions") or []) > 1


def _copy_command(tables: Tables, old: str, new: str) -> str:
    """Every version of the catalog, and the pool that each of them found, without vectors, votes and labels."""
    root = Path(str(tables.settings["root"]))
    pictures = "" if root.is_absolute() else f" && cp -R {old}/{shlex.quote(root.parts[0])} {new}/"
    files = f"{old}/workspace.json {old}/pool.json {old}/*.parquet"
    return f"mkdir {new} && cp {files} {new}/ && rm -f {new}/labels*.parquet{pictures}"


def _was_discovered(tables: Tables) -> bool:
    return bool(tables.pool_settings.get("generators")) and not tables.pool_settings.get("of_labels")


def _new_command(tables: Tables, old: str, new: str) -> str:
    made, source = tables.settings.get("source_settings") or {}, tables.settings["source"]
    if _was_updated(tables):
        return _copy_command(tables, old, new)
    if source == WARDROBE:
        options = (f"--{key} {value}" for key, value in made.items() if key in ("items", "views", "wild", "seed"))
        return _joined(f"likewise new {new} --wardrobe", *options)
    truth = f"--truth {old}/truth.parquet" if tables.has_truth else ""
    if "path" not in made:  # made in Python, or by a version that did not note where its pictures came from
        root = str(tables.settings["root"])
        pictures = f"{old}/" * (not Path(root).is_absolute()) + shlex.quote(root)
        return _joined(f"likewise new {new} {old}/catalog.parquet --root {pictures}", truth)
    root = f"--root {shlex.quote(made['root'])}" if made.get("root") else ""
    items = f"--item-pattern {shlex.quote(made['item_pattern'])}" if made.get("item_pattern") else ""
    return _joined(f"likewise new {new} {shlex.quote(made['path'])} --reader {source}", root, items, truth)


def _encode_commands(tables: Tables, old: str, new: str) -> list[str]:
    """One command for what can be encoded again; models that were trained here and vectors of elsewhere are copied."""
    notes = tables.encoder_notes
    there = [name for name, note in notes.items() if note]
    copied = [name for name in there if _is_imported(name, notes[name])]
    specs = [notes[name].get("spec") or name for name in there if name not in copied]
    lines = []
    if any("run:" in spec for spec in specs):
        lines.append(f"cp -R {old}/runs {new}/runs")
    if copied:
        folders = " ".join(f"{old}/vectors/{shlex.quote(name)}" for name in copied)
        lines.append(f"mkdir -p {new}/vectors && cp -R {folders} {new}/vectors/")
    return [*lines, f"likewise encode {new} --with {shlex.quote(','.join(specs))}"] if specs else lines


def _is_imported(encoder: str, note: dict[str, Any]) -> bool:
    """Vectors of a file have no spec, and the version of another name: that of the file."""
    return not note.get("spec") and not str(note.get("version", "")).startswith(f"{encoder}@")


def _pool_and_label_commands(tables: Tables, old: str, new: str) -> list[str]:
    """A pool and its labels; a design of several rounds draws each when the pairs before it are labelled."""
    if not _was_discovered(tables) or _was_updated(tables):
        return _label_commands(tables, old, new)
    discover = _joined("likewise discover", new, *_pool_options(tables.pool_settings))
    *once, label = _label_commands(tables, old, new)
    n_rounds = max(tables.pool["round"].drop_nulls().to_list(), default=1)
    return [discover, *once, label, *[discover, label] * (n_rounds - 1)]


def _label_commands(tables: Tables, old: str, new: str) -> list[str]:
    labels = tables.summary.labels
    kinds = {source.partition(" ")[0] for source in labels.sources}
    if kinds == {LABELS}:
        file = f"{new}/imported.parquet"
        options = [] if _was_discovered(tables) else _imported_pool_options(tables)
        return [f"likewise label export {old} {file}", _joined(f"likewise label import {new} {file}", *options)]
    rule = f"--rule {labels.consensus.rule}"
    lines = [
        f"likewise label simulate {new} --experts {labels.agreement.n_experts} --seed {seed} {rule}"
        for source in dict.fromkeys(labels.sources)
        if source.startswith(SIMULATED) and (seed := source.partition("seed=")[2])
    ]
    if len(lines) == 1 and kinds == {SIMULATED}:
        return lines
    votes = f"{new}/votes.csv"
    return [
        f"likewise label export {old} {votes} --what votes",
        f"likewise label import {new} {votes} {rule}",
    ]


def _imported_pool_options(tables: Tables) -> list[str]:
    """Of `label import`, where it makes the pool: generators with ranks are those whose lists were made again."""
    pool = tables.pool_settings
    listed = tables.pool.filter(tables.pool["rank"].is_not_null() & (tables.pool["generator"] != DRAWN))
    again = [name for name in pool.get("generators", ()) if name in set(listed["generator"])]
    return [
        f"--gallery {shlex.quote(pool['gallery'])}" if pool.get("gallery") else "",
        "--every-image" if pool.get("unit") == IMAGES else "",
        f"--generators {shlex.quote(','.join(again))} --k {pool['k']}" if again else "",
    ]


def _plan_command(budget: BudgetNote, new: str) -> str:
    settings = asdict(budget.settings)
    asked = {name: settings[name] for name in ("k", "n_queries", *RANGE)}
    slow = f"--seconds-per-pair {budget.seconds_per_pair:g}" if budget.seconds_per_pair != SECONDS_PER_PAIR else ""
    return _joined("likewise plan labels", new, *_pool_options(asked), slow)


def _pool_options(settings: dict[str, Any]) -> list[str]:
    """The options of `discover` whose values are not the default ones."""
    usual = asdict(PoolSettings(()))
    options = []
    for name, option in POOL_OPTIONS.items():
        value = settings.get(name)
        if value is None or (value == usual[name] and name not in ALWAYS):
            continue
        text = ",".join(value) if isinstance(value, list | tuple) else str(value)
        options.append(option if value is True else f"{option} {shlex.quote(text)}")
    return options
