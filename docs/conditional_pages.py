"""The pages that `conditional_results.py` writes."""

from pathlib import Path
from textwrap import wrap
from typing import Any

TASKS = ("focus_attribute", "change_attribute", "focus_object", "change_object", "average")
WIDTH = 118
FULL_SIZE = 3_000_000
METHODS = ("image only", "text only", "image + text", "combiner")


def combiner_page(results: dict[str, tuple[str, dict[str, Any]]], study: dict[str, Any] | None) -> str:
    """docs/combiner.md"""
    lines = [
        "# The Combiner against the baselines",
        "",
        *paragraph(
            "Written by `docs/conditional_results.py`. The Combiner (GeneCIS, section 5) makes one query vector of a "
            "reference image and a condition text. Here everything is small enough for two cores and needs no download:"
            " a two-tower encoder that learned from the captions of a catalog (`likewise condition two-tower`), and a "
            "Combiner on its frozen features (`likewise condition train`). Recall@1 in percent with 95 % intervals "
            "over templates, ties shared; the average is over all four tasks."
        ),
        "",
        *paragraph(
            "The rule, fixed before the test templates were answered: half of the items are for training, a fifth to "
            "choose the Combiner's dropout and learning rate by validation R@1 (and to stop early), three tenths for "
            "the test, which is built by `likewise condition build` from what the catalog says and answered once. "
            "Objects of a wardrobe image are its category and attributes, of an emoji also the words of its caption; "
            "every task counts, whatever number of templates it has. Every template has at least one distractor that "
            "shares as much with the reference as the target does, so that image only is no easy way; where it still "
            "does better than chance, the target looks more like the reference than the annotations say."
        ),
        "",
        "![Average Recall@1 of every method](combiner.png)",
        "",
    ]
    for title, found in results.values():
        lines += [f"## {title}", "", *_table(found["table"]), "", *paragraph(_told(found)), ""]
        lines += [*_choices(found["choices"], found["n_validate"]), ""]
    if study:
        lines += _study(study)
    lines += [
        "## The same with your own images",
        "",
        "```",
        "likewise condition two-tower shop shop/tower           # a catalog with captions",
        "likewise condition build shop --half train --name train --per-task 2000",
        "likewise condition build shop --half test --name test",
        "likewise condition train shop --with two-tower:shop/tower --on train",
        "likewise condition evaluate shop --with two-tower:shop/tower --templates test --methods image+text,combiner",
        "likewise condition study shop --with two-tower:shop/tower --on train --test test",
        "```",
        "",
        *paragraph(
            "`--tune image,text` trains the encoder along, `--on` also takes a folder of `likewise condition mine` or "
            "`official` (CIRR's own triplets), and `--validate official` stops early on CIRR's validation split."
        ),
        "",
    ]
    return "\n".join(lines)


def _told(found: dict[str, Any]) -> str:
    tower, combiner = found["tower"], found["combiner"]
    settings = combiner["settings"]
    return (
        f"The encoder learned from {tower['n_images']:,} images; {tower['n']:,} images of held-out items find"
        f" their own caption among {tower['n_captions']:,} in {100 * tower['recall_at_1']:.1f} %. The Combiner "
        f"learned from {combiner['n_triplets']:,} templates; the best of its validations was at step "
        f"{combiner['best_step']:,} of {settings['steps']:,} (batches of {settings['batch']}, learning rate "
        f"{settings['learning_rate']:g}, dropout {settings['dropout']:g}, temperature {settings['temperature']:g})."
        + _apart(found["table"])
        + _behind(found["table"])
    )


def _apart(rows: list[dict[str, Any]]) -> str:
    """Whether the Combiner's interval of the average meets a baseline's."""
    average = {row["method"]: row for row in rows if row["measure"] == "Recall@1" and row["task"] == "average"}
    low = average[METHODS[-1]]["low"]
    met = [method for method in METHODS[:-1] if average[method]["high"] >= low]
    if not met:
        return " On average its interval lies above those of all three baselines."
    return f" On average its interval does not lie above that of {' and '.join(met)}."


def _choices(rows: list[dict[str, Any]], n_templates: int) -> list[str]:
    """What was chosen among, on the validation templates."""
    best = max(rows, key=lambda row: row["validation"])
    lines = [f"Chosen on {n_templates:,} validation templates (a dropout of 0.5 is the paper's):", ""]
    lines += ["| dropout | learning rate | best step | validation R@1 | |", "|---:|---:|---:|---:|---|"]
    for row in rows:
        chosen = "chosen" if row is best else ""
        lines.append(
            f"| {row['dropout']:g} | {row['learning_rate']:g} | {row['best_step']:,} | {100 * row['validation']:.1f} |"
            f" {chosen} |"
        )
    return lines


def _study(found: dict[str, Any]) -> list[str]:
    """The table and the plots of `likewise condition study`."""
    rows = found["summary"]
    n_test = rows[0]["n"]
    started = sum(step == 0 for step in found["best_steps"].values())
    lines = [
        "## Trained on mined captions, and what each choice is worth",
        "",
        *paragraph(
            "The captions of photographs say what is where with verbs and prepositions; the wardrobe's own put "
            "everything before the noun. For this study the training items are therefore described as `a bag in "
            "burgundy, made of leather, with pinstripes, for spring`, and these captions are mined with the paper's "
            f"concreteness filter ({found['n_mined']['filtered']:,} triplets) and without "
            f"({found['n_mined']['unfiltered']:,}). The filter keeps materials and some patterns; colours and seasons, "
            "which the test asks for too, are not concrete enough for it. `other source` is the training templates. "
            f"Average R@1 on the {n_test:,} test templates in percent, mean and standard deviation over "
            f"{rows[-1]['n_seeds']} seeds, of short trainings with one rate for all; `full` trains both sides of the "
            f"encoder along. In {started} of {len(found['best_steps'])} trainings no validation was better than that "
            "of the Combiner before its first step, which was then kept: where many numbers are the same, nothing "
            "was learned that helps on all conditions."
        ),
        "",
        "```",
        *paragraph(found["command"]),
        "```",
        "",
        "| part | trained on | triplets | R@1 | sd |",
        "|---|---|---:|---:|---:|",
    ]
    for row in rows:
        n = f"{row['n_triplets']:,}" if row["n_triplets"] else "–"
        sd = f"{100 * row['sd']:.1f}" if row["sd"] is not None else "–"
        name = f"{row['arm']} ({row['encoder'].rsplit('/', 1)[-1]})" if row["part"] == "baseline" else row["arm"]
        lines.append(f"| {row['part']} | {name} | {n} | {100 * row['mean']:.1f} | {sd} |")
    lines.append("")
    for part, title in (
        ("ablation", "Ablations, as the paper's Table 5"),
        ("scaling", "More triplets, as Figure 5"),
        ("backbones", "Other encoders, as Figure 6"),
    ):
        lines += [f"![{title}](combiner_{part}.png)", ""]
    return lines


def _behind(rows: list[dict[str, Any]]) -> str:
    """In which tasks a baseline is better."""
    value = {(row["method"], row["task"]): row["value"] for row in rows if row["measure"] == "Recall@1"}
    lost = [
        f"{task.replace('_', ' ')} ({better})"
        for task in TASKS
        for better in [max(METHODS[:-1], key=lambda method: value.get((method, task), 0.0))]
        if (better, task) in value and value[better, task] > value[METHODS[-1], task]
    ]
    return f" A baseline is better in: {', '.join(lost)}." if lost else " It is the best method in every task."


def paragraph(text: str) -> list[str]:
    return wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _table(rows: list[dict[str, Any]]) -> list[str]:
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
    return lines


def _cell(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})"


def combiner_picture(results: dict[str, tuple[str, dict[str, Any]]], path: Path) -> None:
    """Average R@1 with intervals, one panel per catalog."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.6), layout="constrained", dpi=140)
    panels = figure.subplots(1, len(results), squeeze=False)[0]
    for axes, (title, found) in zip(panels, results.values(), strict=True):
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


def mining_page(measured: dict[str, Any], benchmark: dict[str, Any] | None) -> str:
    """docs/mining.md"""
    lines = [
        "# Mining triplets from captions",
        "",
        *paragraph(
            "Written by `docs/conditional_results.py`. `likewise condition mine` reads relations (subject, relation, "
            "object) out of captions, keeps those of things that can be seen, and pairs them: same subject, other "
            "object, other image. The condition of a triplet is what is said about the target, `on canvas`."
        ),
        "",
        "```",
        "likewise condition mine captions.tsv --concreteness ratings.txt --to mined",
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
            f"{measured['recall']:.3f} ({measured['n_recalled']} of {measured['n_annotated']} that a reader saw). "
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


def _not_yet(n_captions: int) -> str:
    """What a smaller run does not show."""
    if n_captions >= FULL_SIZE:
        return ""
    return (
        f" Mining from {FULL_SIZE:,} captions (`--captions {FULL_SIZE} --triplets 1600000`), which should take under "
        "ten minutes on two cores and under 8 GB, has not been measured."
    )


def _benchmark(found: dict[str, Any]) -> list[str]:
    spent, faster = found["cpu_ms_per_triplet"], found["times_faster"]
    return [
        "## How fast it is",
        "",
        *paragraph(
            f"`python -m benchmarks.mining --captions {found['captions']} --triplets {found['triplets']}`, captions "
            f"generated from the real vocabulary, {found['workers']} processes on two cores that other work shared (so "
            "seconds of the clock say little, seconds of the processor more). Captions are read in parts, the filters "
            "go through one part after another, and what they keep is numbers." + _not_yet(found["captions"])
        ),
        "",
        "| | |",
        "|---|---:|",
        f"| captions | {found['captions']:,} |",
        f"| relations left by the filters | {found['relations_left']:,} |",
        f"| triplets | {found['triplets']:,} |",
        f"| seconds of the clock, all steps | {found['seconds']:,} |",
        *(f"| … {step} | {seconds:,} |" for step, seconds in found["steps"].items()),
        f"| seconds of the processor, all processes | {found['cpu_seconds']:,} |",
        f"| memory of the main process, GB | {found['peak_gb_main']} |",
        f"| memory of the largest worker, GB | {found['peak_gb_largest_worker']} |",
        "",
        *paragraph(
            "Against a loop over samples in plain Python, by seconds of the processor for one triplet. One loop picks a"
            " relation and lists every target that fits; the kinder one picks two relations of a subject and begins "
            "again where they do not fit, as the published miner does. The whole run is parsing, filters, drawing and "
            "writing, with only the drawing exchanged for the loop: parsing is the same work in both."
        ),
        "",
        "| | ms for a triplet | times slower than drawing in arrays | whole run, times slower |",
        "|---|---:|---:|---:|",
        f"| drawing in arrays | {spent['drawing']:.4f} | | |",
        *(
            f"| loop that {says} | {spent[f'loop that {says}']} | {faster[f'drawing, than {way}']:,} "
            f"| {faster[f'whole run, than {way}']:,} |"
            for says, way in (("lists what fits", "listing"), ("tries again", "trying"))
        ),
        "",
    ]
