"""Numbers of finished workspaces as Markdown tables and plots."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from marks import paragraph
from real_roads import wins

RANDOM = "random"
MAIN = pl.col("measure") == "ROC_AUC"
RANKED = ("AP", "P@5", "VSD_MRR@5")
IDENTIFIED = ("Recall_cap@5", "VSD_MRR@5", "Success@5", "Success@9")


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [" | ".join(header), " | ".join(["---", *["--:"] * (len(header) - 1)])]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def ranged(row: dict[str, Any]) -> str:
    return f"{percent(row['value'])} ({percent(row['low'])}–{percent(row['high'])})"


def results(workspace: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(workspace / "results" / f"{name}.parquet")


def summary(workspace: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace / "results" / "summary.json").read_text())
    return found


def pool_size(workspace: Path) -> str:
    """How many pairs the pool has, of how many, and what share of the similar ones it contains."""
    cost, recall = (summary(workspace)[name] for name in ("prevalence", "pool_recall"))
    pool = (
        f"{cost['n_pool_pairs']:,} query–item pairs were proposed out of {cost['n_all_pairs']:,} "
        f"({percent(cost['pool_share'])} %; with random pairs, {cost['speed_up']:,.0f} times fewer to look at). "
        f"{cost['n_positive']:,} of the "
        f"{cost['n_labelled']:,} that have an answer are similar: p_k = {percent(cost['p_pool'])} %"
    )
    if not cost["n_random"]:
        return paragraph(
            f"{pool}. Fewer than 90 % of the random pairs have an answer, too few to estimate what the pool missed."
        )
    return paragraph(
        f"{pool}, against {cost['n_random_positive']} of {cost['n_random']} random pairs "
        f"({percent(cost['n_random_positive'] / cost['n_random'])} %). Estimated from these random pairs, the pool "
        f"contains "
        f"{percent(recall['recall'])} % ({percent(recall['recall_low'])}–{percent(recall['recall_high'])}) of all "
        "similar pairs."
    )


def leaderboard(workspace: Path) -> str:
    """Every encoder, best ROC_AUC first, with the share of positives among its own candidates."""
    table = results(workspace, "discovery")
    own = dict(results(workspace, "generators").select("generator", "positive_share").iter_rows())
    rows = []
    for row in table.filter(MAIN).sort("value", descending=True).iter_rows(named=True):
        mine = table.filter(pl.col("encoder") == row["encoder"])
        numbers = [ranged(mine.filter(pl.col("measure") == measure).row(0, named=True)) for measure in RANKED]
        rows.append([row["encoder"], ranged(row), row["n_queries"], *numbers, percent(own.get(row["encoder"]))])
    return markdown(["encoder", "ROC_AUC", "n queries", *RANKED, "own p_k"], rows)


def without_one(workspace: Path) -> str:
    """How far the order of the encoders depends on who proposed the pairs."""
    orders = results(workspace, "leave_one_out_orders").filter(MAIN)
    found = orders["spearman"].to_list()
    return paragraph(
        f"Leaving one generator out of the pool, in turn, keeps the order of the {orders['n_models'][0]} encoders at "
        f"a Spearman correlation of {min(found):.2f} to {max(found):.2f} (ROC_AUC, {len(orders)} pools)."
    )


def identification(workspace: Path) -> str:
    """The other drawings of the query's own thing among the nearest images."""
    table = results(workspace, "identification")
    measures = [measure for measure in IDENTIFIED if measure in table["measure"].to_list()]
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    encoders = sorted(set(table["encoder"]), key=lambda name: -cells[name, measures[0]]["value"])
    rows = [
        [name, *(ranged(cells[name, measure]) for measure in measures), cells[name, measures[0]]["n_queries"]]
        for name in encoders
    ]
    return markdown(["encoder", *measures, "n queries"], rows)


def agreement(workspace: Path) -> str:
    """How often each encoder picks the same of two materials as people do."""
    table = results(workspace, "triplets")
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    encoders = sorted(set(table["encoder"]), key=lambda name: -cells[name, "majority"]["value"])
    rows = [
        [
            name,
            *(ranged(cells[name, measure]) for measure in ("majority", "votes")),
            cells[name, "majority"]["n_triplets"],
        ]
        for name in encoders
    ]
    return markdown(["encoder", "with the majority", "with all answers", "n triplets (majority)"], rows)


def most_agreement(data: Path) -> float:
    """The share of all answers that agree with the majority of their question."""
    votes = pl.read_csv(data / "triplets.csv").select("votes_chosen", "votes_other").to_numpy()
    return float(votes.max(axis=1).sum() / votes.sum())


def found_exactly(workspace: Path, data: Path) -> pl.DataFrame:
    """Of all pairs that people call similar, the share that the pool holds, for every k up to the pool's."""
    pool = pl.read_parquet(workspace / "pool.parquet").filter(pl.col("generator") != RANDOM)
    item = pl.read_parquet(workspace / "catalog.parquet").select("image", "item")
    pool = pool.join(item.rename({"image": "query", "item": "reference"}), on="query")
    pool = pool.join(item.rename({"image": "candidate"}), on="candidate")
    queries = pool["reference"].unique().to_list()
    truth = wins(data / "triplets.csv").filter(pl.col("reference").is_in(queries))
    n_all = len(queries) * (item["item"].n_unique() - 1)
    rows = []
    for k in range(1, int(str(pool["rank"].max())) + 2):
        pairs = pool.filter(pl.col("rank") < k).select("reference", "item").unique()
        found = truth.join(pairs, on=["reference", "item"], how="semi")
        row: dict[str, float] = {"k": k, "pairs": len(pairs), "cost": len(pairs) / n_all}
        for rate in (0.5, 0.7, 0.9):
            similar = truth.filter(pl.col("rate") > rate)
            row[f"of {rate}"] = len(similar)
            row[f"found {rate}"] = len(found.filter(pl.col("rate") > rate)) / len(similar)
        rows.append(row)
    return pl.DataFrame(rows)


def found_table(found: pl.DataFrame) -> str:
    rates = (0.5, 0.7, 0.9)
    first = found.row(0, named=True)
    header = ["k", "pairs", "of all pairs", *(f"won over {100 * r:.0f} % (n={first[f'of {r}']:,.0f})" for r in rates)]
    rows = [
        [
            row["k"],
            f"{row['pairs']:,}",
            f"{percent(row['cost'])} %",
            *(f"{percent(row[f'found {r}'])} %" for r in rates),
        ]
        for row in found.iter_rows(named=True)
    ]
    return markdown(header, rows)


def plot_found(found: pl.DataFrame, file: Path) -> None:
    """Share found against share looked at, one line for each notion of similar."""
    axes, save = _figure(file, (5.2, 3.6))
    for rate, colour in ((0.9, "#0072b2"), (0.7, "#009e73"), (0.5, "#d55e00")):
        axes.plot(found["cost"], found[f"found {rate}"], marker="o", markersize=3, color=colour,
                  label=f"won more than {100 * rate:.0f} % of its answers")  # fmt: skip
    most = float(str(found["cost"].max()))
    axes.plot([0, most], [0, most], color="#6a737d", linestyle=":", label="pairs drawn at random")
    axes.set_xlabel("share of all pairs that were looked at")
    axes.set_ylabel("share of the similar pairs found")
    axes.legend(frameon=False, fontsize=8)
    save()


def plot_boards(workspaces: dict[str, Path], file: Path) -> None:
    """ROC_AUC of every encoder with its interval, one panel per data set."""
    axes, save = _figure(file, (8.4, 3.2), len(workspaces))
    for panel, (title, workspace) in zip(axes, workspaces.items(), strict=True):
        rows = results(workspace, "discovery").filter(MAIN).sort("value")
        for place, row in enumerate(rows.iter_rows(named=True)):
            panel.plot([row["low"], row["high"]], [place, place], color="#0072b2", linewidth=5, alpha=0.35)
            panel.plot(row["value"], place, marker="o", color="#0072b2", markersize=5)
        panel.set_yticks(range(len(rows)), rows["encoder"].to_list(), fontsize=8)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("ROC_AUC", fontsize=8)
        panel.tick_params(axis="x", labelsize=8)
    save()


def _figure(file: Path, size: tuple[float, float], panels: int = 1) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=130, layout="constrained")
    axes = figure.subplots(1, panels)
    for each in [axes] if panels == 1 else axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color="#dfe3e8", linewidth=0.6)
    return axes, lambda: figure.savefig(file, metadata={"Software": None})
