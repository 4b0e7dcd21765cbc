"""The tables and pictures of `stylist.md`, from what `stylist.py` measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from marks import fill, paragraph
from stylist_plots import plot_blind, plot_curves, plot_taste, short

from likewise.intervals import wilson_interval
from likewise.outfits.dimensions import DIMENSIONS
from likewise.outfits.models.card import OutfitModelCard
from likewise.outfits.models.registry import MODEL_KINDS as ALL_KINDS
from likewise.outfits.models.registry import TRAINABLE_KINDS
from likewise.outfits.training.targeted_data import TargetedDataResult

KINDS = tuple(kind for kind in TRAINABLE_KINDS if kind != "popular")

BESIDE_COLOR = "the five dimensions beside color, together"


@dataclass(frozen=True)
class Facts:
    """What the page says beside the scores."""

    command: str
    n_items: int
    encoders: str
    cards: Mapping[str, OutfitModelCard]
    curves: Mapping[str, Path]
    training: pl.DataFrame
    """Per dimension: the agreement of training outfits, and with one item changed."""
    speed: Mapping[str, float]


def fill_page(
    docs: Path, facts: Facts, scores: pl.DataFrame, blind: pl.DataFrame, targeted: TargetedDataResult | None
) -> None:
    """The tables of `stylist.md`, and its pictures."""
    plot_taste(docs, scores)
    plot_blind(docs, blind)
    plot_curves(docs, facts.curves)
    blocks = {
        "stylist-models": kinds_table(),
        "stylist-setting": setting(facts, scores),
        "stylist-scores": table_of(scores, ("LATs", "mLATs", "AATs")),
        "stylist-above": verdict(scores),
        "stylist-dimensions": index_table(scores),
        "stylist-training": f"{training_table(facts.training)}\n\n{weakest_signal(facts.training)}",
        "stylist-speed": speed_table(facts.speed),
        "stylist-grey": f"{index_table(blind)}\n\n{blind_verdict(blind)}",
    }
    if targeted is not None:
        blocks |= {"stylist-targeted": targeted_data(targeted)}
    fill(docs / "stylist.md", blocks)


def kinds_table() -> str:
    return "\n".join(
        ["| model | what it is |", "|---|---|", *(f"| {kind} | {what} |" for kind, what in ALL_KINDS.items())]
    )


def setting(facts: Facts, scores: pl.DataFrame) -> str:
    """What was trained and on how many questions it is measured."""
    trained = facts.cards["type-aware"].training
    n = {name: scores.filter(pl.col("score") == name)["n_questions"][0] for name in ("LATs", "AATs")}
    return paragraph(
        f"Made by `{facts.command}`: {facts.n_items:,} drawn items; {trained.n_outfits:,} outfits put together by "
        f"eight simulated stylists; vectors of `{facts.encoders}` read as words; "
        f"{trained.preset.epochs if trained.preset else 0} epochs; {n['LATs']:,} LAT questions and {n['AATs']:,} AAT "
        "questions. Scores in percent, with 95 % intervals:"
    )


def targeted_data(targeted: TargetedDataResult) -> str:
    """The weakest dimension, and what more outfits on it do."""
    weak = targeted.diagnosis.filter(pl.col("dimension") == targeted.weak_dimension)["value"][0]
    about = (
        f"The weakest dimension of {targeted.names[0]} is **{targeted.weak_dimension}** ({100 * weak:.0f} %). "
        f"The two further trainings get {targeted.n_extra_outfits:,} more outfits each:"
    )
    return f"{paragraph(about)}\n\n{targeted_table(targeted)}\n\n{significant_differences(targeted)}"


def training_table(training: pl.DataFrame) -> str:
    """Per dimension, what the training outfits say."""
    lines = ["| | " + " | ".join(training["dimension"]) + " |", "|---|" + "---|" * len(training)]
    for column, words in (("styled", "training outfits"), ("changed", "one item changed")):
        lines.append(f"| {words} | " + " | ".join(f"{value:.2f}" for value in training[column]) + " |")
    shares = " | ".join(f"{100 * value:.0f} %" for value in training["better"])
    lines.append(f"| the change is for the worse | {shares} |")
    return "\n".join(lines)


def speed_table(speed: Mapping[str, float]) -> str:
    lines = ["| " + " | ".join(short(model) for model in speed) + " |", "|" + "---|" * len(speed)]
    return "\n".join([*lines, "| " + " | ".join(f"{round(value, -2):,.0f}" for value in speed.values()) + " |"])


def weakest_signal(training: pl.DataFrame) -> str:
    """The dimensions that the training outfits say least about."""
    lost = training.with_columns((pl.col("styled") - pl.col("changed")).alias("lost")).sort("lost")
    first, second = lost["dimension"][0], lost["dimension"][1]
    return f"A changed item costs least in {first} and {second}: outfits teach least about these."


def targeted_table(targeted: TargetedDataResult) -> str:
    """The three trainings on the weakest dimension, as a whole and by sub-dimension."""
    mine = targeted.scores.filter(pl.col("score").is_in(["index", "sub-index"]))
    mine = mine.filter(pl.col("dimension") == targeted.weak_dimension)
    about = [(row["sub_dimension"], row["n_questions"], row["chance"]) for row in
             mine.filter(pl.col("model") == targeted.names[0]).iter_rows(named=True)]  # fmt: skip
    heads = [f"{sub or targeted.weak_dimension} ({n})" for sub, n, _ in about]
    lines = ["| training | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    words = ("the first", f"with more outfits on {targeted.weak_dimension}", "with as many more without a focus")
    for name, what in zip(targeted.names, words, strict=True):
        cells = [cell(mine, name, pl.col("sub_dimension").eq_missing(pl.lit(sub))) for sub, *_ in about]
        lines.append(f"| {what} ({name}) | " + " | ".join(cells) + " |")
    lines.append("| *chance* | " + " | ".join(f"*{100 * chance:.0f}*" for *_, chance in about) + " |")
    return "\n".join(lines)


def table_of(scores: pl.DataFrame, columns: Sequence[str]) -> str:
    """One row per model, shares in percent with their intervals."""
    n = {name: scores.filter(pl.col("score") == name)["n_questions"][0] for name in columns}
    chance = {name: scores.filter(pl.col("score") == name)["chance"][0] for name in columns}
    lines = ["| model | " + " | ".join(f"{name} (n = {n[name]})" for name in columns) + " |"]
    lines.append("|---|" + "---|" * len(columns))
    for model in scores["model"].unique(maintain_order=True):
        cells = [cell(scores, model, pl.col("score") == name, digits=1) for name in columns]
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


def cell(scores: pl.DataFrame, model: str, which: pl.Expr, digits: int = 0) -> str:
    row = scores.filter((pl.col("model") == model) & which).row(0, named=True)
    value, low, high = (f"{100 * row[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


def verdict(scores: pl.DataFrame) -> str:
    """Which trained models lie above both baselines with intervals that do not touch."""
    full = {short(model): model for model in scores["model"].unique(maintain_order=True)}
    lines = []
    for name in ("LATs", "AATs", BESIDE_COLOR):
        measured = {kind: of_score(scores, full[kind], name) for kind in ("random", "mean-cosine", *KINDS)}
        bar = max(measured[base][2] for base in ("random", "mean-cosine"))
        above = {kind: 100 * (measured[kind][1] - bar) for kind in KINDS if measured[kind][1] > bar}
        least = min(above, key=lambda kind: above[kind], default="")
        listed = f" ({', '.join(above)}); least {least}, by {above[least]:.1f} points" if above else ""
        lines.append(f"- {name}: {len(above)} of {len(KINDS)}{listed}")
    alone = [f"{name} {clear_in(scores, full, name)}" for name in DIMENSIONS]
    return "\n".join([*lines, f"- one dimension alone: {', '.join(alone)}"])


def clear_in(scores: pl.DataFrame, full: Mapping[str, str], dimension: str) -> int:
    """How many trained models lie above both baselines in one dimension."""
    index = scores.filter(score="index", dimension=dimension)
    ends = {row["model"]: (row["low"], row["high"]) for row in index.iter_rows(named=True)}
    bar = max(ends[full[base]][1] for base in ("random", "mean-cosine"))
    return sum(ends[full[kind]][0] > bar for kind in KINDS)


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
    return share, *wilson_interval(share, n)


def blind_verdict(blind: pl.DataFrame) -> str:
    """Per model: color against chance, and the other five dimensions together."""
    index = blind.filter(pl.col("score") == "index")
    lines = []
    for model in index["model"].unique(maintain_order=True):
        mine = index.filter(pl.col("model") == model)
        color = mine.filter(pl.col("dimension") == "color").row(0, named=True)
        n = int(mine.filter(pl.col("dimension") != "color")["n_questions"].sum())
        share, low, high = beside_color(blind, model)
        relation = (
            "not significantly different from"
            if color["low"] <= color["chance"] <= color["high"]
            else "significantly different from"
        )
        lines.append(
            f"- {model}: color {100 * color['value']:.0f} %, {relation} chance ({100 * color['chance']:.0f} %); "
            f"the other five together {100 * share:.0f} % ({100 * low:.0f}–{100 * high:.0f}, n = {n})"
        )
    return "\n".join(lines)


def significant_differences(targeted: TargetedDataResult) -> str:
    """The differences on the weak dimension, with p after Holm."""
    mine = targeted.differences.filter(pl.col("dimension") == targeted.weak_dimension)
    lines = []
    for row in mine.iter_rows(named=True):
        gained = 0.0 - 100 * row["difference"]
        lines.append(
            f"- {row['model_b']} minus {row['model_a']}: {gained:+.1f} points on {targeted.weak_dimension} "
            f"(n = {row['n_questions']}, p = {row['p_holm']:.3f} after Holm)"
        )
    significant = [
        f"{row['model_b']} and {row['model_a']}" for row in mine.filter(pl.col("significant")).iter_rows(named=True)
    ]
    if significant:
        lines += ["", f"Significant: {'; '.join(significant)}."]
    else:
        lines += ["", "None of these differences is significant."]
    return "\n".join(lines)
