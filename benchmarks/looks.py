"""How long a suggestion, a rating and completed looks take in a catalog of 50,000 items: python -m benchmarks.looks

The items of a slot are scored in full: nothing is left to an index. Networks have fresh weights; embedding the catalog
once, when the model is opened, is timed apart.
"""

import time
from collections.abc import Callable

import numpy as np
import polars as pl

from likewise.outfits.looks.scorer import make_scorer
from likewise.outfits.looks.stylist import LookFilter, LookStylist
from likewise.outfits.looks.wardrobe import Wardrobe
from likewise.outfits.models import InMemoryFeatures
from likewise.outfits.models.card import OutfitModelCard
from likewise.outfits.models.mean_cosine import MeanCosineModel
from likewise.outfits.models.trained_model import TrainedOutfitModel, make_outfit_net
from likewise.outfits.protocol import OutfitModel
from likewise.outfits.training.presets import USUAL
from likewise.outfits.vectors import VectorLookup

N_ITEMS, DIM, ROUNDS = 50_000, 256, 5
SLOTS = ("tops", "pants", "skirts", "dresses", "outwear", "shoes", "bags", "earrings", "hats", "neckwear")

WANTED = ("shoes", "bags", "pants")


def main() -> None:
    rng = np.random.default_rng(0)
    kinds = np.array(SLOTS)[rng.integers(len(SLOTS), size=N_ITEMS)]
    catalog = pl.DataFrame({"image": [f"{n}.jpg" for n in range(N_ITEMS)], "item": [str(n) for n in range(N_ITEMS)]})
    wardrobe = Wardrobe.from_catalog(catalog.with_columns(pl.Series("category", kinds)))
    rows = rng.normal(size=(N_ITEMS, DIM)).astype(np.float32)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = VectorLookup("random", tuple(item.image for item in wardrobe.items), unit)
    worn = [int(wardrobe.candidates(slot)[0]) for slot in ("tops", "pants", "earrings", "bags")]
    print(f"{N_ITEMS:,} items, {len(wardrobe.candidates('shoes')):,} of them shoes; milliseconds, median of {ROUNDS}")
    print(f"{'model':<18}{'open':>9}{'suggest':>9}{'rate':>9}{'one':>9}{'two':>9}{'three':>9}")
    for name, model in models(vectors).items():
        started = time.perf_counter()
        stylist = LookStylist(wardrobe, make_scorer(model, wardrobe.items), unit)
        opened = 1000.0 * (time.perf_counter() - started)
        suggest = median(lambda stylist=stylist: stylist.suggest(worn, "shoes", LookFilter(k=10)))  # type: ignore[misc]
        rate = median(lambda stylist=stylist: stylist.rate(worn))  # type: ignore[misc]
        whole = [
            median(lambda stylist=stylist, want=want: stylist.complete(worn[:1], want, n_looks=5))  # type: ignore[misc]
            for want in (WANTED[:1], WANTED[:2], WANTED)
        ]
        times = "".join(f"{each:>9,.0f}" for each in (opened, suggest, rate, *whole))
        print(f"{name:<18}{times}")


def models(vectors: VectorLookup) -> dict[str, OutfitModel]:
    found: dict[str, OutfitModel] = {"mean-cosine": MeanCosineModel(vectors)}
    for kind, preset in USUAL.items():
        settings = {"width": preset.width}
        card = OutfitModelCard(kind, kind, "vectors", "random", "", DIM, ("", *SLOTS), settings=settings)
        found[kind] = TrainedOutfitModel(card, make_outfit_net(card).eval(), InMemoryFeatures({"random": vectors}))
    return found


def median(do: Callable[[], object]) -> float:
    """Milliseconds of processor time of one thread, so that a busy machine changes little."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        do()
        seconds.append(time.process_time() - started)
    return 1000.0 * float(np.median(seconds))


if __name__ == "__main__":
    main()
