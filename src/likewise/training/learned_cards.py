"""Cards of encoders that learned from people or from a catalog: for model hubs, and what a person should know."""

import polars as pl

from likewise import __version__
from likewise.evaluation.hub.card_head import Value, card_head
from likewise.report.formatting import interval, p_value, percent, points
from likewise.training.finetune.summary import FinetuneSummary
from likewise.training.perceptual.summary import PerceptualSummary

HELD_OUT = {
    "answers": "other answers to the same queries",
    "queries": "queries that were never trained on",
    "items": "items that no training answer names",
    "given test": "the given test answers",
}


def perceptual_card(name: str, workspace: str, summary: PerceptualSummary, results: pl.DataFrame) -> str:
    """Markdown; its table holds this encoder and every other one, on answers that it has not seen."""
    own = results.filter(pl.col("encoder") == name)
    metrics: list[Value] = [
        {"type": str(row["measure"]), "value": float(row["value"]), "name": f"{row['measure']}, unseen {row['unseen']}"}
        for row in own.iter_rows(named=True)
        if row["value"] is not None
    ]
    lines = [
        _head(name, workspace, f"held-out answers of people ({summary.learned_from})", metrics),
        f"# {name}: learned from people on {workspace}",
        "",
        f"An image encoder over {', '.join(summary.bases)}, learned from {summary.n_answers:,} answers "
        f"({summary.n_votes:,} votes) about {summary.n_items:,} items; chosen by cross-validation: {summary.chosen}.",
        "",
        f"- Use: `likewise encode WORKSPACE --with run:{name}`",
        f"- Its probabilities are off by {100 * summary.calibration.expected_error:.1f} points on average, on "
        f"{summary.calibration.n_votes:,} votes that no model had seen",
        "",
        "| unseen | encoder | measure | value (%) | 95 % interval | gain of this encoder | 95 % interval | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in results.iter_rows(named=True):
        gain = (
            ("", "", "")
            if row["p_holm"] is None
            else (points(row["gain"]), interval(row["gain_low"], row["gain_high"], signed=True), p_value(row["p_holm"]))
        )
        cells = (percent(row["value"]), interval(row["low"], row["high"]), *gain)
        held_out = HELD_OUT.get(row["unseen"], row["unseen"])
        lines.append(f"| {held_out} | {row['encoder']} | {row['measure']} | {' | '.join(cells)} |")
    lines += ["", "Intervals and tests over queries; p after Holm's correction.", ""]
    return "\n".join([*lines, *_end("train perceptual", "what other people find similar, and pictures unlike these")])


def finetune_card(name: str, workspace: str, summary: FinetuneSummary) -> str:
    """Markdown; a fine-tuned network is measured by `likewise evaluate`, so its card has the loss alone."""
    classes = ", ".join(f"{count:,} of `{column}`" for column, count in summary.n_classes.items()) or "no labels"
    lines = [
        _head(name, workspace, "", []),
        f"# {name}: fine-tuned on {workspace}",
        "",
        f"{summary.settings['encoder']}, trained on {summary.n_images:,} images ({classes}) for "
        f"{summary.settings['epochs']} epochs; loss {summary.loss_first:.3f} to {summary.loss_last:.3f} on the "
        "training images.",
        "",
        f"- Use: `likewise encode WORKSPACE --with run:{name}`",
        "- `likewise evaluate` and the report compare it with the network it started from, on items it has not seen.",
        "",
    ]
    return "\n".join([*lines, *_end("train finetune", "whether it finds what looks alike: encode and evaluate it")])


def _head(name: str, workspace: str, split: str, metrics: list[Value]) -> str:
    task: Value = {"type": "image-feature-extraction"}
    dataset: Value = {"name": workspace, "type": "custom", "split": split}
    measured: dict[str, Value] = {
        "model-index": [{"name": name, "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}]
    }
    fields: dict[str, Value] = {
        "library_name": "likewise",
        "pipeline_tag": "image-feature-extraction",
        "tags": ["visual-similarity", "likewise"],
    }
    return card_head(fields | (measured if metrics else {}))


def _end(command: str, not_shown: str) -> list[str]:
    return [f"Not shown: {not_shown}.", "", f"Made by likewise {__version__} (`likewise {command}`).", ""]
