"""The paper's Figure 5 for one's own data: how much better every method is than the two oldest ones."""

import polars as pl

BASELINES = ("contrastive", "triplet")
MEASURE = "P@1"


def relative_improvement_table(accuracy: pl.DataFrame) -> pl.DataFrame:
    """Relative improvement in Precision@1 over contrastive and triplet; one row per method, embedding and baseline."""
    rows = []
    values = {
        (row["method"], row["embedding"]): row["value"]
        for row in accuracy.filter(pl.col("measure") == MEASURE).iter_rows(named=True)
    }
    for baseline in BASELINES:
        for (method, embedding), value in values.items():
            base = values.get((baseline, embedding))
            if base and method not in (baseline, "pretrained"):
                rows.append((baseline, method, embedding, value / base - 1))
    schema = {"baseline": pl.String, "method": pl.String, "embedding": pl.String, "improvement": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
