"""The zero-shot blocks of `combiner.md`, from what `zero_shot.py` measured."""

from collections.abc import Sequence
from typing import Any

from marks import paragraph

AVERAGE = "average"
COMBINER, SUM, TEXT_ALONE = "Combiner", "image + text", "pseudo-word (text alone)"


def zero_shot_blocks(found: dict[str, Any]) -> dict[str, str]:
    return {
        "combiner-zero-shot-headline": paragraph(_headline(found)),
        "combiner-zero-shot-table": _table(found["tables"]),
        "combiner-zero-shot-tasks": _tasks(found["tables"]),
        "combiner-zero-shot-training": paragraph(_training(found)),
        "combiner-zero-shot-choices": _choices(found),
        "combiner-zero-shot-towers": _towers(found),
    }


def _averages(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By method; of a set with one task, that task."""
    tasks = {row["task"] for row in rows}
    wanted = AVERAGE if AVERAGE in tasks else next(iter(tasks))
    return {row["method"]: row for row in rows if row["task"] == wanted}


def _apart(one: dict[str, Any], other: dict[str, Any]) -> str:
    if one["low"] > other["high"]:
        return "above"
    return "below" if one["high"] < other["low"] else "not apart from"


def _headline(found: dict[str, Any]) -> str:
    verdicts: dict[str, list[str]] = {}
    for title, rows in found["tables"].items():
        both = _averages(rows)
        said = f"{title.lower()} ({_percent(both[COMBINER])} against {_percent(both[SUM])})"
        verdicts.setdefault(_apart(both[COMBINER], both[SUM]), []).append(said)
    pairs = [_averages(rows) for rows in found["tables"].values()]
    higher = sum(both[COMBINER]["value"] > both[SUM]["value"] for both in pairs)
    goal = "The paper's claim is confirmed" if len(verdicts.get("above", ())) > 1 else "That does not confirm the claim"
    parts = [f"{verdict} image + text on {'; '.join(named)}" for verdict, named in verdicts.items()]
    return (
        "Zero-shot: towers and Combiner learned from captioned photographs alone, settings were chosen on other "
        "photographs and on a catalog of another kind, after earlier trainings had been looked at on the test sets "
        "(below). By its "
        "average Recall@1, in percent and with intervals over templates and three seeds, the Combiner is "
        f"{', and '.join(parts)}. Its mean is the higher one on {higher} of {len(pairs)} sets. {goal} that a Combiner "
        "trained on mined captions is better on conditions it never saw."
    )


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f}"


def _cell(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})"


def _table(tables: dict[str, Sequence[dict[str, Any]]]) -> str:
    averages = {title: _averages(rows) for title, rows in tables.items()}
    methods = list(next(iter(averages.values())))
    lines = ["| method | " + " | ".join(tables) + " |", "|---|" + "---|" * len(tables)]
    for method in methods:
        once = ", one training" if averages[next(iter(tables))][method]["n_seeds"] == 1 else ""
        lines.append(f"| {method}{once} | " + " | ".join(_cell(averages[title][method]) for title in tables) + " |")
    chances = [averages[title][methods[0]] for title in tables]
    lines.append("| *chance* | " + " | ".join(f"{100 * row['chance']:.1f}" for row in chances) + " |")
    lines.append("| *templates* | " + " | ".join(f"{row['n']:,}" for row in chances) + " |")
    return "\n".join(lines)


def _tasks(tables: dict[str, Sequence[dict[str, Any]]]) -> str:
    there = {row["method"] for rows in tables.values() for row in rows}
    methods = [method for method in (SUM, "late fusion", COMBINER, TEXT_ALONE) if method in there]
    lines = ["| templates | task | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    for title, rows in tables.items():
        for task in dict.fromkeys(row["task"] for row in rows):
            cells = {row["method"]: _cell(row) for row in rows if row["task"] == task}
            if task != AVERAGE:
                own = " | ".join(cells.get(method, "–") for method in methods)
                lines.append(f"| {title} | {task.replace('_', ' ')} | {own} |")
    return "\n".join(lines)


def _training(found: dict[str, Any]) -> str:
    recalls = ", ".join(f"{100 * each['recall_at_1']:.1f}" for each in found["towers"])
    first = found["towers"][0]
    return (
        f"Each of the three towers learned from {first['n_images']:,} photographs; {first['n']:,} held-out ones find "
        f"their own first caption among {first['n_captions']:,} in {recalls} %. The text side sits on the sentence "
        "encoder all-MiniLM-L6-v2, the image side on EfficientNet-Lite0; neither is trained further. The best steps of "
        f"the three Combiners were {', '.join(str(step) for step in found['best_steps'])}."
    )


def _choices(found: dict[str, Any]) -> str:
    sets = list(found["n_validate"])
    counts = "; ".join(f"{name}, {found['n_validate'][name]:,} templates" for name in sets)
    base = found["choices"][0][SUM]
    lines = [
        f"Average Recall@1 in percent on two validation sets ({counts}), one training each. The first row is the "
        "setting that the others differ from; chosen is the highest mean over both sets.\n",
        "| Combiner | triplets | best step | " + " | ".join(sets) + " | |",
        "|---|---:|---:|" + "---:|" * len(sets) + "---|",
    ]
    for row in found["choices"]:
        cells = [f"{100 * row[COMBINER][name]:.1f}" for name in sets]
        mark = "chosen" if row == found["chosen"] else ""
        lines.append(
            f"| {row['arm']} | {row['n_triplets']:,} | {row['best_step']} | " + " | ".join(cells) + f" | {mark} |"
        )
    lines.append("| *image + text* | | | " + " | ".join(f"{100 * base[name]:.1f}" for name in sets) + " | |")
    return "\n".join(lines)


def _towers(found: dict[str, Any]) -> str:
    sets = list(found["n_validate"])
    methods = ("image only", "text only", SUM, "late fusion")
    head = [f"{name}: {method}" for name in sets for method in methods]
    lines = ["| tower | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    for row in found["compared"]:
        cells = [f"{100 * row[method][name]:.1f}" for name in sets for method in methods]
        lines.append(f"| {row['tower']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
