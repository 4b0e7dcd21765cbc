"""The pages that `conditional_results.py` writes."""

from pathlib import Path
from textwrap import wrap
from typing import Any

TASKS = ("focus_attribute", "change_attribute", "focus_object", "change_object", "average")
WIDTH = 118
METHODS = ("image only", "text only", "image + text", "combiner")


def combiner_page(results: dict[str, tuple[str, dict[str, Any]]]) -> str:
    """docs/combiner.md"""
    lines = [
        "# The Combiner against the baselines",
        "",
        *paragraph(
            "Written by `docs/conditional_results.py`. The Combiner (GeneCIS, section 5) makes one query vector of a "
            "reference image and a condition text. Here everything is small enough for two cores and needs no download:"
            " a two-tower encoder that learned from the captions of a catalog (`likewise condition two-tower`), and a "
            "Combiner on its frozen features (`likewise condition train`), trained on templates of some items and "
            "measured on templates of others. Recall@1 in percent with 95 % intervals over templates, ties shared."
        ),
        "",
        "![Average Recall@1 of every method](combiner.png)",
        "",
    ]
    for title, found in results.values():
        tower, combiner = found["tower"], found["combiner"]
        lines += [f"## {title}", "", *_table(found["table"]), ""]
        settings = combiner["settings"]
        lines += paragraph(
            f"The encoder learned from {tower['n_images']:,} images; {tower['n']:,} images of held-out items find"
            f" their own caption among {tower['n_captions']:,} in {100 * tower['recall_at_1']:.1f} %. The Combiner "
            f"learned from {combiner['n_triplets']:,} templates; the best of its validations was at step "
            f"{combiner['best_step']:,} of {settings['steps']:,} (batches of {settings['batch']}, learning rate "
            f"{settings['learning_rate']:g}, dropout {settings['dropout']:g}, temperature {settings['temperature']:g})."
            + _behind(found["table"])
            + _left_out(found.get("left_out", {}), found.get("whole_table", []))
        )
        lines.append("")
    lines += [
        "## The same with your own images",
        "",
        "```",
        "likewise condition two-tower shop shop/tower           # a catalog with captions",
        "likewise condition build shop --half train --name train --per-task 5000",
        "likewise condition build shop --half test --name test",
        "likewise condition train shop --with two-tower:shop/tower --on train",
        "likewise condition evaluate shop --with two-tower:shop/tower --templates test --methods image+text,combiner",
        "likewise condition study shop --with two-tower:shop/tower --on train --test test",
        "```",
        "",
        *paragraph(
            "`--tune image,text` trains the encoder along, `--on` also takes a folder of `likewise mine` or `official` "
            "(CIRR's own triplets), and `--validate official` stops early on CIRR's validation split."
        ),
        "",
    ]
    return "\n".join(lines)


def _behind(rows: list[dict[str, Any]]) -> str:
    """In which tasks a baseline is better."""
    value = {(row["method"], row["task"]): row["value"] for row in rows if row["metric"] == "R@1"}
    lost = [
        f"{task.replace('_', ' ')} ({better})"
        for task in TASKS
        for better in [max(METHODS[:-1], key=lambda method: value.get((method, task), 0.0))]
        if (better, task) in value and value[better, task] > value[METHODS[-1], task]
    ]
    return f" A baseline is better in: {', '.join(lost)}." if lost else " It is the best method in every task."


def _left_out(tasks: dict[str, int], rows: list[dict[str, Any]]) -> str:
    """Tasks with too few templates, and what the average would be with them."""
    if not tasks:
        return ""
    told = " and ".join(f"{task.replace('_', ' ')} ({n})" for task, n in sorted(tasks.items()))
    whole = {row["method"]: row for row in rows if row["metric"] == "R@1" and row["task"] == "average"}
    with_them = ", ".join(f"{method} {_cell(whole[method])}" for method in METHODS[2:] if method in whole)
    return (
        f" Left out, because this catalog gives too few test templates: {told}. With them the average is {with_them}: "
        "those two tasks make the intervals too wide to tell the methods apart."
    )


def paragraph(text: str) -> list[str]:
    return wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _table(rows: list[dict[str, Any]]) -> list[str]:
    cells = {(row["method"], row["task"]): row for row in rows if row["metric"] == "R@1"}
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
    return lines


def _cell(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})"


def combiner_picture(results: dict[str, tuple[str, dict[str, Any]]], path: Path) -> None:
    """Average R@1 with intervals, one panel per catalog."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.6), layout="constrained", dpi=140)
    panels = figure.subplots(1, len(results), squeeze=False)[0]
    for axes, (title, found) in zip(panels, results.values(), strict=True):
        rows = {row["method"]: row for row in found["table"] if row["metric"] == "R@1" and row["task"] == "average"}
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


def mining_page(measured: dict[str, Any], benchmark: dict[str, Any] | None) -> str:
    """docs/mining.md"""
    lines = [
        "# Mining triplets from captions",
        "",
        *paragraph(
            "Written by `docs/conditional_results.py`. `likewise mine` reads relations (subject, relation, object) out "
            "of captions, keeps those of things that can be seen, and pairs them: same subject, other object, other "
            "image. The condition of a triplet is what is said about the target, `on canvas`."
        ),
        "",
        "```",
        "likewise mine captions.tsv --concreteness ratings.txt --to mined",
        "```",
        "",
        *paragraph(
            "The ratings are those of Brysbaert et al. (2014), which you have to fetch yourself; `--concreteness none` "
            "leaves the filter out. Captions are a TSV (caption, image), a table with `image` and `caption`, or a "
            "workspace. The folder holds `captions.parquet`, `relations/`, `triplets.parquet`, `funnel.parquet` and "
            "`index.html`, a page with random triplets. A run that is stopped goes on with the part it was at; the"
            " same seed gives the same files."
        ),
        "",
        "## How good the parser is",
        "",
        *paragraph(
            f"On {measured['n_captions']} random captions of Conceptual Captions' validation file, annotated by hand "
            f"before any parser ran (`tests/conditional/relations.tsv`): precision {measured['precision']:.3f} "
            f"({measured['n_right']} of {measured['n_found']} relations found are right), recall "
            f"{measured['recall']:.3f} ({measured['n_met']} of {measured['n_asked']} that a reader saw). "
            'Subject and object must be the same head nouns, the relation must end in the same word ("sits on" and "on"'
            " agree). The grammar was written by the person who had annotated these captions, so expect less on "
            "others."
        ),
        "",
        "## What every filter leaves",
        "",
        "Of that file's captions, with 20,000 triplets asked for:",
        "",
        "| step | left | of what | because |",
        "|---|---:|---|---|",
    ]
    lines += [f"| {row['step']} | {row['n']:,} | {row['unit']} | {row['why']} |" for row in measured["funnel"]]
    lines.append("")
    if benchmark:
        lines += _benchmark(benchmark)
    return "\n".join(lines)


def _benchmark(found: dict[str, Any]) -> list[str]:
    return [
        "## How fast it is",
        "",
        *paragraph(
            f"`python -m benchmarks.mining --captions {found['captions']} --triplets {found['triplets']}`, "
            "captions generated from the real vocabulary, "
            "two processes on two cores that other work shared:"
        ),
        "",
        "| | |",
        "|---|---:|",
        f"| captions | {found['captions']:,} |",
        f"| triplets | {found['triplets']:,} |",
        f"| seconds, all steps | {found['seconds']:,} |",
        f"| of the processor, both cores together | {found['cpu_seconds']:,} |",
        f"| memory of the main process, GB | {found['peak_gb_main']} |",
        f"| memory of the largest worker, GB | {found['peak_gb_largest_worker']} |",
        f"| drawing one triplet, ms | {found['draw_ms_per_triplet']} |",
        f"| the same in a loop over samples, ms | {found['loop_ms_per_triplet']} |",
        f"| times faster than the loop | {found['times_faster_drawing']:,} |",
        "",
    ]
