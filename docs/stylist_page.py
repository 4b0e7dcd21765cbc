"""The page that `stylist.py` writes: tables, pictures, text."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.outfits.dimensions import DIMENSIONS
from likewise.outfits.models.card import Card
from likewise.outfits.models.registry import KINDS as ALL_KINDS
from likewise.outfits.models.registry import TRAINED
from likewise.outfits.scoring import wilson
from likewise.outfits.training.remedy import Remedy
from likewise.report.plots.palette import INK, MODEL_LIGHT, SOFT
from likewise.report.plots.svg import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = tuple(kind for kind in TRAINED if kind != "popular")

BESIDE_COLOR = "the five dimensions beside color, together"

TEXT = """\
# Does a model have taste?

A compatibility model scores outfits and fills blanks. `likewise` has five published ones, three baselines and one
of its own behind one interface; A100's tests say how good their taste is, and in which dimension. Everything on
this page is made by `python docs/stylist.py --work FOLDER --outfits 4000 --epochs 5`.

```sh
likewise new wardrobe --wardrobe --items 6000
likewise encode wardrobe --with colour,texture,shape
likewise outfits wardrobe-test taste --seed 1001 --n-aat 300
likewise outfits train wardrobe --model set-transformer --with {encoders} --test taste
likewise outfits score taste --model wardrobe/outfit_models/set-transformer --model random
likewise outfits remedy wardrobe taste --model type-aware --with {encoders}
```

| model | what it is |
|---|---|
{kinds}

All look at stored vectors of any encoder, or of several joined by `+`; with `--whole small` (or
`efficientnet-lite0`) a torch encoder is the first layer and is trained along. Captions, or else the names of
categories, feed the visual-semantic terms; where there are neither, the terms are off and the model's card says so.
A trained model is a folder: weights of every epoch (safetensors), a card (JSON), the curves, and the items it has
seen.

**Fair by construction.** A negative is another item of the same category, never one of the outfit, always from
training. Items of a test are never learned: `train --test` refuses outfits that hold one (or leaves them out), and
`score` refuses a model that has seen one, by item, image and content of the picture. The same seed gives the same
weights, also after a killed run. On a wardrobe the epoch is chosen by blanks in outfits of items that training did
not show.

## Taste on the wardrobe

{n_items} drawn items; {n_outfits} outfits put together by eight simulated stylists; vectors of {encoders}; {epochs}
epochs (`usual` otherwise). The test comes from another wardrobe: {lat} LAT questions answered by 200 simulated
people, {aat} AAT questions whose choices differ in exactly one attribute. Percent, with 95 % intervals:

{scores}

Trained models whose interval lies wholly above those of random *and* mean cosine:

{verdict}

Mean cosine prefers what looks alike, and items of one colour look alike: that answers many questions about color and
hardly any other.

![LATs and AATs](stylist-taste.png)

By dimension (number of questions), the indexes of the AAT:

{indexes}

![Curves](stylist-curves.png)

## A model that cannot see colour

The type-aware model loses colour in two ways, on every other AAT question: *without colour* was trained without the
colour encoder (texture and outlines only, which still know light from dark); *shown grey* is the same model as
*with colour*, but every item of the test is drawn again in one grey, so that choices which differ in colour become
one picture, and a model that was used to colours sees none.

{blind}

{blind_verdict}

![The index of every dimension, with and without colour](stylist-blind.png)
"""

REMEDY = """
## The remedy

Section 4.2 of A100 proposes more training outfits on the weakest dimension. Half of the AAT questions find it, the
other half measure; a third training gets as many more outfits without a focus. Weakest of {cured_name}: **{weak}**
({found} % on the finding half). {more} more outfits each; on the measuring half:

{cured}

In the table the first line is the first training, the second has the outfits on {weak}, the third as many without a
focus.

{told_apart}
"""


def write_page(
    here: Path,
    cards: Mapping[str, Card],
    curves: Mapping[str, Path],
    scores: pl.DataFrame,
    blind: pl.DataFrame,
    cured: Remedy | None,
    about: Mapping[str, str],
) -> None:
    """`stylist.md` and its pictures."""
    plot_taste(here, scores)
    plot_blind(here, blind)
    plot_curves(here, curves)
    trained = cards["type-aware"].trained
    n = {name: scores.filter(pl.col("score") == name)["n_questions"][0] for name in ("LATs", "AATs")}
    values = {
        "n_items": about["items"],
        "n_outfits": f"{trained['n_outfits']:,}",
        "encoders": about["encoders"],
        "epochs": str(trained["preset"]["epochs"]),
        "lat": str(n["LATs"]),
        "aat": str(n["AATs"]),
        "kinds": "\n".join(f"| {kind} | {what} |" for kind, what in ALL_KINDS.items()),
        "scores": table_of(scores, ("LATs", "mLATs", "AATs")),
        "indexes": index_table(scores),
        "blind": index_table(blind),
        "blind_verdict": blind_verdict(blind),
        "verdict": verdict(scores),
    }
    if cured is not None:
        weak = cured.found.filter(pl.col("dimension") == cured.dimension)
        values |= {
            "cured": index_table(cured.scores),
            "cured_name": cured.names[0],
            "weak": cured.dimension,
            "found": f"{100 * weak['value'][0]:.0f}",
            "more": f"{cured.n_more:,}",
            "told_apart": told_apart(cured),
        }
    text = TEXT + (REMEDY if cured is not None else "")
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    (here / "stylist.md").write_text(text, encoding="utf-8")


def table_of(scores: pl.DataFrame, columns: Sequence[str]) -> str:
    """One row per model, shares in percent with their intervals."""
    n = {name: scores.filter(pl.col("score") == name)["n_questions"][0] for name in columns}
    chance = {name: scores.filter(pl.col("score") == name)["chance"][0] for name in columns}
    lines = ["| model | " + " | ".join(f"{name} (n = {n[name]})" for name in columns) + " |"]
    lines.append("|---|" + "---|" * len(columns))
    for model in scores["model"].unique(maintain_order=True):
        cells = [cell(scores, model, pl.col("score") == name) for name in columns]
        lines.append(f"| {short(model)} | " + " | ".join(cells) + " |")
    lines.append("| *chance* | " + " | ".join(f"*{100 * chance[name]:.0f}*" for name in columns) + " |")
    return "\n".join(lines)


def index_table(scores: pl.DataFrame) -> str:
    """One row per model, the index of every dimension."""
    index = scores.filter(pl.col("score") == "index")
    about = {row["dimension"]: row for row in index.iter_rows(named=True)}
    names = [name for name in DIMENSIONS if name in about]
    lines = ["| model | " + " | ".join(f"{name} ({about[name]['n_questions']})" for name in names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    for model in index["model"].unique(maintain_order=True):
        cells = [cell(index, model, pl.col("dimension") == name) for name in names]
        lines.append(f"| {short(model)} | " + " | ".join(cells) + " |")
    lines.append("| *chance* | " + " | ".join(f"*{100 * about[name]['chance']:.0f}*" for name in names) + " |")
    return "\n".join(lines)


def cell(scores: pl.DataFrame, model: str, which: pl.Expr) -> str:
    row = scores.filter((pl.col("model") == model) & which).row(0, named=True)
    return f"{100 * row['value']:.0f} ({100 * row['low']:.0f}–{100 * row['high']:.0f})"


def short(model: str) -> str:
    return model.partition(":")[0]


def verdict(scores: pl.DataFrame) -> str:
    """Which trained models lie above both baselines with intervals that do not touch."""
    full = {short(model): model for model in scores["model"].unique(maintain_order=True)}
    lines = []
    for name in ("LATs", "AATs", BESIDE_COLOR):
        measured = {kind: of_score(scores, full[kind], name) for kind in ("random", "mean-cosine", *KINDS)}
        bar = max(measured[base][2] for base in ("random", "mean-cosine"))
        clear = [kind for kind in KINDS if measured[kind][1] > bar]
        lines.append(f"- {name}: {len(clear)} of {len(KINDS)}{' (' + ', '.join(clear) + ')' if clear else ''}")
    return "\n".join(lines)


def of_score(scores: pl.DataFrame, model: str, name: str) -> tuple[float, float, float]:
    """Share and interval of a whole score."""
    if name == BESIDE_COLOR:
        return beside_color(scores, model)
    row = scores.filter((pl.col("model") == model) & (pl.col("score") == name)).row(0, named=True)
    return row["value"], row["low"], row["high"]


def beside_color(scores: pl.DataFrame, model: str) -> tuple[float, float, float]:
    """Share and interval over all AAT questions that do not ask about color."""
    index = (pl.col("model") == model) & (pl.col("score") == "index") & (pl.col("dimension") != "color")
    others = scores.filter(index)
    n = int(others["n_questions"].sum())
    share = float((others["value"] * others["n_questions"]).sum()) / n
    return share, *wilson(share, n)


def blind_verdict(blind: pl.DataFrame) -> str:
    """Per model: color against chance, and the other five dimensions together."""
    index = blind.filter(pl.col("score") == "index")
    lines = []
    for model in index["model"].unique(maintain_order=True):
        mine = index.filter(pl.col("model") == model)
        color = mine.filter(pl.col("dimension") == "color").row(0, named=True)
        n = int(mine.filter(pl.col("dimension") != "color")["n_questions"].sum())
        share, low, high = beside_color(blind, model)
        touches = "not told apart from" if color["low"] <= color["chance"] <= color["high"] else "away from"
        lines.append(
            f"- {model}: color {100 * color['value']:.0f} %, {touches} chance ({100 * color['chance']:.0f} %); "
            f"the other five together {100 * share:.0f} % ({100 * low:.0f}–{100 * high:.0f}, n = {n})"
        )
    return "\n".join(lines)


def told_apart(cured: Remedy) -> str:
    """The differences on the weak dimension, with p after Holm."""
    mine = cured.differences.filter(pl.col("dimension") == cured.dimension)
    lines = []
    for row in mine.iter_rows(named=True):
        lines.append(
            f"- {row['model_b']} minus {row['model_a']}: {-100 * row['difference']:+.1f} points on {cured.dimension} "
            f"(n = {row['n_questions']}, p = {row['p_holm']:.2f} after Holm)"
        )
    if not mine["real"].any():
        lines += [
            "",
            "None of these differences is told apart from chance: a cure needs a test with more such questions.",
        ]
    return "\n".join(lines)


def figure(path: Path, size: tuple[float, float], paint: Callable[["Axes"], None]) -> None:
    """A picture on white, in the colours of the report."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**STYLE, "figure.facecolor": "white"}
    with matplotlib.rc_context(style):
        canvas = Figure(figsize=size, layout="constrained", dpi=110)
        paint(canvas.add_subplot())
        canvas.savefig(path)


def plot_taste(here: Path, scores: pl.DataFrame) -> None:
    """LATs and AATs of every model with their intervals."""
    models = scores["model"].unique(maintain_order=True).to_list()

    def paint(axes: "Axes") -> None:
        for shift, (name, colour) in enumerate(zip(("LATs", "AATs"), MODEL_LIGHT, strict=False)):
            mine = scores.filter(pl.col("score") == name)
            for place, model in enumerate(models):
                row = mine.filter(pl.col("model") == model).row(0, named=True)
                y = place + 0.22 * (shift - 0.5) * 2
                axes.plot([100 * row["low"], 100 * row["high"]], [y, y], color=colour, linewidth=2)
                axes.plot(100 * row["value"], y, "o", color=colour, markersize=5, label=name if not place else None)
            axes.axvline(100 * mine["chance"][0], color=colour, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_yticks(range(len(models)), [short(model) for model in models])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("questions answered as people did (LATs), rightly (AATs), %; dashed: chance")
        axes.legend(loc="lower right", frameon=False)

    figure(here / "stylist-taste.png", (7.0, 4.2), paint)


def plot_blind(here: Path, blind: pl.DataFrame) -> None:
    """The index of every dimension for the same model with and without colour."""
    index = blind.filter((pl.col("score") == "index") & pl.col("model").str.starts_with("type-aware"))
    models = index["model"].unique(maintain_order=True).to_list()

    def paint(axes: "Axes") -> None:
        for number, (model, colour) in enumerate(zip(models, MODEL_LIGHT, strict=False)):
            for place, dimension in enumerate(DIMENSIONS):
                here = (pl.col("model") == model) & (pl.col("dimension") == dimension)
                row = index.filter(here).row(0, named=True)
                x = place + 0.24 * (number - 1)
                axes.bar(x, 100 * row["value"], 0.22, color=colour, alpha=0.75, label=None if place else model)
                axes.plot([x, x], [100 * row["low"], 100 * row["high"]], color=INK, linewidth=1)
                ends = [place - 0.4, place + 0.4]
                axes.plot(ends, [100 * row["chance"]] * 2, color=SOFT, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_xticks(range(len(DIMENSIONS)), DIMENSIONS)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("index (%); dashed: chance")
        axes.set_ylim(0, 100)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, frameon=False)

    figure(here / "stylist-blind.png", (7.6, 4.0), paint)


def plot_curves(here: Path, paths: Mapping[str, Path]) -> None:
    """Validation accuracy by epoch."""

    def paint(axes: "Axes") -> None:
        for (kind, path), colour in zip(paths.items(), MODEL_LIGHT, strict=False):
            mine = pl.read_parquet(path, glob=False).filter(pl.col("name") == "validation accuracy")
            axes.plot(mine["epoch"], 100 * mine["value"], color=colour, marker="o", markersize=3, label=kind)
        axes.axhline(20, color=SOFT, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.set_xlabel("epoch")
        axes.set_ylabel("blanks filled rightly (%); dashed: chance")
        axes.set_xticks(mine["epoch"].to_list())
        axes.legend(frameon=False, ncols=2)

    figure(here / "stylist-curves.png", (6.4, 3.8), paint)
