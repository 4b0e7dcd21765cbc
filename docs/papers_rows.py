"""The rows of `papers.md`: what a paper prints, and what the runs of `papers_runs.py` give."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

HERE = Path(__file__).parent
MAIN, CONCATENATED, SEPARATED = "MAP@R", "concatenated", "separated"
OTHER_DATA = "other data and other models"
N_GENERATORS = 5
TUNED = ("id", "cat", "idc", "dino")
BEFORE_TUNING = "efficientnet-lite0_size-64"
Row = tuple[str, str, str, str, str]
VsdRow = tuple[str, ...]
"""As a row, with a column for photographs and one for the wardrobe."""


def published(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / "published" / f"{name}.csv")


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}"


def ends(values: Sequence[float], digits: int = 1) -> str:
    """`62.3–75.5`, or `62.3` of one value."""
    return "–".join(f"{value:.{digits}f}" for value in ((min(values), max(values)) if len(values) > 1 else values))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def column(
    rows: Sequence[dict[str, Any]], name: str, group: str | None = None, names: Collection[str] | None = None
) -> list[float]:
    """Numbers of a column in percent, of one group of models, or of some of it."""
    kept = [row for row in rows if group in (None, row.get("group")) and (names is None or row["encoder"] in names)]
    return [100 * row[name] for row in kept if row[name] is not None]


def vsd_rows(found: dict[str, Any]) -> list[VsdRow]:
    """The VSD paper: every table and every number of its text, on photographs and on the wardrobe."""
    shop, drawn, home, wild = (found[f"{name}_tables"] for name in ("products", "wardrobe", "home", "wild"))
    both = shop, drawn
    costs = [one["summary"]["prevalence"] for one in both]
    rows = [
        (
            "3.1, brute force",
            "10 million pairs at 15 s: more than 4.5 years",
            "evaluate",
            *(f"{cost['n_all_pairs']:,} pairs: {cost['hours_brute_force'] / 24:,.0f} days" for cost in costs),
            "formula equal (tests/test_published.py)",
        ),
        (
            "3.2, at random",
            "100 similar ones in 100,000 pairs: about 17 days",
            "discover --random 300",
            *(random_days(cost) for cost in costs),
            "formula equal; " + OTHER_DATA,
        ),
        (
            "3.3, pairs",
            "54,170 of 105 million: 1,946 times fewer",
            "discover --k 6",
            *(pairs_said(cost) for cost in costs),
            "formula equal (tests/test_published.py); " + OTHER_DATA,
        ),
        (
            "3.3, faster",
            "about 1,400 times: images / (models × k) = 1,464",
            "discover --k 6",
            *(faster_said(one["summary"]) for one in both),
            "formula equal (tests/test_published.py)",
        ),
        (
            "3.3.1, p_k",
            "84.8 %",
            "evaluate --unit images",
            *(f"{percent(one['summary']['prevalence']['p_pool'])} %" for one in both),
            "photographs: a narrower question, the same type, colour and gender",
        ),
        (
            "3.3.1, p",
            "2 of 2,000 random pairs, 0.1 %",
            "discover --random 300",
            *(random_said(cost) for cost in costs),
            "formula equal; " + OTHER_DATA,
        ),
        (
            "3.3.1, lower bound of p",
            "0.045 %",
            "evaluate --unit images",
            *(f"{percent(cost['p_lower_bound'], 3)} %" for cost in costs),
            "equal to 0.044 % (tests/test_published.py); " + OTHER_DATA,
        ),
        (
            "3.3.1, were p 8 times as large",
            "still 100 times more similar pairs than at random",
            "evaluate --unit images",
            *(f"{cost['gain_over_random'] / 8:.1f} times" for cost in costs),
            "formula equal; fewer similar pairs there, more pairs drawn from here",
        ),
        (
            "Table 1",
            "2,000 queries, 54,170 and 64,046 pairs",
            "discover",
            size_said(shop, home),
            size_said(drawn, wild),
            "smaller, to run in minutes",
        ),
        (
            "Table 2, mean overlap",
            f"{np.nanmean(published('vsd_table_2').drop('generator').to_numpy().astype(float)):.1f} %",
            "evaluate --protocol tables",
            *(f"{100 * mean_overlap(one['tables']['table_2']):.1f} %" for one in both),
            "formula equal; " + OTHER_DATA,
        ),
        (
            "6.2, duplicates",
            "24.4 of 30 candidates: 18 %",
            "report, pool",
            *(f"{percent(one['summary']['pool']['duplicate_share'], 0)} %" for one in both),
            "the paper's text counts top 5, its pool top 6",
        ),
    ]
    rows += [row for average in ("micro", "macro") for row in left_out_rows(average, both)]
    for name in ("HR@5", "HR@9", "MRR@5", "MRR@9"):
        rows.append(
            (
                f"Table 4, {name}",
                ends(published("vsd_table_4")[name].to_list()),
                "evaluate --protocol tables",
                f"emoji: {ends(column(found['drawings_tables']['tables']['table_4'], name))}",
                ends(column(drawn["tables"]["table_4"], name)),
                "normalised as the numbers require; nobody learned the emoji",
            )
        )
    for number, here in ((5, both), (6, (home, wild))):
        rows += group_rows(number, here, "Generators", "generators", None)
        rows += group_rows(number, here, "New models", "new models", TUNED)
    rows.append(
        (
            "6.5, identification is not discovery",
            "Argus and Argus ID: HR@5 of items 15.2 and 99.9, micro ROC-AUC 62.7 and 62.3",
            "train finetune --task id, evaluate --protocol tables",
            "no ids to learn",
            before_and_after(drawn["tables"], "id"),
            "ids of other items learned in few steps",
        )
    )
    rows.append(
        (
            "Supplement, 8 further models",
            "not printed in the paper",
            "encode, evaluate",
            *(further_said(one) for one in both),
            "one pretrained network that proposed nothing; micro ROC-AUC, annotated",
        )
    )
    truth = drawn["summary"]["truth"]
    rows.append(
        (
            "7, positives that the pool misses",
            "not known",
            "evaluate",
            f"the pool finds {percent(found['products_recall'], 0)} %, by attributes",
            f"the pool finds {percent(truth['recall'], 0)} %",
            "only where the truth is known",
        )
    )
    return rows


def left_out_rows(average: str, both: Sequence[dict[str, Any]]) -> Iterator[VsdRow]:
    """Table 3 for one average: AUC over the ground truths without one generator, and the order of the models."""
    theirs, command = published("vsd_table_3"), "evaluate --protocol tables"
    here = [one["tables"]["table_3"] for one in both]
    areas = [[100 * value for value in known(rows, f"{average} AUC")] for rows in here]
    yield (
        f"Table 3, {average} AUC",
        ends(theirs[f"{average} AUC"].to_list()),
        command,
        *(ends(values) for values in areas),
        OTHER_DATA,
    )
    for name, heading, digits in (("spearman", "SC", 2), ("p_value", "p", 3)):
        values = [known(rows, f"{average} {name}") for rows in here]
        yield (
            f"Table 3, {average} {heading}",
            ends(theirs[f"{average} {name}"].to_list(), digits),
            command,
            *(ends(each, digits) if each else "–" for each in values),
            f"order of {len(values[0])} models here, of 6 there; p: the same t",
        )


def group_rows(
    number: int, both: Sequence[dict[str, Any]], group: str, called: str, names: Collection[str] | None
) -> Iterator[VsdRow]:
    """Tables 5 and 6: every column, as a range over the models of a group."""
    theirs = published(f"vsd_table_{number}")
    sampled = " and ".join(f"{one['summary']['sampled_negatives'] or 0:,}" for one in both)
    for name in [each for each in theirs.columns if each not in ("model", "group")]:
        values = [column(one["tables"]["table_5"], name, group, names) for one in both]
        yield (
            f"Table {number}, {name}, {called}",
            ends(theirs.filter(group=group)[name].to_list()),
            "train finetune, evaluate --protocol tables" if names else "evaluate --protocol tables",
            *(ends(each) if each else "–" for each in values),
            OTHER_DATA + (f"; {sampled} sampled negatives" if "sampled" in name else ""),
        )


def before_and_after(tables: dict[str, Any], task: str) -> str:
    """Identification and discovery of a network before and after it was fine-tuned."""
    pair = [(BEFORE_TUNING,), (task,)]
    hits = " and ".join(ends(column(tables["table_4"], "HR@5", names=names)) for names in pair)
    areas = " and ".join(ends(column(tables["table_5"], "ROC-AUC micro annotated", names=names)) for names in pair)
    return f"before and after: HR@5 of items {hits}, micro ROC-AUC {areas}"


def further_said(one: dict[str, Any]) -> str:
    values = column(one["tables"]["table_5"], "ROC-AUC micro annotated", "New models", (BEFORE_TUNING,))
    return f"{BEFORE_TUNING}: {ends(values)}"


def random_days(cost: dict[str, Any]) -> str:
    n_pairs = 100 / cost["p_estimate"]
    return f"in {n_pairs:,.0f} pairs: {n_pairs * cost['seconds_per_pair'] / 86_400:,.1f} days"


def faster_said(summary: dict[str, Any]) -> str:
    per_query = summary["prevalence"]["n_all_pairs"] / summary["n_queries"]
    return f"{per_query:,.0f} / ({N_GENERATORS} × 6) = {per_query / (N_GENERATORS * 6):.0f}"


def pairs_said(cost: dict[str, Any]) -> str:
    return f"{cost['n_pool_pairs']:,} of {cost['n_all_pairs']:,}: {cost['speed_up']:,.0f} times fewer"


def random_said(cost: dict[str, Any]) -> str:
    return f"{cost['n_random_positive']} of {cost['n_random']}, {percent(cost['p_estimate'], 2)} %"


def size_said(catalog: dict[str, Any], wild: dict[str, Any]) -> str:
    counts = [(one["summary"]["n_queries"], one["summary"]["prevalence"]["n_questions"]) for one in (catalog, wild)]
    return " and ".join(f"{queries} queries, {pairs:,} pairs" for queries, pairs in counts)


def mean_overlap(rows: Sequence[dict[str, Any]]) -> float:
    return float(np.mean([row[name] for row in rows for name in row if name != "generator" and row[name] is not None]))


def known(rows: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows if row[name] is not None]


def reality_rows(found: dict[str, Any]) -> list[Row]:
    """The Reality Check: its tables and figures."""
    lessons, check = found["lessons"], found["check"]
    accuracy = pl.DataFrame(check["accuracy"], infer_schema_length=None)
    theirs = published("reality_check_tables")
    trunks = lessons["trunks"]
    toy = lessons["toy"]
    nothing = next(row for row in lessons["nmi"] if row["encoder"] == "random vectors")
    untrained = [row for row in lessons["nmi"] if row["encoder"].endswith(", untrained")]
    rows = [
        (
            "Table 1, P@1 of trunks",
            "33.9–52.9 (PCA to 512)",
            "train lessons",
            f"{ends(column(trunks, 'P@1 PCA'))}; raw {ends(column(trunks, 'P@1'))}",
            "other trunks, photographs of a shop",
        ),
        (
            "Fig. 1, P@1 and MAP@R",
            "three spaces: P@1 about 100, MAP@R rises",
            "train lessons",
            f"P@1 {ends(column(toy, 'P@1'), 0)}, MAP@R {' / '.join(f'{100 * row[MAIN]:.0f}' for row in toy)}",
            "equal in kind",
        ),
        (
            "Fig. 1, NMI and F1",
            "about equal for all three",
            "train lessons",
            f"NMI {ends(column(toy, 'NMI'), 0)}, F1 {ends(column(toy, 'F1'), 0)}",
            "equal in kind",
        ),
        (
            "2.3, NMI of random vectors",
            "84.9 for 10,000 × 4",
            "train lessons",
            "84.9 by the formula",
            "equal (tests/test_published.py)",
        ),
        (
            "Fig. 2",
            "NMI rises with the number of classes",
            "train lessons",
            " / ".join(
                f"{row['n_classes']:,}: {100 * row['NMI']:.0f}"
                for row in lessons["random"]
                if row["n_classes"] in (10, 100, 1000)
            ),
            "equal in kind",
        ),
        (
            "Table 2, NMI of what knows nothing",
            "13.7–81.2 (untrained networks)",
            "train lessons",
            f"{ends(column(untrained, 'NMI'))} (untrained networks), {100 * nothing['NMI']:.1f} (random vectors)",
            "other networks and data; NMI rises with the number of classes",
        ),
    ]
    rows += [
        (
            "3.1, settings",
            "batch 32, 128 dimensions, RMSprop 1e-6, frozen batch norm, crops",
            "train check --preset paper",
            "the same",
            "equal but for the trunk: BN-Inception is not to be had here (tests/test_published.py)",
        ),
        (
            "3.2, search and protocol",
            "50 iterations, 4 class-disjoint folds, reruns, concatenated and separated",
            "train check --preset paper",
            "the same",
            "equal (tests/training)",
        ),
    ]
    for embedding in (CONCATENATED, SEPARATED):
        for measure in ("P@1", "R_Precision", MAIN):
            here = accuracy.filter(embedding=embedding, measure=measure)
            losses = (100 * here.filter(pl.col("method") != "pretrained")["value"]).to_list()
            before = 100 * float(here.filter(method="pretrained")["value"][0])
            there = theirs.filter(pl.col("embedding") == embedding, pl.col("measure") == measure)
            parts = [
                f"{data} {ends(rows_of.filter(pl.col('method') != 'Pretrained')['value'].to_list())}"
                for (data,), rows_of in there.group_by("data", maintain_order=True)
            ]
            rows.append(
                (
                    f"Tables 3–5, {measure}, {embedding}",
                    "; ".join(parts),
                    "train check",
                    f"{ends(losses)}, trunk {before:.1f}",
                    "products; a head over a frozen trunk; settings cut",
                )
            )
    relative = [row for row in check["accuracy"] if row["embedding"] == CONCATENATED and row["measure"] == MAIN]
    spread = {row["method"]: 100 * row["value"] for row in relative if row["method"] != "pretrained"}
    main = theirs.filter(
        pl.col("method") != "Pretrained", pl.col("embedding") == CONCATENATED, pl.col("measure") == MAIN
    )
    gaps = {}
    for (data,), there in main.group_by("data", maintain_order=True):
        values = there["value"].to_list()
        gaps[data] = max(values) - min(values)
    rows += [
        ("Table 6", "12 losses, 2006–2019", "train check --methods all", f"{len(spread)} losses", "equal"),
        (
            "Fig. 3, spread of MAP@R",
            ", ".join(f"{data} {gap:.1f} points" for data, gap in gaps.items()),
            "train check",
            f"{max(spread.values()) - min(spread.values()):.1f} points",
            OTHER_DATA,
        ),
        (
            "Best hyper-parameters (with its code)",
            "for 12 losses and 3 data sets",
            "train check --compare-with",
            "all within the ranges that are searched",
            "equal (tests/test_published.py)",
        ),
        ("Figs. 4 and 5", "papers versus reality", "train check --claims", "the table below", "from the cited claims"),
        (
            "2.1, what papers change besides the loss",
            "named, not measured",
            "train check --ablate",
            "the table below",
            "an experiment of its own here",
        ),
    ]
    return rows
