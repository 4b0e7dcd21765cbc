"""Machine judges of planted quality on catalogs whose truth is known, for `judges.md`.

    python docs/judges.py [--campaigns N] [--work FOLDER]
    python docs/judges.py --photographs --data FOLDER [--campaigns N] [--work FOLDER]

The first is the drawn wardrobe; the second photographs of a shop's products, similar where type and colour are the
same, with a network as one more judge. `--quick` makes few campaigns on a small catalog, and prints instead of writing
the page. Campaigns are kept in the work folder as they are made; a run that was interrupted goes on where it stopped,
and `--as-is` makes the table of those that there are.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple
from pathlib import Path

import numpy as np
from marks import fill
from numpy.typing import NDArray
from photographs import make_workspace, photographs_bench, read_products
from sampling_bench import Bench, drawn_wardrobe
from sampling_draws import draw_campaign

from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.judge import JudgeAnswers
from likewise.evaluation.estimates.shown import EstimateFacts, shown_by_default

PAGE = Path(__file__).parent / "judges.md"
N_QUERIES, LABELS_PER_QUERY, PAIRS_PER_LABEL = 30, 25, 6
K = 10
MEASURES = ("P@10", "nDCG@10", "AP", "ROC_AUC")
N_ITEMS, N_PHOTOGRAPHS = 600, 1200
SELDOM = 0.05
NETWORK = "efficientnet-lite2"
PLANTED = {
    "random": (0.5, 0.5),
    "biased: calls 40 % of other pairs similar": (1.0, 0.4),
    "blind: misses 60 % of similar pairs": (0.4, 0.02),
    "fair: 80 % and 10 %": (0.8, 0.1),
    "good: 95 % and 2 %": (0.95, 0.02),
    "the people themselves": (1.0, 0.0),
}
"""By name: the chance of saying similar where people do, and where they do not."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Judge = Callable[[Ints, Ints, np.random.Generator], Floats]
"""Answers about items and items, higher for those that look more alike."""


def planted(bench: Bench, where_similar: float, elsewhere: float) -> Judge:
    """Says "similar" with one chance where people do and with another where they do not."""

    def answers(query: Ints, unit: Ints, rng: np.random.Generator) -> Floats:
        chance = np.where(bench.similar[query, unit], where_similar, elsewhere)
        return (rng.random(len(query)) < chance).astype(np.float64)

    return answers


def by_cosine(vectors: NDArray[np.float32], bench: Bench) -> Judge:
    """A network that is not measured; one image per item."""

    def answers(query: Ints, unit: Ints, rng: np.random.Generator) -> Floats:
        cosines: Floats = np.einsum("nd,nd->n", vectors[bench.query_items[query]], vectors[unit]).astype(np.float64)
        return cosines

    return answers


def ask(bench: Bench, queries: Ints, own: LabelledDraw, people: LabelledDraw, judge: Judge, seed: int) -> JudgeAnswers:
    """A judge's answers about its own draw and the pairs drawn for people; a pair asked twice is answered once."""
    n = bench.n_items
    cells, place = np.unique(
        np.concatenate([own.query * n + own.unit, people.query * n + people.unit]), return_index=True
    )
    chance = np.append(1.0 / own.weight, np.zeros(len(people.query)))[place]
    query, unit = cells // n, cells % n
    return JudgeAnswers(query, unit, chance, judge(queries[query], unit, np.random.default_rng(seed)))


def campaign(bench: Bench, judges: Mapping[str, Judge | None], n_queries: int, seed: int) -> Floats:
    """(judges, measures + 1, models, 6): errors, and in the last row the judge's kappa and what it was worth."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, bench.n_queries, n_queries)
    n_labels = n_queries * LABELS_PER_QUERY
    people = draw_campaign(bench, queries, n_labels, "sampled", rng)
    own = draw_campaign(bench, queries, PAIRS_PER_LABEL * n_labels, "sampled", rng)
    blocks, here, every, found_of = (
        [(np.arange(n_queries), bench.block(queries))],
        bench.truth(queries),
        bench.truth(),
        [],
    )
    for judge in judges.values():
        said = None if judge is None else ask(bench, queries, own, people, judge, seed)
        found = estimate_catalog(lambda: blocks, bench.names, people, (K,), seed, said, generators=bench.generators)
        agreed, facts = found.judge, np.zeros((1, len(bench.names), 6))
        facts[..., :2] = (np.nan, 1.0) if agreed is None else (agreed.kappa, found.label_equivalent or 1.0)
        found_of.append(np.concatenate([_errors(found, here, every), facts]))
    return np.stack(found_of)


def products(work: Path, data: Path) -> tuple[Bench, dict[str, Judge]]:
    """Photographs of products, and a network that judges them."""
    bench = photographs_bench(work, data, N_PHOTOGRAPHS)
    _, seen = read_products(make_workspace(work, data, N_PHOTOGRAPHS, (NETWORK,)), (NETWORK,))
    return bench, {f"a network: the cosine of {NETWORK}": by_cosine(seen[NETWORK], bench)}


def run(work: Path, bench: Bench, networks: Mapping[str, Judge], n_campaigns: int) -> str:
    """Bias, coverage and width for every judge, over the same campaigns."""
    judges = {"no judge": None, **{name: planted(bench, *says) for name, says in PLANTED.items()}, **networks}
    n_items, n_queries = bench.n_items, min(N_QUERIES, bench.n_items // 2)
    file = work / "campaigns" / f"judges-{bench.name}-{n_items}-{n_queries}.npz"
    file.parent.mkdir(exist_ok=True)
    rows, seconds = np.empty((0, len(judges), len(MEASURES) + 1, len(bench.names), 6)), 0.0
    if file.exists():
        with np.load(file) as stored:
            rows, seconds = stored["rows"], float(stored["seconds"])
    for seed in range(len(rows), n_campaigns):
        started = time.process_time()
        rows = np.concatenate([rows, campaign(bench, judges, n_queries, seed)[None]])
        seconds += time.process_time() - started
        np.savez(file, rows=rows, seconds=seconds)
    n_labels = n_queries * LABELS_PER_QUERY
    said = (
        f"{len(rows)} campaigns of {n_labels:,} labels for {n_queries} queries among {n_items:,} items, and "
        f"{PAIRS_PER_LABEL * n_labels:,} pairs for the judge; {len(bench.names)} models; "
        f"{100 * bench.similar.mean():.1f} % of all pairs are similar; {seconds:.0f} s of processor time."
    )
    lines = [
        "| judge | kappa with people | "
        + " | ".join(f"{name}: bias, covered, drawing" for name in MEASURES)
        + " | labels it was worth, per label |",
        "|---" * (len(MEASURES) + 3) + "|",
    ]
    for place, name in enumerate(judges):
        kappa, equivalent = rows[:, place, -1, 0, :2].T
        cells = [_cell(measure, rows[:, place, number]) for number, measure in enumerate(MEASURES)]
        shown = "" if np.isnan(kappa).all() else f"{np.nanmean(kappa):.2f}"
        lines.append(f"| {name} | {shown} | {' | '.join(cells)} | {np.median(equivalent):.1f} |")
    return f"{said}\n\n" + "\n".join(lines)


def _errors(found: CatalogEstimates, here: dict[str, Floats], every: dict[str, Floats]) -> Floats:
    """(measures, models, 6): error against these queries, whether the truth of all is covered, the error of drawing,
    and what decides whether it is shown."""
    table = np.empty((len(MEASURES), len(found.encoders), 6))
    for place, name in enumerate(MEASURES):
        for model, by_measure in enumerate(found.by_encoder):
            one = by_measure[name]
            low, high = one.share_interval()
            known = one.value - here[name][model], low <= every[name][model] <= high, one.drawing_error
            table[place, model] = *known, *astuple(found.facts(model, name))
    return table


def _cell(measure: str, table: Floats) -> str:
    """Of (campaigns, models, 6): mean bias, share covered, mean standard error of drawing, over models.

    Of estimates that are shown by default; in brackets of all, where hardly any is.
    """
    every = table.reshape(-1, 6)
    shown = np.array([shown_by_default(measure, EstimateFacts(*one[3:]), None) for one in every])
    seldom = bool(shown.mean() < SELDOM)
    bias, covered, drawing = every[:, :3][np.ones_like(shown) if seldom else shown].mean(axis=0)
    said = f"{100 * bias:+.1f}, {100 * covered:.0f} %, ± {100 * drawing:.2f}"
    return f"({said})" if seldom else said if shown.mean() > 0.995 else f"{said} [{100 * shown.mean():.0f} %]"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="few campaigns, small catalog; prints")
    asked.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-sampling")
    asked.add_argument("--photographs", action="store_true", help="photographs of products; --data has them")
    asked.add_argument("--data", type=Path)
    asked.add_argument("--campaigns", type=int, help="how many; 100 by default, 3 with --quick")
    asked.add_argument("--as-is", action="store_true", help="the table of the campaigns kept, no further ones")
    given = asked.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    n_campaigns = 0 if given.as_is else given.campaigns or (3 if given.quick else 100)
    if given.photographs:
        bench, networks = products(given.work, given.data.resolve())
    else:
        bench, networks = drawn_wardrobe(given.work, 120 if given.quick else N_ITEMS, 3), {}
    table = run(given.work, bench, networks, n_campaigns)
    if given.quick:
        print(table)
    else:
        fill(PAGE, {"judges-photographs": table} if given.photographs else {"judges-quality": table})


if __name__ == "__main__":
    main()
