"""The tables and the figure of `combiner.md` and `mining.md`, from what `conditional_results.py` measured."""

from pathlib import Path
from typing import Any

from marks import paragraph

TASKS = ("focus_attribute", "change_attribute", "focus_object", "change_object", "average")
METHODS = ("image only", "text only", "image + text", "combiner")


def combiner_blocks(wardrobe: dict[str, Any], emoji: dict[str, Any]) -> dict[str, str]:
    """Of both catalogs: the scores, how the Combiner was trained, and how its settings were chosen."""
    return {
        "combiner-wardrobe-table": _table(wardrobe["table"]),
        "combiner-wardrobe-training": _training(wardrobe),
        "combiner-wardrobe-choices": _choices(wardrobe["choices"], wardrobe["n_validate"]),
        "combiner-emoji-table": _table(emoji["table"]),
        "combiner-emoji-training": _training(emoji),
        "combiner-emoji-choices": _choices(emoji["choices"], emoji["n_validate"]),
    }


def mining_blocks(measured: dict[str, Any]) -> dict[str, str]:
    """How good the parser is, and what every filter leaves."""
    parser = (
        f"{measured['n_captions']} captions: precision {measured['precision']:.3f} ({measured['n_right']} of "
        f"{measured['n_found']} relations found are correct), recall {measured['recall']:.3f} "
        f"({measured['n_recalled']} of {measured['n_annotated']} annotated relations)."
    )
    funnel = [f"| {row['step']} | {row['n']:,} | {row['unit']} | {row['why']} |" for row in measured["funnel"]]
    return {
        "mining-parser": paragraph(parser),
        "mining-funnel": "\n".join(["| step | left | of what | because |", "|---|---:|---|---|", *funnel]),
    }


def benchmark_blocks(found: dict[str, Any]) -> dict[str, str]:
    """What `python -m benchmarks.mining` measured."""
    spent, faster = found["cpu_ms_per_triplet"], found["times_faster"]
    speed = [
        "| | |",
        "|---|---:|",
        f"| captions | {found['captions']:,} |",
        f"| relations left by the filters | {found['relations_left']:,} |",
        f"| triplets | {found['triplets']:,} |",
        f"| wall-clock seconds, all steps | {found['seconds']:,} |",
        *(f"| … {step} | {seconds:,} |" for step, seconds in found["steps"].items()),
        f"| CPU seconds, all processes | {found['cpu_seconds']:,} |",
        f"| memory of the main process, GB | {found['peak_gb_main']} |",
        f"| memory of the largest worker, GB | {found['peak_gb_largest_worker']} |",
    ]
    loops = [
        "| | ms per triplet | times slower than sampling in arrays | whole run, times slower |",
        "|---|---:|---:|---:|",
        f"| sampling in arrays | {spent['drawing']:.4f} | | |",
        *(
            f"| loop that {says} | {spent[f'loop that {says}']} | {faster[f'drawing, than {way}']:,} "
            f"| {faster[f'whole run, than {way}']:,} |"
            for says, way in (("lists what fits", "listing"), ("tries again", "trying"))
        ),
    ]
    return {"mining-speed": "\n".join(speed), "mining-loops": "\n".join(loops)}


def _training(found: dict[str, Any]) -> str:
    """What encoder and Combiner were trained on, and how the Combiner compares with the baselines."""
    tower, combiner = found["tower"], found["combiner"]
    settings = combiner["settings"]
    return paragraph(
        f"The encoder was trained on {tower['n_images']:,} images; {tower['n']:,} images of held-out items find"
        f" their own caption among {tower['n_captions']:,} in {100 * tower['recall_at_1']:.1f} %. The Combiner "
        f"was trained on {combiner['n_triplets']:,} templates; its best validation was at step "
        f"{combiner['best_step']:,} of {settings['steps']:,} (batches of {settings['batch']}, learning rate "
        f"{settings['learning_rate']:g}, dropout {settings['dropout']:g}, temperature {settings['temperature']:g})."
        + _overlap(found["table"])
        + _better_baselines(found["table"])
    )


def _overlap(rows: list[dict[str, Any]]) -> str:
    """Whether the Combiner's interval of the average overlaps a baseline's."""
    average = {row["method"]: row for row in rows if row["measure"] == "Recall@1" and row["task"] == "average"}
    low = average[METHODS[-1]]["low"]
    met = [method for method in METHODS[:-1] if average[method]["high"] >= low]
    if not met:
        return " On average its interval lies above those of all three baselines."
    return f" On average its interval does not lie above that of {' and '.join(met)}."


def _better_baselines(rows: list[dict[str, Any]]) -> str:
    """In which tasks a baseline is better."""
    value = {(row["method"], row["task"]): row["value"] for row in rows if row["measure"] == "Recall@1"}
    lost = [
        f"{task.replace('_', ' ')} ({better})"
        for task in TASKS
        for better in [max(METHODS[:-1], key=lambda method: value.get((method, task), 0.0))]
        if (better, task) in value and value[better, task] > value[METHODS[-1], task]
    ]
    return f" A baseline is better in: {', '.join(lost)}." if lost else " It is the best method in every task."


def _choices(rows: list[dict[str, Any]], n_templates: int) -> str:
    """The settings that were tried, on the validation templates."""
    best = max(rows, key=lambda row: row["validation"])
    lines = [f"Chosen on {n_templates:,} validation templates (the paper uses a dropout of 0.5):", ""]
    lines += ["| dropout | learning rate | best step | validation R@1 | |", "|---:|---:|---:|---:|---|"]
    for row in rows:
        chosen = "chosen" if row is best else ""
        lines.append(
            f"| {row['dropout']:g} | {row['learning_rate']:g} | {row['best_step']:,} | {100 * row['validation']:.1f} |"
            f" {chosen} |"
        )
    return "\n".join(lines)


def _table(rows: list[dict[str, Any]]) -> str:
    cells = {(row["method"], row["task"]): row for row in rows if row["measure"] == "Recall@1"}
    tasks = [task for task in TASKS if (METHODS[0], task) in cells]
    lines = [
        "| method | " + " | ".join(task.replace("_", " ") for task in tasks) + " |",
        "|---|" + "---|" * len(tasks),
    ]
    for method in METHODS:
        lines.append(f"| {method} | " + " | ".join(_cell(cells[method, task]) for task in tasks) + " |")
    first = [cells[METHODS[0], task] for task in tasks]
    lines.append("| *chance* | " + " | ".join(f"{100 * row['chance']:.1f}" for row in first) + " |")
    lines.append("| *templates* | " + " | ".join(f"{row['n']:,}" for row in first) + " |")
    return "\n".join(lines)


def _cell(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})"


def combiner_picture(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Average R@1 with intervals, one panel per catalog."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.6), layout="constrained", dpi=140)
    panels = figure.subplots(1, len(results), squeeze=False)[0]
    for axes, (title, found) in zip(panels, results.items(), strict=True):
        rows = {
            row["method"]: row for row in found["table"] if row["measure"] == "Recall@1" and row["task"] == "average"
        }
        for place, method in enumerate(METHODS):
            row = rows[method]
            value, low, high = (100 * row[name] for name in ("value", "low", "high"))
            colour = "#d55e00" if method == "combiner" else "#0072b2"
            axes.errorbar(value, place, xerr=[[value - low], [high - value]], fmt="o", color=colour, capsize=4)
            axes.text(high + 1, place, f"{value:.1f}", va="center")
        axes.axvline(100 * rows[METHODS[0]]["chance"], color="#6a737d", linestyle=":", linewidth=1)
        axes.set_yticks(range(len(METHODS)), METHODS)
        axes.set_ylim(len(METHODS) - 0.5, -0.5)
        axes.set_xlim(0, 115 * max(row["high"] for row in rows.values()))
        axes.set(title=title, xlabel="average Recall@1 (%), dotted: chance")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
