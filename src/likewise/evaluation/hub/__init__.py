"""A benchmark as a data-set hub takes it: README, Parquet, pictures, Croissant; results as MTEB's JSON."""
