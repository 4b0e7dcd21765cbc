"""Walk the road on real data and write `real.md` with its pictures: `python docs/real_results.py --data PATH`.

PATH holds the folders clothing, emoji and materials.  `--work` keeps the workspaces, so that a stopped run goes on;
`--items N` tries everything on a few items and writes beside the workspaces instead of here.
"""

import argparse
import tempfile
from pathlib import Path
from textwrap import wrap

from real_roads import ENCODERS, PROXY, Road, likewise, votes_by, votes_of_people, walk
from real_tables import (
    agreement,
    found_exactly,
    found_table,
    identification,
    leaderboard,
    plot_boards,
    plot_found,
    questions,
    summary,
    what_it_cost,
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
        write_page(workspaces, data, encoders, folder if given.items else HERE)


def write_page(workspaces: dict[str, Path], data: Path, encoders: tuple[str, ...], folder: Path) -> None:
    clothing, emoji, materials = (workspaces[name] for name in ("clothing", "emoji", "materials"))
    found = found_exactly(materials, data / "materials")
    plot_found(found, folder / "real_found.png")
    titles = {f"clothing ({PROXY})": clothing, f"emoji ({PROXY})": emoji, "materials (people)": materials}
    plot_boards(titles, folder / "real_boards.png")
    at_six = found.filter(found["k"] == 6).row(0, named=True)
    estimate = summary(materials)["pool_recall"]
    last = found.row(-1, named=True)
    n_questions, most = questions(data / "materials")
    (folder / "real.md").write_text(
        reflow(
            PAGE.format(
                proxy=PROXY,
                encoders=", ".join(encoders),
                n_clothing=f"{summary(clothing)['n_images']:,}",
                n_emoji=f"{summary(emoji)['n_images']:,}",
                n_emoji_items=f"{summary(emoji)['n_items']:,}",
                clothing_cost=what_it_cost(clothing),
                clothing_board=leaderboard(clothing),
                clothing_order=without_one(clothing),
                emoji_cost=what_it_cost(emoji),
                emoji_board=leaderboard(emoji),
                emoji_order=without_one(emoji),
                emoji_identification=identification(emoji),
                materials_cost=what_it_cost(materials),
                materials_board=leaderboard(materials),
                materials_order=without_one(materials),
                found=found_table(found),
                cost_six=f"{100 * at_six['cost']:.1f}",
                found_six=f"{100 * at_six['found 0.9']:.0f}",
                half_six=f"{100 * at_six['found 0.5']:.0f}",
                k_all=last["k"],
                exact_all=f"{100 * last['found 0.5']:.1f}",
                estimate=f"{100 * estimate['recall']:.1f} % ({100 * estimate['recall_low']:.1f}–"
                f"{100 * estimate['recall_high']:.1f}, from {estimate['n_random']} random pairs)",
                agreement=agreement(materials),
                n_materials=summary(materials)["n_items"],
                n_questions=f"{n_questions:,}",
                most_agreement=f"{100 * most:.1f}",
            )
        ),
        encoding="utf-8",
    )


def reflow(page: str) -> str:
    """Paragraphs in lines of a readable length; tables, headings and pictures stay as they are."""
    parts = page.split("\n\n")
    wrapped = [part if part.lstrip()[:1] in "|#!" else "\n".join(wrap(" ".join(part.split()), 118)) for part in parts]
    return "\n\n".join(wrapped).rstrip() + "\n"


PAGE = """# Real results

Three data sets, walked with the five commands of the road by `python docs/real_results.py --data PATH`, which writes
this page. No network and no labelling company was at hand, so two of the three use a stand-in for votes; wherever
that is so it says *{proxy}*. Encoders, all of them generators too: {encoders}. Numbers are percentages with 95 %
intervals over queries; *own p_k* is the share of similar ones among what that encoder itself proposed.

![Macro ROC-AUC by data set](real_boards.png)

## Photographs of clothes ({proxy})

{n_clothing} photographs taken by people at home, one item each. Two photographs are called similar when their
category is the same (*{proxy}*: it knows nothing of colour, cut or pattern); where a category is “Not sure”, “Other”
or “Skip” the answer is “cannot tell”.

{clothing_cost} ({proxy})

{clothing_board}

*All numbers of this table: {proxy}.* {clothing_order}

## Emoji ({proxy})

{n_emoji} pictures of {n_emoji_items} things, each drawn by four artists. Two pictures of different things are called
similar when their subcategory is the same (*{proxy}*).

{emoji_cost} ({proxy})

{emoji_board}

*All numbers of this table: {proxy}.* {emoji_order}

### The same thing drawn by other artists

Identification needs no votes: the truth is the three other drawings of the query's own thing among all pictures.

{emoji_identification}

## Materials, judged by people

{n_materials} materials rendered under two lights, and {n_questions} questions “which of two looks more like the
reference?” with the answers of people. Every answer in which a material stood beside another counts as a vote on
whether it is like the reference: a pair is similar when it won more than half of its answers (its win rate). Nearly
all pairs have answers, so what the pool missed is known, not estimated. (Which opponents a material met was chosen by
the authors of the data, so a win rate is not a probability.)

{materials_cost}

{materials_board}

{materials_order}

### How many of the similar pairs did the pool find?

Exactly, by k, for three notions of similar: a pair won more than 50, 70 or 90 % of its answers.

{found}

![Share found against share looked at](real_found.png)

With k = 6, {cost_six} % of the pairs hold {found_six} % of those that people nearly always preferred, and {half_six}
% of those they preferred more often than not. The method's own estimate from random pairs, which is all one has where
the truth is not known, says for k = {k_all} that the pool holds {estimate} of the similar pairs; the exact number is
{exact_all} %.

### Agreement with people, question by question

Of two materials, does the encoder pick the one that people picked? A material's vector is the mean over its two
lights. No encoder can side with more than {most_agreement} % of all answers, because people disagree with each other.

{agreement}
"""

if __name__ == "__main__":
    main()
