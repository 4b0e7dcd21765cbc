"""The card that travels with a trained encoder: what it is, what it was trained on, what it can do, what it cannot."""

import polars as pl

from likewise import __version__
from likewise.evaluation.hub.card_head import Value, card_head
from likewise.report.formatting import interval, p_value, percent, points
from likewise.training.summary import CheckSummary, DiscoveryScore


def model_card(summary: CheckSummary, accuracy: pl.DataFrame) -> str:
    """Markdown; every number with its interval and count."""
    plan, method, made = summary.plan, summary.methods[summary.winner or ""], summary.encoder_made
    assert method.best is not None and method.best.map_at_r is not None and made is not None
    best = ", ".join(f"{name} {value:.4g}" for name, value in method.best.params.items()) or "none"
    tested = accuracy.filter(pl.col("method") == summary.winner)
    lines = [
        card_head(_head(summary, tested)),
        f"# {method.title} on {summary.workspace}",
        "",
        f"An image encoder of {made.dim} dimensions: {plan.n_folds} models of {plan.dim} side by "
        f"side, each trained on three quarters of the training classes. Chosen among {len(summary.methods)} methods "
        f"by validation MAP@R ({100 * method.best.map_at_r:.1f} %), not by the test.",
        "",
        f"- Use: `likewise encode WORKSPACE --with {made.spec}`"
        + ("" if made.no_onnx_because else ", or `encoder/model.onnx` with its preparation beside it"),
        f"- Trunk: {summary.encoder} ({summary.trunk}); the paper's was {summary.papers_trunk}",
        f"- Classes: column `{summary.column}`, {summary.n_classes:,} of them on {summary.n_images:,} images; "
        f"the first half trained and validated, the second half ({summary.n_test_classes:,}) tested",
        f"- Loss: {method.title}; hyper-parameters: {best} ({method.n_trials} trials, {method.n_failed} failed)",
        f"- Optimiser: RMSprop, learning rate {plan.lr:g}, weight decay {plan.weight_decay:g}, at most "
        f"{plan.max_steps:,} steps of {plan.batch} images, best checkpoint by validation",
        "",
        "| on test classes | embedding | value (%) | half of the 95 % interval of reruns | queries |",
        "|---|---|---|---|---|",
    ]
    for row in tested.iter_rows(named=True):
        interval = "one run" if row["low"] is None else f"± {50 * (row['high'] - row['low']):.1f}"
        lines.append(
            f"| {row['measure']} | {row['embedding']} | {100 * row['value']:.1f} | {interval} "
            f"({row['n_reruns']} reruns) | {row['n_queries']:,} of {row['n_queries_total']:,} |"
        )
    lines += ["", *discovery_table(summary), ""]
    lines += [
        "Not shown: behaviour on images unlike these, and what people find similar beyond the classes of that column.",
        "",
        f"Made by likewise {__version__} (`likewise train check`), run `{summary.run}`.",
    ]
    return "\n".join(lines) + "\n"


def _head(summary: CheckSummary, tested: pl.DataFrame) -> dict[str, Value]:
    """What a model hub reads: kind, tags, and the test's values."""
    measured: list[Value] = [
        {"type": str(row["measure"]), "value": float(row["value"]), "name": f"{row['measure']} ({row['embedding']})"}
        for row in tested.iter_rows(named=True)
    ]
    task: Value = {"type": "image-feature-extraction"}
    dataset: Value = {"name": summary.workspace, "type": "custom", "split": "test classes"}
    results: list[Value] = [{"task": task, "dataset": dataset, "metrics": measured}]
    return {
        "library_name": "likewise",
        "pipeline_tag": "image-feature-extraction",
        "tags": ["visual-similarity", "metric-learning", "likewise"],
        "model-index": [{"name": summary.run, "results": results}],
    }


def discovery_table(summary: CheckSummary) -> list[str]:
    """What experts' labels say, where there are some."""
    if not summary.discovery:
        return ["Discovery: no labels of experts in the workspace, so it was not measured."]
    lines = [
        "| discovery, gallery ROC-AUC | queries | reruns | value (%) | 95 % interval | own lead | 95 % interval | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in summary.discovery:
        lead = ("", "", "") if row.lead is None else (points(row.lead), *_lead_ends(row))
        cells = (percent(row.value), interval(row.low, row.high), *lead)
        lines.append(f"| {row.encoder} | {row.queries} ({row.n_queries}) | {row.n_reruns} | {' | '.join(cells)} |")
    basis = (
        "Candidates labelled similar against candidates of the gallery; intervals over queries and, for this encoder, "
        "over reruns; p after Holm's correction."
    )
    return [*lines, "", basis]


def _lead_ends(row: DiscoveryScore) -> tuple[str, str]:
    return interval(row.lead_low, row.lead_high, signed=True), p_value(row.p_holm)
