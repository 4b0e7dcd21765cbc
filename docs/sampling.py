"""Measure the designs on catalogs whose truth is known, and fill in `sampling.md`: `python docs/sampling.py`.

`--quick` makes few campaigns on a small catalog, and prints instead of writing the page. `--only` runs one part.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from marks import fill
from sampling_estimates import estimates

PAGE = Path(__file__).parent / "sampling.md"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns, small catalog; prints")
    asked.add_argument("--only", choices=("estimates", "large"), help="run one part")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--campaigns", type=int, help="how many; 500 by default, 8 with --quick")
    given = asked.parse_args()
    campaigns = given.campaigns or (8 if given.quick else 500)
    parts: dict[str, Callable[[], dict[str, str]]] = {
        "estimates": lambda: estimates(given.work, 120 if given.quick else 600, campaigns),
        "large": lambda: estimates(given.work, 240 if given.quick else 6000, max(4, campaigns // 5), views=1),
    }
    for name, part in parts.items():
        if given.only in (None, name):
            blocks = part()
            if given.quick:
                print("\n\n".join(blocks.values()))
            else:
                fill(PAGE, blocks)


if __name__ == "__main__":
    main()
