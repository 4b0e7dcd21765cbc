"""Measure the designs on catalogs whose truth is known, and fill in `sampling.md`: `python docs/sampling.py`.

`--only` runs one part, `--quick` makes few campaigns and prints instead of writing the page. Campaigns are kept in the
work folder as they are made; a run that was interrupted goes on where it stopped, `--as-is` makes tables of those that
there are, `--fresh` starts anew.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from marks import fill
from sampling_bench import MEASURES_SHOWN, Bench, drawn_wardrobe, materials_bench
from sampling_cost import cost_table
from sampling_draws import DrawnDesign
from sampling_estimates import (
    CampaignPlan,
    coverage_sentence,
    estimates_table,
    order_table,
    run_campaigns,
)
from sampling_finding import finding_table

PAGE = Path(__file__).parent / "sampling.md"
ESTIMATE_BLOCKS = {"sampling-materials": "materials", "sampling-wardrobe": "wardrobe", "sampling-large": "large"}
ORDER_BLOCKS = {
    "sampling-materials-order": "materials",
    "sampling-wardrobe-order": "wardrobe",
    "sampling-large-order": "large",
}
PLANS: dict[str, tuple[tuple[DrawnDesign, int, int, int], ...]] = {
    "materials": (("sampled", 40, 1000, 1000), ("comparing", 40, 1000, 1000), ("finding", 40, 1000, 1000)),
    "wardrobe": (("sampled", 40, 1023, 1000), ("comparing", 40, 1023, 1000), ("finding", 40, 1023, 1000)),
    "large": (("sampled", 40, 2557, 500),),
}
"""Design, queries, labels, campaigns."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns; prints")
    asked.add_argument("--as-is", action="store_true", help="tables of the campaigns kept, no further ones")
    asked.add_argument("--fresh", action="store_true", help="forget campaigns made before")
    asked.add_argument("--only", help="run one part: materials, wardrobe, large (each also with -order), finding, cost")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    given = asked.parse_args()
    work: Path = given.work
    data = Path(os.environ.get("LIKEWISE_DATA", "../shared/data"))
    kept = work / ("quick" if given.quick else "campaigns")
    kept.mkdir(parents=True, exist_ok=True)
    if given.fresh:
        for file in kept.glob("*.npz"):
            file.unlink()

    def campaigns(name: str, *, orders: bool = False) -> dict[str, str]:
        bench = catalogs[name]()
        done = [
            run_campaigns(
                bench,
                CampaignPlan(design, queries, labels, 0 if given.as_is else 4 if given.quick else n),
                kept,
                orders=orders,
            )
            for design, queries, labels, n in PLANS[name]
        ]
        done = [one for one in done if one.n]
        blocks = ORDER_BLOCKS if orders else ESTIMATE_BLOCKS
        text = order_table(done) if orders else f"{coverage_sentence(done, MEASURES_SHOWN)}\n\n{estimates_table(done)}"
        return {block: text for block, catalog in blocks.items() if catalog == name}

    n_seeds = 2 if given.quick else 10
    catalogs: dict[str, Callable[[], Bench]] = {
        "materials": lambda: materials_bench(work, data),
        "wardrobe": lambda: drawn_wardrobe(work, 600, 3),
        "large": lambda: drawn_wardrobe(work, 6000, 1),
    }
    parts: dict[str, Callable[[], dict[str, str]]] = {
        **{name: partial(campaigns, name) for name in catalogs},
        **{f"{name}-order": partial(campaigns, name, orders=True) for name in catalogs},
        "finding": lambda: {
            "sampling-finding": "\n\n".join(
                [
                    finding_table(materials_bench(work, data), None, (0.02, 0.04, 0.1, 0.2, 0.27, 0.31), 0.02, n_seeds),
                    finding_table(drawn_wardrobe(work, 600, 3), 100, (0.01, 0.02, 0.04, 0.06, 0.08), 0.005, n_seeds),
                ]
            )
        },
        "cost": lambda: {"sampling-cost": cost_table()},
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
