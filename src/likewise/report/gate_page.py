"""A gate on one self-contained page: the verdict, every category, and the queries whose results change most."""

from pathlib import Path

from likewise.catalog import read_catalog
from likewise.evaluation.gate.result import GateResult, ListedResult, QueryChange, points_text
from likewise.files import written_together
from likewise.progress import ProgressCallback
from likewise.report.gate_junit import junit_xml
from likewise.report.page import render
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import WorkspaceFolder, write_json, write_parquet, write_text

PAGE, JUNIT, JSON, PAIRS = "index.html", "junit.xml", "gate.json", "pairs.parquet"
VERDICTS = {1: "similar", 0: "not-similar", None: "unlabelled"}
DIRECTIONS = {"better": "better", "worse": "worse", "equal": "no difference by the labels", "open": "labels missing"}


def write_gate(
    workspace: WorkspaceFolder, result: GateResult, folder: Path, on_progress: ProgressCallback | None = None
) -> Path:
    """Write the page, JUnit XML, JSON and the pairs to label into a folder; returns the page."""
    page = gate_page(workspace, result, folder, on_progress)
    with written_together(folder) as staged:
        write_json(result.to_dict(), staged.staging / JSON)
        write_text(junit_xml(result), staged.staging / JUNIT)
        write_parquet(result.pairs, staged.staging / PAIRS)
        write_text(page, staged.staging / PAGE)
    return folder / PAGE


def gate_page(
    workspace: WorkspaceFolder, result: GateResult, folder: Path, on_progress: ProgressCallback | None = None
) -> str:
    """The page as text."""
    catalog, name = read_catalog(workspace), workspace.path.resolve().name
    thumbnails = EmbeddedThumbnails(workspace.root, catalog)
    for change in result.changes:
        for image in (change.query, *(one.image for one in (*change.old, *change.new))):
            thumbnails.add(image)
    thumbnails.embed(on_progress)
    return render(
        "gate.html",
        name=name,
        page_title=f"Gate: {result.new} against {result.old}",
        result=result,
        overall=result.overall,
        categories=result.groups.slice(1).to_dicts(),
        thumbnails=thumbnails,
        counts=_counts(result.changes),
        label_of=_label_of,
        directions=DIRECTIONS,
        margin=points_text(result.margin),
        add_pairs=f"likewise label add-pairs {name} --pairs {folder / PAIRS}",
    )


def _label_of(one: ListedResult) -> str:
    return VERDICTS[one.label]


def _counts(changes: tuple[QueryChange, ...]) -> list[tuple[str, str, int]]:
    """How many of the queries shown went which way: (key, words, number)."""
    found = ((key, words, sum(one.direction == key for one in changes)) for key, words in DIRECTIONS.items())
    return [each for each in found if each[2]]
