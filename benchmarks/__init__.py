"""Side-by-side timings against peers: `python -m benchmarks` prints ratios of medians, ours beside theirs."""
