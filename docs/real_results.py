"""The figures and tables of `real.md`, measured on real data: `python docs/real_results.py --data PATH`.

PATH holds the folders clothing, emoji and materials.  `--work` keeps the workspaces, so that a stopped run goes on;
`--items N` tries everything on a few items and fills in a copy of the page beside the workspaces.
"""

import argparse
import tempfile
from pathlib import Path
from shutil import copyfile

from marks import fill, paragraph
from real_roads import ENCODERS, PROXY, Road, likewise, votes_by, votes_of_people, walk
from real_tables import (
    agreement,
    found_exactly,
    found_table,
    identification,
    leaderboard,
    most_agreement,
    plot_boards,
    plot_found,
    pool_size,
    summary,
    without_one,
)

HERE = Path(__file__).parent

CLOTHING = Road("clothing", 200, 6, votes_by("category"), "category-proxy-not-experts.csv")
EMOJI = Road("emoji", 200, 6, votes_by("subcategory"), "subcategory-proxy-not-experts.csv")
MATERIALS = Road("materials", 100, 12, votes_of_people, "materials-answers-of-people.csv", ("--gallery", "light=ennis"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="the folder that holds clothing, emoji and materials")
    asked.add_argument("--work", type=Path, help="where the workspaces are made; a temporary folder by default")
    asked.add_argument("--items", type=int, help="only so many items of each, for a trial")
    asked.add_argument("--with", dest="encoders", default=",".join(ENCODERS), help="encoders, comma-separated")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        data, encoders = given.data.resolve(), tuple(given.encoders.split(","))
        workspaces = {
            road.name: walk(road, data, folder, None if road is MATERIALS else given.items, encoders)
            for road in (CLOTHING, EMOJI, MATERIALS)
        }
        likewise(folder, "triplets", "materials", data / "materials" / "triplets.csv", "--order", "anchor close far")
        fill_page(workspaces, data, encoders, folder if given.items else HERE)


def fill_page(workspaces: dict[str, Path], data: Path, encoders: tuple[str, ...], folder: Path) -> None:
    clothing, emoji, materials = (workspaces[name] for name in ("clothing", "emoji", "materials"))
    found = found_exactly(materials, data / "materials")
    plot_found(found, folder / "real_found.png")
    titles = {f"clothing ({PROXY})": clothing, f"emoji ({PROXY})": emoji, "materials (people)": materials}
    plot_boards(titles, folder / "real_boards.png")
    at_six = found.filter(found["k"] == 6).row(0, named=True)
    estimate = summary(materials)["pool_recall"]
    last = found.row(-1, named=True)
    low, high = (f"{100 * estimate[name]:.1f}" for name in ("recall_low", "recall_high"))
    recall = (
        f"With k = 6, {100 * at_six['cost']:.1f} % of the pairs contain {100 * at_six['found 0.9']:.0f} % of those "
        f"that won more than 90 % of their answers, and {100 * at_six['found 0.5']:.0f} % of those that won more than "
        f"half. For k = {last['k']} the estimate from random pairs, which is all one has where the truth is not known, "
        f"is that the pool contains {100 * estimate['recall']:.1f} % ({low}–{high}, from {estimate['n_random']} random "
        f"pairs) of the similar pairs; the exact share is {100 * last['found 0.5']:.1f} %."
    )
    most = f"{100 * most_agreement(data / 'materials'):.1f} %"
    page = folder / "real.md"
    if folder != HERE:
        copyfile(HERE / "real.md", page)
    fill(
        page,
        {
            "real-encoders": paragraph(f"Encoders, all of them also generators: {', '.join(encoders)}."),
            "real-clothing-pool": pool_size(clothing),
            "real-clothing-leaderboard": leaderboard(clothing),
            "real-clothing-order": without_one(clothing),
            "real-emoji-pool": pool_size(emoji),
            "real-emoji-leaderboard": leaderboard(emoji),
            "real-emoji-order": without_one(emoji),
            "real-emoji-identification": identification(emoji),
            "real-materials-pool": pool_size(materials),
            "real-materials-leaderboard": leaderboard(materials),
            "real-materials-order": without_one(materials),
            "real-materials-found": found_table(found),
            "real-materials-recall": paragraph(recall),
            "real-materials-ceiling": f"No encoder can agree with more than {most} of all answers, because people "
            "disagree with each other.",
            "real-materials-agreement": agreement(materials),
        },
    )


if __name__ == "__main__":
    main()
