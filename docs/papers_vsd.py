"""The VSD paper's rows of `papers.md`: what it prints, and what the runs of `papers_runs.py` give."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from papers_rows import BEFORE_TUNING, OTHER_DATA, VsdRow, column, ends, known, percent, published

N_GENERATORS = 5
TUNED = ("id", "cat", "idc", "dino")
TASKS = {"CAT": "cat", "ID": "id", "ID+C": "idc", "FT": "dino"}
"""The paper's names of what a backbone was fine-tuned on, and those of the runs."""
MICRO = "ROC-AUC micro annotated"
EQUAL = "formula equal (tests/test_published.py)"
TABLES = "evaluate --protocol tables"
Found = dict[str, Any]


def vsd_rows(found: Found) -> list[VsdRow]:
    """Every table and every number of the text, on photographs and on the wardrobe."""
    shop, drawn, home, wild = (found[f"{name}_tables"] for name in ("products", "wardrobe", "home", "wild"))
    both = shop, drawn
    rows = [*cost_rows(both), *size_rows(found, both), *overlap_rows(both)]
    rows += [row for average in ("micro", "macro") for row in left_out_rows(average, both)]
    rows += identity_rows(found)
    for number, here in ((5, both), (6, (home, wild))):
        rows += group_rows(number, here, "Generators", "generators", None)
        rows += group_rows(number, here, "New models", "new models", TUNED)
        rows.append(tuning_row(number, here))
    return [*rows, recognition_row(found), *open_rows(found, both)]


def cost_rows(both: Sequence[Found]) -> Iterator[VsdRow]:
    """Sections 3.1 to 3.3.1: what labelling costs, and how rare similar pairs are."""
    costs = [one["summary"]["prevalence"] for one in both]
    yield (
        "3.1, brute force",
        "10 million pairs at 15 s: more than 4.5 years",
        "evaluate",
        *(f"{cost['n_all_pairs']:,} pairs: {cost['hours_brute_force'] / 24:,.0f} days" for cost in costs),
        EQUAL,
    )
    yield (
        "3.2, at random",
        "100 similar ones in 100,000 pairs: about 17 days",
        "discover --random 300",
        *map(random_days, costs),
        "formula equal; " + OTHER_DATA,
    )
    compared = f"{EQUAL}; {OTHER_DATA}"
    yield (
        "3.3, pairs",
        "54,170 pairs; of 105 million, 1,946 times fewer",
        "discover --k 6",
        *map(pairs_said, costs),
        compared,
    )
    yield (
        "3.3, faster",
        "about 1,400 times: images / (models × k) = 1,464",
        "discover --k 6",
        *(faster_said(one["summary"]) for one in both),
        EQUAL,
    )
    yield (
        "3.3.1, p_k",
        "84.8 %",
        "evaluate --unit images",
        *(f"{percent(cost['p_pool'])} %" for cost in costs),
        "photographs: a narrower question, the same type, colour and gender",
    )
    yield (
        "3.3.1, p",
        "2 of 2,000 random pairs, 0.1 %",
        "discover --random 300",
        *map(random_said, costs),
        "formula equal; " + OTHER_DATA,
    )
    yield (
        "3.3.1, lower bound of p",
        "0.045 %",
        "evaluate --unit images",
        *(f"{percent(cost['p_lower_bound'], 3)} %" for cost in costs),
        "equal to 0.044 % (tests/test_published.py); " + OTHER_DATA,
    )
    yield (
        "3.3.1, error of p at q = 95 % (Chebyshev)",
        "b = 1/(ε q) pairs, no number",
        "evaluate",
        *(f"{cost['n_random']} pairs: {100 * cost['chebyshev_95']:.1f} points" for cost in costs),
        EQUAL,
    )
    yield (
        "3.3.1, were p 8 times as large",
        "still 100 times more similar pairs than at random",
        "evaluate --unit images",
        *(f"{cost['gain_over_random'] / 8:.1f} times" for cost in costs),
        "formula equal; fewer similar pairs there, more pairs drawn from here",
    )


def size_rows(found: Found, both: Sequence[Found]) -> Iterator[VsdRow]:
    yield (
        "Table 1",
        "2,000 queries, 54,170 and 64,046 pairs",
        "discover",
        size_said(both[0], found["home_tables"]),
        size_said(both[1], found["wild_tables"]),
        "smaller, to run in minutes; with the random pairs of 3.3.1, which its table leaves out",
    )


def overlap_rows(both: Sequence[Found]) -> Iterator[VsdRow]:
    """Table 2 and section 6.2."""
    theirs = published("vsd_table_2").drop("generator").to_numpy().astype(float)
    here = [np.array(overlaps(one["tables"]["table_2"])) for one in both]
    yield (
        "Table 2, mean overlap",
        f"{np.nanmean(theirs):.1f} %",
        TABLES,
        *(f"{100 * each.mean():.1f} %" for each in here),
        "formula equal; " + OTHER_DATA,
    )
    yield (
        "Table 2, two generators",
        f"{np.nanmin(theirs):.1f}–{np.nanmax(theirs):.1f} %",
        TABLES,
        *(f"{ends((100 * each).tolist())} %" for each in here),
        "formula equal; " + OTHER_DATA,
    )
    yield (
        "6.2, duplicates",
        "24.4 of 30 candidates: 18 %",
        "report, pool",
        *(f"{percent(one['summary']['pool']['duplicate_share'], 0)} %" for one in both),
        "the paper's text counts top 5, its pool top 6",
    )


def left_out_rows(average: str, both: Sequence[Found]) -> Iterator[VsdRow]:
    """Table 3 for one average: AUC over the ground truths without one generator, and the order of the models."""
    theirs = published("vsd_table_3")
    here = [one["tables"]["table_3"] for one in both]
    for name, heading in (("AUC", "AUC"), ("sd", "AUC ±")):
        values = [[100 * value for value in known(rows, f"{average} {name}")] for rows in here]
        printed = ends(theirs[f"{average} {name}"].to_list())
        yield (f"Table 3, {average} {heading}", printed, TABLES, *map(ends, values), OTHER_DATA)
    for name, heading, digits in (("spearman", "SC", 2), ("p_value", "p", 3)):
        values = [known(rows, f"{average} {name}") for rows in here]
        yield (
            f"Table 3, {average} {heading}",
            ends(theirs[f"{average} {name}"].to_list(), digits),
            TABLES,
            *(ends(each, digits) if each else "–" for each in values),
            f"order of {len(values[0])} models here, of 6 there; p: the same t",
        )


def identity_rows(found: Found) -> Iterator[VsdRow]:
    """Table 4: every picture of the query's item is to be found."""
    for name in ("HR@5", "HR@9", "MRR@5", "MRR@9"):
        yield (
            f"Table 4, {name}",
            ends(published("vsd_table_4")[name].to_list()),
            TABLES,
            f"emoji: {ends(column(found['drawings_tables']['tables']['table_4'], name))}",
            ends(column(found["wardrobe_tables"]["tables"]["table_4"], name)),
            "normalised as the numbers require; the best learned the gallery's ids, as there",
        )


def group_rows(
    number: int, both: Sequence[Found], group: str, called: str, names: Collection[str] | None
) -> Iterator[VsdRow]:
    """Tables 5 and 6: every column, as a range over the models of a group."""
    theirs = published(f"vsd_table_{number}")
    sampled = " and ".join(f"{one['summary']['sampled_negatives'] or 0:,}" for one in both)
    for name in [each for each in theirs.columns if each not in ("model", "group")]:
        values = [column(one["tables"]["table_5"], name, group, names) for one in both]
        yield (
            f"Table {number}, {name}, {called}",
            ends(theirs.filter(group=group)[name].to_list()),
            f"train finetune, {TABLES}" if names else TABLES,
            *(ends(each) if each else "–" for each in values),
            OTHER_DATA + (f"; {sampled} sampled negatives" if "sampled" in name else ""),
        )


def tuning_row(number: int, both: Sequence[Found]) -> VsdRow:
    """Section 6.4 (RQ2): what fine-tuning changes in the micro ROC-AUC of a backbone."""
    theirs = dict(published(f"vsd_table_{number}").select("model", MICRO).iter_rows())
    printed = []
    for task in TASKS:
        bases = [name.removesuffix(f" {task}") for name in theirs if name.endswith(f" {task}")]
        changes = [theirs[f"{base} {task}"] - theirs[base] for base in bases]
        printed.append(f"{task} {ends_signed(changes)}")
    here = []
    for one in both:
        areas = {row["encoder"]: 100 * row[MICRO] for row in one["tables"]["table_5"]}
        made = {task: areas[run] - areas[BEFORE_TUNING] for task, run in TASKS.items() if run in areas}
        here.append(", ".join(f"{task} {change:+.1f}" for task, change in made.items()))
    where = "closed catalog" if number == 5 else "in the wild"
    return (
        f"6.4, change by fine-tuning, {where}, points of micro ROC-AUC",
        ", ".join(printed),
        f"train finetune, {TABLES}",
        *here,
        "CAT, ID, ID+C: labels of half of the items; FT: DINO's objective; " + OTHER_DATA,
    )


def ends_signed(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:+.1f}" if low == high else f"{low:+.1f} to {high:+.1f}"


def recognition_row(found: Found) -> VsdRow:
    """Section 6.5 (RQ3)."""
    said = []
    for name in ("drawings", "wardrobe"):
        tables = found[f"{name}_tables"]["tables"]
        pair = (BEFORE_TUNING,), ("own",)
        hits = " and ".join(ends(column(tables["table_4"], "HR@5", names=names)) for names in pair)
        areas = " and ".join(ends(column(tables["table_5"], MICRO, names=names)) for names in pair)
        said.append(f"{'emoji: ' if name == 'drawings' else ''}HR@5 of items {hits}, micro ROC-AUC {areas}")
    return (
        "6.5, identification is not discovery: before and after learning the gallery's ids",
        "Argus: HR@5 of items 15.2 and 99.9, micro ROC-AUC 62.7 and 62.3",
        f"train finetune --task id, {TABLES}",
        *said,
        "equal in kind; the table below",
    )


def open_rows(found: Found, both: Sequence[Found]) -> Iterator[VsdRow]:
    """What the paper leaves to its supplement and to others."""
    yield (
        "Supplement, 8 further models",
        "not printed in the paper",
        "encode, evaluate",
        *map(further_said, both),
        "one pretrained network that proposed nothing; micro ROC-AUC, annotated",
    )
    yield (
        "7, positives that the pool misses",
        "not known",
        "evaluate",
        f"the pool finds {percent(found['products_recall'], 0)} %, by attributes",
        f"the pool finds {percent(both[1]['summary']['truth']['recall'], 0)} %",
        "only where the truth is known",
    )
    sizes = [found[f"{name}_sizes"] for name in ("products", "wardrobe")]
    for title, key, called in (("k", "k", "k"), ("number of models", "generators", "models")):
        yield (
            f"Open: the best {title}",
            "6",
            "discover --k" if key == "k" else "discover --with",
            *(sizes_said(each[key], called) for each in sizes),
            "share of the similar pairs and of the labelling of the largest",
        )
    yield (
        "Open: other experts",
        "not known",
        "evaluate --protocol experts",
        "one answer a pair, by attributes",
        experts_said(both[1]["summary"]["expert_groups"]),
        "gallery ROC-AUC by groups of so many; five simulated experts, and one who answered the rank bands alone",
    )
    yield (
        "Open: other domains",
        "texts and sounds are named",
        "new, encode --import",
        "sounds and texts: tests/cli/test_any_files.py",
        "–",
        "catalogs of any files",
    )


def further_said(one: Found) -> str:
    values = column(one["tables"]["table_5"], MICRO, "New models", (BEFORE_TUNING,))
    return f"{BEFORE_TUNING}: {ends(values)}"


def sizes_said(rows: Sequence[Sequence[float]], called: str) -> str:
    """`k = 1: 30 % of 25 %`: the smallest, the middle one and the last but one."""
    few = [rows[place] for place in sorted({0, (len(rows) - 1) // 2, len(rows) - 2})]
    return ", ".join(f"{called} = {n:.0f}: {100 * share:.0f} % by {100 * cost:.0f} %" for n, share, cost in few)


def experts_said(groups: Found) -> str:
    rows = groups["by_number"]
    few = [rows[place] for place in sorted({0, len(rows) // 2})]
    return "; ".join(
        f"{row['n_experts']} of {len(rows)}: {100 * row['mean_distance']:.1f} points away, the winner stays in "
        f"{100 * row['winner_share']:.0f} %"
        for row in few
    )


def random_days(cost: Found) -> str:
    n_pairs = 100 / cost["p_estimate"]
    return f"in {n_pairs:,.0f} pairs: {n_pairs * cost['seconds_per_pair'] / 86_400:,.1f} days"


def faster_said(summary: Found) -> str:
    per_query = summary["prevalence"]["n_all_pairs"] / summary["n_queries"]
    return f"{per_query:,.0f} / ({N_GENERATORS} × 6) = {per_query / (N_GENERATORS * 6):.0f}"


def pairs_said(cost: Found) -> str:
    return f"{cost['n_pool_pairs']:,} of {cost['n_all_pairs']:,}: {cost['speed_up']:,.0f} times fewer"


def random_said(cost: Found) -> str:
    return f"{cost['n_random_positive']} of {cost['n_random']}, {percent(cost['p_estimate'], 2)} %"


def size_said(catalog: Found, wild: Found) -> str:
    counts = [(one["summary"]["n_queries"], one["summary"]["prevalence"]["n_questions"]) for one in (catalog, wild)]
    return " and ".join(f"{queries} queries, {pairs:,} pairs" for queries, pairs in counts)


def overlaps(rows: Sequence[Found]) -> list[float]:
    return [row[name] for row in rows for name in row if name != "generator" and row[name] is not None]
