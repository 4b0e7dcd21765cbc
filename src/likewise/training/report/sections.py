"""The sections that training adds to the report: what training effects, and who learned from people."""

import polars as pl

from likewise.chain import digest_of, table_digest
from likewise.report.page import render
from likewise.report.sections import Section, SectionContext
from likewise.training.perceptual.summary import PerceptualSummary
from likewise.training.report.learned_encoders import learned_encoders
from likewise.training.report.training_effects import training_effects
from likewise.training.runs import read_run_table
from likewise.workspace import WorkspaceFolder, read_json, read_parquet

PACKAGE = "likewise.training.report"


def write_trained(context: SectionContext) -> str:
    """Every trained network beside the one it comes from, by results/trained.parquet of `likewise evaluate`."""
    path = context.workspace.results_folder / "trained.parquet"
    table = read_parquet(path, f"likewise evaluate {context.workspace.quoted}") if path.exists() else None
    effects = training_effects(table)
    if not effects:
        return ""
    plot = None
    if effects.arrows:
        from likewise.training.report.arrows import trained_plot

        plot = trained_plot(effects.arrows, context.styles, effects.measures["identification"])
    return render("trained.html", PACKAGE, trained=effects, trained_plot=plot, marks=context.marks)


def write_learned(context: SectionContext) -> str:
    """Every encoder of `likewise train perceptual`, on answers it has not seen."""
    runs = perceptual_runs(context.workspace)
    return render("learned.html", PACKAGE, learned=learned_encoders(runs)) if runs else ""


def perceptual_runs(workspace: WorkspaceFolder) -> dict[str, tuple[pl.DataFrame, PerceptualSummary]]:
    """Results and summary of every finished `likewise train perceptual`, by the name of the run."""
    found = {}
    for path in sorted((workspace.path / "runs").glob("*/encoder.json")):
        written = read_json(path)
        if written["about"].get("learned_from") in ("labels", "triplets"):
            results = read_run_table(path.with_name("results.parquet"), "likewise train perceptual --force")
            found[path.parent.name] = results, PerceptualSummary.from_dict(written["about"])
    return found


def learned_digest(workspace: WorkspaceFolder) -> str:
    """Of every finished run that learned from people."""
    runs = perceptual_runs(workspace)
    return digest_of({name: [table_digest(table), summary.to_dict()] for name, (table, summary) in runs.items()})


TRAINED = Section(after="identification", write=write_trained)
LEARNED = Section(after="identification", write=write_learned, rests_on=learned_digest)
