"""Puts the page together: tables in, one HTML file out that opens without a network; the same bytes every time."""

from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from likewise.discovery.pool import pool_pairs
from likewise.evaluation.different_generators import no_rank_note
from likewise.evaluation.measures import AP, ROC_AUC
from likewise.evaluation.measures.base import AreaMeasure
from likewise.evaluation.ranking import measure_is
from likewise.progress import ProgressCallback
from likewise.report import headline, provenance
from likewise.report.catalog_board import EDS_NOTE, CatalogBoard, catalog_board, catalog_notes, catalog_verdict
from likewise.report.cost import best_sets, budget_faithfulness, locate_pool
from likewise.report.differences import against_best, not_significantly_worse, places_of
from likewise.report.gallery import KINDS, choose_queries, mistake_cards, query_cards
from likewise.report.leaderboard import leaderboard
from likewise.report.over_time import over_time
from likewise.report.page import render
from likewise.report.plots.curves import Styles
from likewise.report.plots.palette import DASHES, MODEL_LIGHT, model_styles
from likewise.report.plots.ranges import PlotRange
from likewise.report.protocols import ProtocolSections, protocol_plots, protocol_sections
from likewise.report.script import commands_to_reproduce
from likewise.report.sections import PARTS, SectionContext, added_sections
from likewise.report.state import report_basis, seal_page
from likewise.report.tables import Tables, read_tables
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import WorkspaceFolder, write_text

PAGE_STEPS = 100  # drawing the plots takes about as long as so many thumbnails


def write_report(workspace: WorkspaceFolder, on_progress: ProgressCallback | None = None) -> Path:
    """Write report/index.html from what is in the workspace and return its path."""
    tables = read_tables(workspace)
    name = workspace.path.resolve().name
    board = leaderboard(tables.results)
    thumbnails = EmbeddedThumbnails(workspace.root, tables.catalog)
    seed = int(tables.pool_settings.get("seed", 0))
    queries = query_cards(tables.pool, tables.labels, choose_queries(tables.pool, tables.catalog, seed), thumbnails)
    encoders = [model.encoder for model in board.models]
    mistakes = mistake_cards(tables.mistakes, tables.labels, encoders, thumbnails)
    differences, whole = against_best(tables.differences, board), _whole_catalog(tables)
    no_rank, facts = no_rank_note(tables.summary.pool.n_different), tables.summary.catalog
    drawn = tables.pool_settings.get("design", "eds") != "eds"
    verdict = headline.headline_verdict(board, differences, name, no_rank)
    if whole is not None:
        verdict = catalog_verdict(whole, tables.whole_catalog_differences)
    sections = protocol_sections(tables, board, thumbnails)
    styles = model_styles({*encoders, *tables.generators["generator"]})
    marks = {name: (MODEL_LIGHT.index(colour), DASHES.index(dash)) for name, (colour, dash) in styles.items()}
    added = added_sections(SectionContext(workspace, tables, thumbnails, styles, marks))
    n_steps = thumbnails.n_images + PAGE_STEPS
    thumbnails.embed(lambda _, done, __: on_progress("drawing", done, n_steps) if on_progress else None)
    page = render(
        "page.html",
        name=name,
        rests_on=report_basis(workspace),
        summary=tables.summary,
        board=board,
        verdict=verdict,
        whole=whole,
        whole_notes=[] if facts is None else catalog_notes(facts),
        eds_note="" if drawn else EDS_NOTE,
        drawn=drawn,
        differences=differences,
        alike=[] if no_rank else not_significantly_worse(board, differences),
        places={} if no_rank else places_of(tables.differences, board),
        no_rank=no_rank,
        basis=headline.headline_basis(board, tables.summary),
        found=headline.truth_sentence(tables.summary.truth),
        facts=headline.key_facts(tables.summary),
        left_out=headline.exclusion_notes(board, tables.summary, tables.settings, thumbnails.n_missing),
        generators=tables.generators.to_dicts(),
        overlap=_overlap(tables.overlap),
        thumbnails=thumbnails,
        queries=queries,
        mistakes=mistakes,
        kinds=KINDS,
        commands=commands_to_reproduce(tables, name),
        settings=provenance.settings_table(tables),
        over_time=over_time(workspace, styles),
        meanings=provenance.MEASURE_DESCRIPTIONS | provenance.OTHER_DESCRIPTIONS,
        rules=headline.RULES,
        marks=marks,
        parts=PARTS,
        added=added,
        **vars(sections),
        headline_of=headline.main_ranges(board, whole)[0],
        headline_plot=_headline_plot(*headline.main_ranges(board, whole), styles),
        **_plots(tables, sections, styles),
    )
    write_text(seal_page(page), workspace.report_file)
    if on_progress:
        on_progress("drawing", n_steps, n_steps)
    return workspace.report_file


def _whole_catalog(tables: Tables) -> CatalogBoard | None:
    if tables.whole_catalog is None:
        return None
    return catalog_board(tables.whole_catalog, tables.whole_catalog_differences)


def _overlap(overlap: pl.DataFrame) -> dict[str, Any]:
    """Table 2 as rows of cells; empty for a single generator."""
    names = overlap["generator"].unique().sort().to_list()
    cells = {(row["generator"], row["generator_b"]): row for row in overlap.iter_rows(named=True)}
    shares = overlap["share"].to_list()
    return {
        "names": names,
        "cells": cells,
        "largest": max(shares, default=0.0) or 1.0,
        "mean": sum(shares) / len(shares) if shares else None,
    }


def _headline_plot(what: str, ranges: list[PlotRange], styles: Styles) -> Markup | None:
    from likewise.report.plots.ranges import range_plot

    return range_plot("headline", ranges, styles, what) if ranges else None


def _plots(tables: Tables, sections: ProtocolSections, styles: Styles) -> dict[str, Any]:
    """Everything matplotlib draws; None where there is nothing to draw."""
    from likewise.report.plots import budget as budget_plots
    from likewise.report.plots import curves as curve_plots

    drawn: dict[str, Any] = dict.fromkeys(("roc", "pr", "yield_plot", "spearman", "recall", "sets"))
    drawn["budget_made"] = tables.budget is not None
    if len(tables.curves):
        share = tables.summary.prevalence.p_pool
        drawn["roc"] = curve_plots.roc_plot(tables.curves, _micro_areas(tables, ROC_AUC), styles)
        drawn["pr"] = curve_plots.pr_plot(tables.curves, _micro_areas(tables, AP), styles, share)
    if tables.budget is not None:
        pool = tables.summary.pool
        drawn["sets"] = sets = best_sets(tables.budget, pool.k)
        if sets:
            here = locate_pool(tables.budget, pool.k, pool_pairs(tables.pool).height)
            drawn["yield_plot"] = budget_plots.yield_plot(sets.lines, here)
        faithful = budget_faithfulness(tables.budget)
        if faithful is not None:
            drawn["recall"] = budget_plots.recall_plot(faithful)
            if faithful["spearman"].null_count() < len(faithful):
                drawn["spearman"] = budget_plots.spearman_plot(faithful)
    return drawn | protocol_plots(sections, styles)


def _micro_areas(tables: Tables, area: AreaMeasure) -> dict[str, float | None]:
    """The area under each curve; curves are drawn over all pairs, so it is the micro one."""
    drawn = tables.curves["encoder"].unique().to_list()
    rows = tables.results.filter(measure_is(area(average="micro")) & pl.col("encoder").is_in(drawn))
    return dict(rows.select("encoder", "value").iter_rows())
