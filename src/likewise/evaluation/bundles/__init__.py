"""Benchmark bundles: what to measure, with its card and sums, in one folder or zip that runs anywhere."""
