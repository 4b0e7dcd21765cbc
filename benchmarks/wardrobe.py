"""How many wardrobe images are drawn and written per second, with one process and with two."""

import tempfile
import time
from pathlib import Path

from likewise.synthetic import build_wardrobe

ITEMS, VIEWS = 600, 3  # as many as the demo draws


def main() -> None:
    print(f"\nwardrobe: {ITEMS * VIEWS} images drawn and written")
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            build_wardrobe(Path(folder), n_items=ITEMS, views_per_item=VIEWS, seed=1, workers=workers)
            seconds = time.perf_counter() - started
        print(f"  {workers} process{'es' if workers > 1 else ''}: {ITEMS * VIEWS / seconds:,.0f} images/s")


if __name__ == "__main__":
    main()
