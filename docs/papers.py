"""Run everything behind `papers.md` and fill its tables: `python docs/papers.py --data FOLDER --work FOLDER`.

The folder of --data holds `products`, `clothing`, `emoji`, `materials` and `reality_check`; in that of --work the runs
are made, and go on where they stopped. With `--quick` they are cut to minutes and the page is a copy in the folder of
--work. Published numbers are in `docs/published`; `python docs/vsd_negatives.py` fills the table of sampled
negatives.
"""

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from marks import fill, paragraph
from papers_catalogs import FULL, QUICK, Sizes
from papers_clock import stop_in_order
from papers_identification import identification_table
from papers_reality import loss_rows, reality_rows
from papers_rows import CONCATENATED, MAIN, SEPARATED, ends, percent, published, table
from papers_runs import read_finished, run_all
from papers_vsd import vsd_rows

from likewise.report.formatting import plural

FILE = Path(__file__).with_name("papers.md")
OF_TEST = "of test classes"
HEAD = ("in the paper", "it prints", "command", "here", "equal, or differs because")
VSD_HEAD = (*HEAD[:3], "photographs", "drawn wardrobe", HEAD[-1])


def check_table(check: dict[str, Any], sizes: Sizes) -> str:
    """The twelve losses on photographs: classes, and labels by attributes."""
    accuracy = {(row["method"], row["embedding"], row["measure"]): row for row in check["accuracy"]}
    discovery = {row["method"]: row for row in check["discovery_of_losses"] if row["queries"] == OF_TEST}
    titles = {"pretrained": "without training"} | {name: each["title"] for name, each in check["methods"].items()}
    kinds = [(embedding, measure) for embedding in (CONCATENATED, SEPARATED) for measure in ("P@1", MAIN)]
    lines = []
    for method, title in titles.items():
        if (method, *kinds[0]) in accuracy:
            cells = [percent(accuracy[method, embedding, measure]["value"]) for embedding, measure in kinds]
            row = discovery.get(method, {"value": None, "difference": None})
            lines.append((title, *cells, percent(row["value"]), change(row)))
    head = ("loss", "P@1, conc.", "MAP@R, conc.", "P@1, sep.", "MAP@R, sep.", "discovery", "from the trunk, points")
    said = f"""{check["n_images"]:,} photographs of {check["n_classes"]} classes (type and colour),
    {check["n_test_classes"]} of them for the test; a head over frozen efficientnet-lite0 at 96 pixels;
    {sizes.check["trials"]} trials, {sizes.check["reruns"]} reruns, at most {sizes.check["steps"]} steps. Discovery:
    gallery ROC-AUC by labels from attributes, for queries of test classes; * significant over reruns and queries,
    after Holm's correction. These labels ask for type, colour and gender, the classes for type and colour: training
    on one teaches the other, which need not hold for what people call similar."""
    return f"{table(head, lines)}\n\n{paragraph(said)}"


def change(row: dict[str, Any]) -> str:
    """A difference in points with its interval, and a star where it is significant."""
    if row["difference"] is None or row["difference_low"] is None:
        return "–"
    low, high = 100 * row["difference_low"], 100 * row["difference_high"]
    return f"{100 * row['difference']:+.1f} ({low:+.1f} to {high:+.1f}){' *' if row['significant'] else ''}"


def head_ablation_table(run: dict[str, Any], sizes: Sizes) -> str:
    """What is changed in heads over stored vectors."""
    asked = sizes.head_ablation
    said = f"""The contrastive loss with margins 0 and 0.5; a head over frozen efficientnet-lite0 at 96 pixels, on half
    of these photographs, {asked["reruns"]} reruns of at most {asked["steps"]} steps; half of the classes for the test.
    ± and intervals are 95 %; * significant over reruns and test classes, after Holm's correction over the rows. What
    matters most in a short training on one set of photographs need not matter most in a long one."""
    return ablation_table(run, said)


def trunk_ablation_table(run: dict[str, Any], sizes: Sizes) -> str:
    """What only a network that is trained whole has."""
    asked = sizes.trunk_ablation
    said = f"""The contrastive loss, efficientnet-lite0 trained whole at 32 pixels, on {sizes.ablation_classes} of
    these classes; {asked["trials"]} trials, {asked["reruns"]} reruns of at most {asked["steps"]} steps; else as
    above."""
    return ablation_table(run, said)


def ablation_table(run: dict[str, Any], said: str) -> str:
    said += "".join(f" {note[0].upper()}{note[1:]}." for note in run["notes"])
    head = ("setting", "learning rate", "MAP@R, conc.", "from the plan, points", "MAP@R, sep.", "from the plan, points")
    return f"{table(head, ablation_lines(run))}\n\n{paragraph(said)}"


def ablation_lines(run: dict[str, Any]) -> list[tuple[str, ...]]:
    main = [row for row in run["ablation"] if row["measure"] == MAIN]
    conc = {(row["factor"], row["setting"]): row for row in main if row["embedding"] == CONCATENATED}
    lines: list[tuple[str, ...]] = []
    for row in [row for row in main if row["embedding"] == SEPARATED]:
        name = f"{row['factor']}: {row['setting']}" if row["factor"] else row["setting"]
        rate = "–" if row["lr"] is None else f"{row['lr']:g}"
        both = conc[row["factor"], row["setting"]], row
        lines.append((name, rate, *(cell for each in both for cell in (with_margin(each), change(each)))))
    return lines


def with_margin(row: dict[str, Any]) -> str:
    margin = "" if row["low"] is None else f" ± {50 * (row['high'] - row['low']):.1f}"
    return f"{percent(row['value'])}{margin}"


def bands_table(found: dict[str, Any]) -> str:
    lines = []
    for name, title in (("products", "photographs, by attributes"), ("wardrobe", "wardrobe, by its truth")):
        for row in found[f"{name}_bands"]["tables"]["rank_bands"]:
            ranks = f"{row['first_rank']}–{row['last_rank']}"
            share = f"{percent(row['share'])} ({percent(row['low'])} to {percent(row['high'])})"
            lines.append((title, ranks, f"{row['n_pairs']:,}", f"{row['n_labelled']:,}", share))
    return table(("catalog", "ranks, from 0", "pairs", "drawn and labelled", "similar, %"), lines)


def claims_table(found: dict[str, Any], data: Path) -> str:
    """P@1 that papers reported for the two oldest losses, and what the Reality Check measured for them."""
    claims = pl.read_csv(data / "reality_check" / "reported_precision_at_1.csv")
    measured = published("reality_check_tables").filter(pl.col("measure") == "P@1", pl.col("embedding") == CONCATENATED)
    lines = []
    for loss, title in (("contrastive", "Contrastive"), ("triplet", "Triplet")):
        for name in ("cub200", "cars196", "sop"):
            reported = claims.filter(loss=loss)[name].drop_nulls().cast(pl.Float64).to_list()
            real = float(measured.filter(data=name, method=title)["value"][0])
            lines.append(
                (title, name, f"{ends(reported)} ({len(reported)} papers)", f"{np.mean(reported):.1f}", f"{real:.1f}")
            )
    rows = [row for row in found["check"]["accuracy"] if (row["measure"], row["embedding"]) == ("P@1", CONCATENATED)]
    here = {row["method"]: 100 * row["value"] for row in rows}
    best = max(value for method, value in here.items() if method != "pretrained")
    over = [
        f"{100 * (best / here[loss] - 1):+.1f} % over {loss}" for loss in ("contrastive", "triplet") if loss in here
    ]
    said = f"""Precision@1 in percent. On the photographs above the best of the twelve losses is
    {" and ".join(over)}, where papers claimed improvements of more than 50 % over triplet and 100 % over
    contrastive."""
    head = ("loss", "data", "papers reported", "their mean", "Reality Check, concatenated")
    return f"{table(head, lines)}\n\n{paragraph(said)}"


def paper_text(found: dict[str, Any], name: str, pictures: str, sizes: Sizes) -> str:
    paper, seconds, asked = found[name], found["clock"][name], sizes.paper
    rows = [row for row in paper["accuracy"] if row["measure"] == MAIN and row["embedding"] == CONCATENATED]
    values = ", ".join(f"{row['method']} {percent(row['value'])}" for row in rows)
    n_trained = (asked["trials"] + asked["reruns"]) * 4
    each = seconds / (n_trained * asked["steps"])
    whole = 12 * (50 + 10) * 4 * 2000 * each / 86_400
    text = f"""efficientnet-lite0 at 64 pixels on half of {pictures} took {seconds / 60:.1f} minutes of processor
    time for one loss with {plural(asked["trials"], "trial")} and {plural(asked["reruns"], "rerun")} of
    {asked["steps"]} steps each ({n_trained} models): concatenated MAP@R {values}. Cut: 50 trials to
    {asked["trials"]}, 10 reruns to {asked["reruns"]}, 12 losses to 1, 227 pixels to 64, training to a plateau to
    {asked["steps"]} steps at 1e-6. All of it with pictures of this size, at 2,000
    steps a model, would take about {whole:,.0f} days; it was not run."""
    return paragraph(text)


RESULTS = {
    "photographs": "products_tables",
    "home": "home_tables",
    "wardrobe": "wardrobe_tables",
    "wild": "wild_tables",
    "emoji": "drawings_tables",
    "materials": "materials_identification",
}
"""By which result a part is known to be finished, where it has another name."""
CLOCK_PARTS = {
    "photographs": "photographs of a shop: catalog, vectors, pool, a network fine-tuned, tables, rank bands",
    "home": "photographs taken at home: the same",
    "wardrobe": "drawn wardrobe: the same, five networks fine-tuned, simulated experts",
    "wild": "drawn wardrobe, queries from elsewhere: pool, tables",
    "emoji": "emoji as items: pool, two networks fine-tuned, tables",
    "materials": "materials: a network fine-tuned, the crowd's answers",
    "check": "twelve losses",
    "lessons": "lessons",
    "head_ablation": "what else changes accuracy, heads",
    "trunk_ablation": "what else changes accuracy, a network trained whole",
    "paper": "the preset `paper`, cut, photographs",
    "paper_emoji": "the preset `paper`, cut, emoji",
}


def clock_table(found: dict[str, Any]) -> str:
    """What every part takes that was timed, from its beginning to its end."""
    clock = {name: seconds for name, seconds in found["clock"].items() if RESULTS.get(name, name) in found}
    lines = [(title, f"{clock[name] / 60:.1f}" if name in clock else "–") for name, title in CLOCK_PARTS.items()]
    lines.append(("*together*", f"*{sum(clock.values()) / 60:.0f}*"))
    return table(("part", "minutes of processor time"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--page", action="store_true", help="run nothing; fill the tables of what is finished")
    parser.add_argument("--only", default="", help=f"of the runs only these: {','.join(CLOCK_PARTS)}")
    parser.add_argument("--quick", action="store_true", help="everything cut to minutes; the page is written to --work")
    given = parser.parse_args()
    stop_in_order()
    given.work.mkdir(parents=True, exist_ok=True)
    sizes, page, data = QUICK if given.quick else FULL, FILE, given.data.resolve()
    if given.quick:
        page = Path(shutil.copy(FILE, given.work))
    only = [each for each in given.only.split(",") if each]
    found = read_finished(given.work) if given.page else run_all(given.work, data, sizes, only)
    fill_page(page, found, data, sizes)


def fill_page(page: Path, found: dict[str, Any], data: Path, sizes: Sizes) -> None:
    """The tables whose runs are finished."""
    shop, emoji = (
        f"{sizes.ablation_classes} of the classes above",
        f"{sizes.emoji_items:,} emoji, each drawn by four artists,",
    )
    blocks: dict[str, Callable[[], str]] = {
        "papers-vsd": lambda: table(VSD_HEAD, vsd_rows(found)),
        "papers-reality": lambda: table(HEAD, reality_rows(found, sizes.lessons["random-points"])),
        "papers-reality-losses": lambda: table(HEAD, loss_rows(found)),
        "papers-check": lambda: check_table(found["check"], sizes),
        "papers-ablation-heads": lambda: head_ablation_table(found["head_ablation"], sizes),
        "papers-ablation-trunk": lambda: trunk_ablation_table(found["trunk_ablation"], sizes),
        "papers-bands": lambda: bands_table(found),
        "papers-identification": lambda: identification_table(found, sizes),
        "papers-claims": lambda: claims_table(found, data),
        "papers-clock": lambda: clock_table(found),
        "papers-preset": lambda: paper_text(found, "paper", shop, sizes),
        "papers-preset-emoji": lambda: paper_text(found, "paper_emoji", emoji, sizes),
    }
    for name, make in blocks.items():
        try:
            fill(page, {name: make()})
        except KeyError as missing:
            print(f"{name} is not written: {missing} is not there yet")
    print(f"{page} written")


if __name__ == "__main__":
    main()
