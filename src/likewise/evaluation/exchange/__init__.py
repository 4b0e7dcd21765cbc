"""Labels, runs and vectors from and to other tools: VSD's JSON, TREC's qrels and runs, CSV, Parquet, npy."""
