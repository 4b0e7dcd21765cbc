"""The zero-shot blocks of `combiner.md`, from what `zero_shot.py` measured."""

from collections.abc import Sequence
from typing import Any

from marks import paragraph

AVERAGE = "average"
DRAWN = "Drawn wardrobe"
COMBINER, SUM, TEXT = "Combiner", "image + text", "text only"
UNTRAINED = "soft minimum"


def zero_shot_blocks(found: dict[str, Any]) -> dict[str, str]:
    return {
        "combiner-zero-shot-headline": paragraph(_headline(found)),
        "combiner-zero-shot-table": _table(found["tables"]),
        "combiner-zero-shot-differences": _differences(found),
        "combiner-zero-shot-tasks": _tasks(found["tables"]),
        "combiner-zero-shot-training": paragraph(_training(found)),
    }


def words_blocks(tables: dict[str, Sequence[dict[str, Any]]]) -> dict[str, str]:
    return {"combiner-zero-shot-words": _table(tables)}


def study_blocks(found: dict[str, Any]) -> dict[str, str]:
    return {
        "combiner-zero-shot-choices": _choices(found),
        "combiner-zero-shot-towers": _towers(found),
        "combiner-zero-shot-weights": _weights(found),
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
    own: dict[str, list[str]] = {}
    paired: dict[str, list[str]] = {}
    for title, rows in found["tables"].items():
        both = _averages(rows)
        said = f"{title.lower()} ({_percent(both[COMBINER])} against {_percent(both[SUM])})"
        own.setdefault(_apart(both[COMBINER], both[SUM]), []).append(said)
        difference = _difference(found["differences"][title])
        paired.setdefault(_side(difference), []).append(f"{title.lower()} ({_signed(difference)})")
    verdicts = [f"{verdict} image + text on {'; '.join(named)}" for verdict, named in own.items()]
    pairs = [f"{verdict} on {'; '.join(named)}" for verdict, named in paired.items()]
    real_above = sum(
        title != DRAWN and _side(_difference(rows)) == "above" for title, rows in found["differences"].items()
    )
    real_apart = sum(
        _apart(_averages(rows)[COMBINER], _averages(rows)[SUM]) == "above"
        for title, rows in found["tables"].items()
        if title != DRAWN
    )
    return (
        "Zero-shot across catalogs: towers and Combiner learned from captioned photographs and from the packshots of a "
        "fashion house with texts written from its catalog, and are asked about other photographs and about catalogs "
        f"that nothing learned from. The Combiner is above image + text with both methods' own intervals apart on "
        f"{real_apart} of the {len(found['tables']) - 1} real sets, and above it by the paired difference (same "
        f"templates, same towers) on {real_above} of them. By its average Recall@1, in percent and with intervals over "
        f"templates and {_seeds(found)} seeds, it is {', and '.join(verdicts)}. The paired difference from image + "
        f"text is {', and '.join(pairs)}. {_conclusion(found, min(real_above, real_apart))} {_shares(found)} "
        "What it learned from was chosen on held-out photographs and packshots, the settings are those of an earlier "
        "training; earlier trainings had been looked at on the test sets (below)."
    )


def _shares(found: dict[str, Any]) -> str:
    """What the form gives without training, and what training gives."""
    learned, formed = [], []
    for title, rows in found["differences"].items():
        averages = _averages(found["tables"][title])
        learned.append(f"{title.lower()} {_signed(_difference(rows, UNTRAINED))}")
        formed.append(f"{title.lower()} {_percent(averages[UNTRAINED])}")
    return (
        f"A part of it is the form: untrained, the soft minimum of both cosines has {'; '.join(formed)}. What training "
        f"on mined captions adds to that: {'; '.join(learned)}. Its one query vector, which search uses, differs from "
        f"image + text by {_one_vector(found)}."
    )


def _one_vector(found: dict[str, Any]) -> str:
    """In pairs, by test set."""
    return "; ".join(f"{title.lower()} {_signed(_difference(rows))}" for title, rows in found["one_vector"].items())


def _conclusion(found: dict[str, Any], n_sets: int) -> str:
    """Whether two sets confirm the claim; otherwise how much the towers read on the sets that do not."""
    claim = "that a Combiner trained on mined captions is better on conditions it never saw"
    if n_sets > 1:
        return f"By both methods' own intervals that confirms the claim {claim}."
    read = []
    for title, rows in found["tables"].items():
        if title != DRAWN and _side(_difference(found["differences"][title])) != "above":
            words = _averages(rows)[TEXT]
            read.append(f"{_percent(words)} on {title.lower()} (chance {100 * words['chance']:.1f})")
    return (
        f"By both methods' own intervals that does not confirm the claim {claim}. Where it is not above in pairs, the "
        f"towers hardly read the words: the text alone finds {', '.join(read)}."
    )


def _difference(rows: Sequence[dict[str, Any]], other: str = SUM) -> dict[str, Any]:
    """Of the average over tasks; of a set with one task, of that."""
    same = [row for row in rows if row["other"] == other]
    return next((row for row in same if row["task"] == AVERAGE), same[0])


def _side(difference: dict[str, Any]) -> str:
    return "above" if difference["low"] > 0 else "below" if difference["high"] < 0 else "not apart from 0"


def _signed(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:+.1f}, {100 * row['low']:+.1f} to {100 * row['high']:+.1f}".replace("-", "−")


def _seeds(found: dict[str, Any]) -> str:
    return {3: "three", 5: "five", 6: "six"}[len(found["towers"])]


def _differences(found: dict[str, Any]) -> str:
    tables = found["differences"]
    others = dict.fromkeys(row["other"] for rows in tables.values() for row in rows)
    lines = ["| Combiner minus | " + " | ".join(tables) + " |", "|---|" + "---|" * len(tables)]
    for other in others:
        lines.append(f"| {other} | " + " | ".join(_signed(_difference(rows, other)) for rows in tables.values()) + " |")
    one = " | ".join(_signed(_difference(rows)) for rows in found["one_vector"].values())
    lines.append(f"| *one query vector minus* {SUM} | {one} |")
    return "\n".join(lines)


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f}"


def _cell(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})"


def _table(tables: dict[str, Sequence[dict[str, Any]]]) -> str:
    averages = {title: _averages(rows) for title, rows in tables.items()}
    methods = list(next(iter(averages.values())))
    lines = ["| method | " + " | ".join(tables) + " |", "|---|" + "---|" * len(tables)]
    for method in methods:
        lines.append(f"| {method} | " + " | ".join(_cell(averages[title][method]) for title in tables) + " |")
    chances = [averages[title][methods[0]] for title in tables]
    lines.append("| *chance* | " + " | ".join(f"{100 * row['chance']:.1f}" for row in chances) + " |")
    lines.append("| *templates* | " + " | ".join(f"{row['n']:,}" for row in chances) + " |")
    return "\n".join(lines)


def _tasks(tables: dict[str, Sequence[dict[str, Any]]]) -> str:
    there = {row["method"] for rows in tables.values() for row in rows}
    methods = [method for method in (SUM, "late fusion", UNTRAINED, COMBINER) if method in there]
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
    steps = ", ".join(str(step) for step in found["best_steps"])
    first = found["towers"][0]
    return (
        f"Each of the {_seeds(found)} towers learned from {first['n_images']:,} pictures ({_learned_from(found)}); "
        f"{first['n']:,} held-out ones find their own first text among about {first['n_captions']:,} in {recalls} %. "
        "The text side sits on the sentence encoder all-MiniLM-L6-v2, the image side on all stages of "
        f"EfficientNet-Lite0; neither is trained further. The best steps of the Combiners were {steps}."
    )


def _learned_from(found: dict[str, Any]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in found["lessons"].items()) + ", a tenth of them held out"


def _choices(found: dict[str, Any]) -> str:
    sets = list(found["n_validate"])
    base = found["choices"][0][SUM]
    lines = [
        f"Recall@1 in percent over all templates of two validation sets ({_counts(found)}), one training each on the "
        "first tower. The first row is the setting that is used and that the others differ from.\n",
        "| Combiner | triplets | best step | " + " | ".join(sets) + " | mean |",
        "|---|---:|---:|" + "---:|" * (len(sets) + 1),
    ]
    for row in found["choices"]:
        lines.append(f"| {row['arm']} | {row['n_triplets']:,} | {row['best_step']} | {_cells(row[COMBINER], sets)} |")
    lines.append(f"| *image + text* | | | {_cells(base, sets)} |")
    return "\n".join(lines)


def _counts(found: dict[str, Any]) -> str:
    return "; ".join(f"{name}, {n:,} templates" for name, n in found["n_validate"].items())


def _cells(values: dict[str, float], sets: Sequence[str]) -> str:
    """Of each set, and their mean."""
    each = [values[name] for name in sets]
    return " | ".join(f"{100 * value:.1f}" for value in (*each, sum(each) / len(each)))


def _towers(found: dict[str, Any]) -> str:
    sets = list(found["n_validate"])
    methods = ("image only", "text only", SUM, "late fusion", COMBINER)
    head = [f"{name}: {method}" for name in sets for method in methods]
    lines = ["| tower | clothes | " + " | ".join(head) + " |", "|---|---:|" + "---:|" * len(head)]
    for row in found["compared"]:
        cells = [f"{100 * row[method][name]:.1f}" for name in sets for method in methods]
        lines.append(f"| {row['tower']} | {100 * row['clothes']:.1f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _weights(found: dict[str, Any]) -> str:
    sets = list(found["n_validate"])
    lines = ["| weight of the text | " + " | ".join(sets) + " | mean |", "|---|" + "---:|" * (len(sets) + 1)]
    for weight, row in found["weights"].items():
        lines.append(f"| {weight} % | {_cells(row, sets)} |")
    combiner = found["compared"][0]["Combiner"]
    return "\n".join([*lines, f"| *Combiner* | {_cells(combiner, sets)} |"])
