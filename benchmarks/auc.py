"""Macro ROC-AUC of 2,000 queries and 54,000 labelled pairs against a loop over scikit-learn."""

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.timing import medians, print_beside
from likewise.evaluation.auc import roc_auc, sort_pairs

QUERIES, PAIRS, ROUNDS = 2000, 54_000, 5


def main() -> None:
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(QUERIES), PAIRS // QUERIES)
    score = rng.random(PAIRS).round(3)  # rounded, so that ties occur
    label = (rng.random(PAIRS) < 0.85).astype(np.int8)
    rows = np.split(np.arange(PAIRS), QUERIES)

    def loop() -> float:
        values = [roc_auc_score(label[row], score[row]) for row in rows if 0 < label[row].sum() < len(row)]
        return float(np.mean(values))

    def ours() -> float:
        return float(np.nanmean(roc_auc(sort_pairs(query, score, label, QUERIES))))

    seconds = medians({"scikit-learn, one query at a time": loop, "likewise, all at once": ours}, ROUNDS)
    print_beside(
        f"macro ROC-AUC: {QUERIES:,} queries, {PAIRS:,} pairs (medians of {ROUNDS})", seconds, next(iter(seconds))
    )
    slow, fast = seconds.values()
    print(f"  {slow / fast:.0f} times faster, difference {abs(loop() - ours()):.1e}")


if __name__ == "__main__":
    main()
