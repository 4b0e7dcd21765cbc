"""Run every benchmark, or those named: `python -m benchmarks search auc`."""

import sys
from importlib import import_module

ALL = (
    "auc",
    "search",
    "evaluate",
    "peers",
    "retrieval",
    "wardrobe",
    "encode",
    "label_load",
    "index",
    "ray",
    "training",
    "perceptual",
    "outfits",
)

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        import_module(f"benchmarks.{name}").main()
