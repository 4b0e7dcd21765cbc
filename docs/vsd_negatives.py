"""How many negatives did the VSD paper sample? Read off its own tables: `python docs/vsd_negatives.py`.

The paper draws "Neg" negatives from ranks 100-499 and does not say how many. The area under the precision-recall
curve does: with normally distributed scores of positives and negatives, ROC-AUC and the negatives per positive give
it. Each row of Tables 5 and 6 is solved for that number. The "Anno." columns of Table 5, whose number is known, check
the method.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill, paragraph
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from likewise.evaluation.sampled_negatives import VSD_SAMPLING

HERE = Path(__file__).parent
FILE = HERE / "papers.md"
N_QUERIES = 2000
N_PAIRS = {5: 54_170, 6: 64_046}
N_SIMILAR_5 = 45_920
THRESHOLDS = np.linspace(8.0, -8.0, 4001)


@dataclass(frozen=True)
class Solved:
    """Negatives per positive of one table: as solved from labelled and from sampled columns, row by row."""

    labelled: NDArray[np.float64]
    sampled: NDArray[np.float64]


def average_precision(roc_auc: float, per_positive: float) -> float:
    """Of scores that are normal in both classes, with one variance."""
    apart = np.sqrt(2.0) * norm.ppf(roc_auc)
    recall, false_alarms = norm.sf(THRESHOLDS - apart), norm.sf(THRESHOLDS)
    precision = recall / np.maximum(recall + per_positive * false_alarms, 1e-300)
    return float(np.trapezoid(precision, recall))


def solve(roc_auc: float, pr_auc: float) -> float:
    """The negatives per positive that lead from one area to the other."""
    return float(brentq(lambda ratio: average_precision(roc_auc, ratio) - pr_auc, 1e-4, 50.0))


def published(table: int) -> pl.DataFrame:
    return pl.read_csv(HERE / "published" / f"vsd_table_{table}.csv")


def solve_table(table: int) -> Solved:
    def column(kind: str) -> NDArray[np.float64]:
        areas = published(table).select(f"ROC-AUC micro {kind}", f"PR-AUC micro {kind}") / 100
        return np.array([solve(*row) for row in areas.iter_rows()])

    return Solved(column("annotated"), column("sampled"))


def far_off(table: int, per_positive: float) -> float:
    """The mean distance of the published micro PR-AUC from what that many negatives per positive give, in points."""
    rows = published(table).select("ROC-AUC micro sampled", "PR-AUC micro sampled")
    return float(np.mean([abs(100 * average_precision(roc / 100, per_positive) - pr) for roc, pr in rows.iter_rows()]))


def blocks() -> dict[str, str]:
    """The table, and what follows from it."""
    known = (N_PAIRS[5] - N_SIMILAR_5) / N_SIMILAR_5
    solved = {table: solve_table(table) for table in (5, 6)}
    too_low = float(np.median(solved[5].labelled)) / known
    per_query = VSD_SAMPLING.per_query or 0
    head = ["", "labelled negatives per positive", "sampled negatives per positive", "positives per query"]
    head += ["sampled per query", "published PR-AUC off: 1 per positive", f"off: {per_query} per query"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    found = {}
    for table, one in solved.items():
        labelled, sampled = float(np.median(one.labelled)), float(np.median(one.sampled))
        n_similar = N_SIMILAR_5 if table == 5 else N_PAIRS[table] / (1 + labelled)
        positives = n_similar / N_QUERIES
        found[table] = sampled * positives
        cells = [f"Table {table}", f"{labelled:.2f}", f"{sampled:.2f}", f"{positives:.1f}", f"{found[table]:.1f}"]
        cells += [f"{far_off(table, 1.0):.1f} points", f"{far_off(table, per_query / positives):.1f} points"]
        lines.append("| " + " | ".join(cells) + " |")
    low, high = min(found.values()), max(found.values())
    ratios = [float(np.median(one.sampled)) for one in solved.values()]
    said = f"""Solved from {len(published(5))} rows (medians). The labelled column of Table 5 is known ({known:.2f}):
    the method gives {100 * too_low:.0f} % of it, so the sampled columns may be as much too low ({low / too_low:.1f} to
    {high / too_low:.1f} per query). A number per positive does not explain both tables ({ratios[0]:.2f} and
    {ratios[1]:.2f}); a number per query does ({found[5]:.1f} and {found[6]:.1f}). `--protocol tables` therefore draws
    {per_query} per query. The positives per query of Table 6 are not published and are solved, too."""
    return {"papers-negatives": "\n".join([*lines, "", paragraph(said)])}


def main() -> None:
    fill(FILE, blocks())
    print(f"{FILE} written")


if __name__ == "__main__":
    main()
