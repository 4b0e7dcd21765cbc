"""The Reality Check's rows of `papers.md`: what it prints, and what the runs of `papers_runs.py` give."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from papers_rows import CONCATENATED, MAIN, OTHER_DATA, SEPARATED, Row, column, ends, published

from likewise.training.methods import METHODS_BY_NAME
from likewise.training.relative_improvement import BASELINES

MEASURES = ("P@1", "R_Precision", MAIN)
PRETRAINED = "Pretrained"
SHOWN_CLASSES = (10, 100, 1000)
OTHER_LOSSES = "products; a head over a frozen trunk; settings cut"
Found = dict[str, Any]


def reality_rows(found: Found, n_random: int) -> list[Row]:
    """Its sections, with the tables and figures that need no loss; of so many random vectors."""
    return [*flaw_rows(found), *metric_rows(found, n_random), *method_rows()]


def loss_rows(found: Found) -> list[Row]:
    """Its tables and figures of losses."""
    return [*accuracy_rows(found), *claim_rows(found)]


def flaw_rows(found: Found) -> Iterator[Row]:
    """Sections 2.1 and 2.2."""
    trunks = found["lessons"]["trunks"]
    yield (
        "Table 1, P@1 of trunks",
        "33.9–52.9 (PCA to 512)",
        "train lessons",
        f"{ends(column(trunks, 'P@1 PCA'))}; raw {ends(column(trunks, 'P@1'))}",
        "other trunks, photographs of a shop",
    )
    yield (
        "2.1, what papers change besides the loss",
        "named, not measured: architecture, size of the embedding, crops, optimiser, batch norm",
        "train lessons, train check --ablate",
        "Table 1 above, and the table below",
        "an experiment of its own here",
    )
    yield (
        "2.1, a larger embedding",
        "more accurate, no number",
        "train check --ablate embedding-size",
        ablated(found["head_ablation"], "embedding-size", "512"),
        "512 dimensions minus 128, separated; a head over a frozen trunk",
    )
    yield (
        "2.1, crops of changing size and ratio",
        "more variety than simple ones, no number",
        "train check --ablate crops",
        ablated(found["trunk_ablation"], "crops", "simple", backwards=True),
        "resized minus simple; " + OTHER_DATA,
    )
    for setting, printed in (("adam", "seems to generalise worse"), ("sgd", "converges more slowly")):
        yield (
            f"2.1 and 3.1, {setting} instead of RMSprop",
            f"{printed}, no number",
            "train check --ablate optimiser",
            ablated(found["head_ablation"], "optimiser", setting),
            "its rate chosen by validation; a head over a frozen trunk",
        )
    yield (
        "2.1, batch norm frozen on CUB200",
        "2 points, in the code of another paper",
        "train check --ablate batch-norm",
        ablated(found["trunk_ablation"], "batch-norm", "trained", backwards=True),
        "frozen minus trained, " + OTHER_DATA,
    )
    yield (
        "2.1, intervals",
        "asked for",
        "every command that measures",
        "95 %, over reruns and classes",
        "equal (tests/training/test_rerun_test.py)",
    )
    yield (
        "2.2, feedback from the test set",
        "in most papers",
        "train check",
        "a test row that is read before the searches have ended is an error",
        "ruled out (tests/training/test_guard.py)",
    )


def ablated(run: Found, factor: str, setting: str, *, backwards: bool = False) -> str:
    """How far a setting is from the plan, of separated MAP@R; or the plan from it."""
    wanted = (factor, setting, MAIN, SEPARATED)
    rows = run["ablation"]
    [row] = [row for row in rows if (row["factor"], row["setting"], row["measure"], row["embedding"]) == wanted]
    sign = -1 if backwards else 1
    low, high = sorted(100 * sign * row[name] for name in ("difference_low", "difference_high"))
    return f"{100 * sign * row['difference']:+.1f} points of MAP@R ({low:+.1f} to {high:+.1f})"


def metric_rows(found: Found, n_random: int) -> Iterator[Row]:
    """Sections 2.3 and 3.3: what metrics see."""
    lessons, kind = found["lessons"], "equal in kind"
    toy, nmi = lessons["toy"], lessons["nmi"]
    steps = {name: " / ".join(f"{100 * row[name]:.0f}" for row in toy) for name in ("P@1", "R_Precision", MAIN)}
    yield (
        "Fig. 1, P@1 and MAP@R",
        "three spaces: P@1 about 100, MAP@R rises",
        "train lessons",
        f"P@1 {steps['P@1']}, R_Precision {steps['R_Precision']}, MAP@R {steps[MAIN]}",
        kind,
    )
    yield (
        "Fig. 1, NMI and F1",
        "about equal for all three",
        "train lessons",
        f"NMI {ends(column(toy, 'NMI'), 0)}, F1 {ends(column(toy, 'F1'), 0)}",
        kind,
    )
    yield (
        "2.3, NMI of random vectors",
        "84.9 for 10,000 × 4",
        "train lessons",
        "84.9 by the formula",
        "equal (tests/test_published.py)",
    )
    random = [row for row in lessons["random"] if row["n_classes"] in SHOWN_CLASSES]
    for name, printed in (
        ("NMI", "rises with the number of classes"),
        (MAIN, "falls"),
        ("P@1", "falls"),
        ("F1", "falls"),
    ):
        values = ", ".join(f"{row['n_classes']:,}: {100 * row[name]:.1f}" for row in random)
        where = f"{kind}; {n_random:,} random vectors, there 10,000 (docs/metric_lessons.md has as many)"
        yield (f"Fig. 2, {name} of random vectors", printed, "train lessons", values, where)
    nothing = next(row for row in nmi if row["encoder"] == "random vectors")
    untrained = [row for row in nmi if row["encoder"].endswith(", untrained")]
    yield (
        "Table 2, NMI of what knows nothing",
        "13.7–81.2 (untrained networks)",
        "train lessons",
        f"{ends(column(untrained, 'NMI'))} (untrained networks), {100 * nothing['NMI']:.1f} (random vectors)",
        "other networks and data; NMI rises with the number of classes",
    )
    yield (
        "3.3, R-Precision and MAP@R",
        "defined",
        "evaluate --classes",
        "the same",
        "equal (tests/evaluation)",
    )


def method_rows() -> Iterator[Row]:
    """Sections 3.1 and 3.2, Table 6."""
    yield (
        "3.1, settings",
        "batch 32, 128 dimensions, RMSprop 1e-6, frozen batch norm, crops",
        "train check --preset paper",
        "the same",
        "equal but for the trunk: no package has the weights of BN-Inception (tests/test_published.py)",
    )
    yield (
        "3.2, search and protocol",
        "50 iterations, 4 class-disjoint folds, reruns, concatenated and separated",
        "train check --preset paper",
        "the same",
        "equal (tests/training)",
    )
    yield (
        "Table 6",
        "12 losses, 2006–2019",
        "train check --methods all",
        "12 losses",
        "equal (tests/test_published.py)",
    )
    yield (
        "Best hyper-parameters (with its code)",
        "for 12 losses and 3 data sets",
        "train check --compare-with",
        "all within the ranges that are searched",
        "equal (tests/test_published.py)",
    )


def accuracy_rows(found: Found) -> Iterator[Row]:
    """Tables 3 to 5 and Figure 3."""
    accuracy = pl.DataFrame(found["check"]["accuracy"], infer_schema_length=None)
    theirs = published("reality_check_tables")
    for embedding in (CONCATENATED, SEPARATED):
        for measure in MEASURES:
            here = accuracy.filter(embedding=embedding, measure=measure)
            there = theirs.filter(embedding=embedding, measure=measure)
            losses = (100 * here.filter(pl.col("method") != "pretrained")["value"]).to_list()
            yield (
                f"Tables 3–5, {measure}, {embedding}",
                "; ".join(f"{data} {ends(rows)}" for data, rows in of_losses(there).items()),
                "train check",
                ends(losses),
                OTHER_LOSSES,
            )
            before = [f"{data} {value:.2f}" for data, value in of_method(there, PRETRAINED).items()]
            trunk = 100 * float(here.filter(method="pretrained")["value"][0])
            yield (
                f"Tables 3–5, {measure}, {embedding}, pretrained",
                "; ".join(before),
                "train check",
                f"{trunk:.1f}",
                "reduced by PCA, as there; efficientnet-lite0",
            )
    for embedding in (CONCATENATED, SEPARATED):
        for measure in MEASURES:
            margins = theirs.filter(measure=measure, embedding=embedding)["margin"].drop_nulls().to_list()
            own = accuracy.filter(measure=measure, embedding=embedding).drop_nulls("low")
            yield (
                f"Tables 3–5, ± of {measure}, {embedding}",
                ends(margins, 2),
                "train check",
                ends((50 * (own["high"] - own["low"])).to_list(), 2),
                f"95 % t-interval, as there; {int(accuracy['n_reruns'].max())} reruns here",  # type: ignore[arg-type]
            )
    for embedding in (CONCATENATED, SEPARATED):
        by_losses = of_losses(theirs.filter(embedding=embedding, measure=MAIN))
        rows = accuracy.filter(pl.col("method") != "pretrained", embedding=embedding, measure=MAIN)["value"]
        yield (
            f"Fig. 3, spread of MAP@R, {embedding}",
            ", ".join(f"{data} {max(values) - min(values):.1f} points" for data, values in by_losses.items()),
            "train check",
            f"{100 * (rows.max() - rows.min()):.1f} points",  # type: ignore[operator]
            OTHER_DATA,
        )


def claim_rows(found: Found) -> Iterator[Row]:
    """Section 4.2, Figures 4 and 5."""
    theirs = published("reality_check_tables").filter(measure="P@1")
    here = pl.DataFrame(found["check"]["accuracy"], infer_schema_length=None).filter(measure="P@1")
    here = here.with_columns(100 * pl.col("value"))
    titles = {each["title"]: name for name, each in found["check"]["methods"].items()}
    yield (
        "Fig. 4a, accuracy by year in papers",
        "rises",
        "train check --claims",
        "the table below: papers of 2016 to 2019 print 26 to 55 for the contrastive loss on cub200",
        "claims of the two oldest losses are known, those of new methods are not",
    )
    for embedding in (CONCATENATED, SEPARATED):
        there = theirs.filter(embedding=embedding)
        printed = [f"{data} {rise(values, titles):+.1f}" for data, values in by_data(there).items()]
        own = {title: here.filter(method=name, embedding=embedding)["value"] for title, name in titles.items()}
        values = {title: float(value[0]) for title, value in own.items() if len(value)}
        yield (
            f"Fig. 4b, P@1 by year, {embedding}: from 2006 to 2019, points by a line",
            ", ".join(printed),
            "train check",
            f"{rise(values, titles):+.1f}",
            "about flat there and here",
        )
        for loss in BASELINES:
            title = METHODS_BY_NAME[loss].title
            gains = ", ".join(f"{data} {improvement(rows, title):+.1f} %" for data, rows in by_data(there).items())
            claimed = "above 100 %" if loss == "contrastive" else "above 50 %"
            yield (
                f"Fig. 5, mean of the losses over {loss}, {embedding}",
                f"many papers {claimed}; its own runs {gains}",
                "train check",
                f"{improvement(values, title):+.1f} %",
                OTHER_LOSSES,
            )
    best = found["check"]["methods"].get("triplet", {}).get("best")
    yield (
        "4.2, the margin of the triplet loss",
        "about 0.1 is best; papers took 1",
        "train check",
        f"{best['params']['margin']:.2f}" if best else "–",
        "the best of few trials, by validation",
    )


def by_data(rows: pl.DataFrame) -> dict[str, dict[str, float]]:
    """P@1 of every loss, by data set."""
    losses = rows.filter(pl.col("method") != PRETRAINED)
    return {
        str(data): dict(there.select("method", "value").iter_rows())
        for (data,), there in losses.group_by("data", maintain_order=True)
    }


def of_losses(rows: pl.DataFrame) -> dict[str, list[float]]:
    return {data: list(values.values()) for data, values in by_data(rows).items()}


def of_method(rows: pl.DataFrame, method: str) -> dict[str, float]:
    return dict(rows.filter(method=method).select("data", "value").iter_rows())


def rise(values: Mapping[str, float], titles: Mapping[str, str]) -> float:
    """Thirteen years along the line of least squares through losses by their year."""
    years = [METHODS_BY_NAME[titles[title]].year for title in values]
    slope = np.polyfit(np.array(years, np.float64), np.array(list(values.values())), 1)[0]
    return float(13 * slope)


def improvement(values: Mapping[str, float], baseline: str) -> float:
    """The mean over the other losses, in percent of the baseline."""
    return float(
        np.mean([100 * (value / values[baseline] - 1) for title, value in values.items() if title != baseline])
    )
