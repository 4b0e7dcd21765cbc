"""The page as the last part of the chain: it notes, in a `meta` tag, a digest of the results that it shows."""

import re

from likewise.chain import ChainPart, digest_of, table_digest
from likewise.evaluation.stored import results_digest
from likewise.report.sections import sections_digest
from likewise.workspace import WorkspaceFolder, read_parquet

REPORT = "report"
META = re.compile(r'<meta name="likewise-results" content="([0-9a-f]*)">')
HEAD_BYTES = 4096


def report_basis(workspace: WorkspaceFolder) -> str:
    """Of everything that the page shows: the results, the budget, and what extensions add."""
    budget = workspace.results_folder / "budget.parquet"
    planned = table_digest(read_parquet(budget, f"likewise plan labels {workspace.path}")) if budget.exists() else ""
    return digest_of([results_digest(workspace), planned, sections_digest(workspace)])


def report_part(workspace: WorkspaceFolder, results: ChainPart) -> ChainPart:
    """Whether the page shows the results of now."""
    make = f"likewise report {workspace.path}"
    if not workspace.report_file.exists():
        return ChainPart(REPORT, "missing", why="does not exist yet", command=make, automatic=True)
    holds = str(workspace.report_file)
    if results.state != "current":
        why = f"the results are {results.state}"
        return ChainPart(REPORT, "stale", holds, why, make, automatic=True)
    with workspace.report_file.open(encoding="utf-8") as page:
        noted = META.search(page.read(HEAD_BYTES))
    if noted is None or noted[1] != report_basis(workspace):
        return ChainPart(REPORT, "stale", holds, "it shows other results than those of now", make, automatic=True)
    return ChainPart(REPORT, "current", holds)
