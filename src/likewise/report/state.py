"""The page as the last part of the chain: `meta` tags note digests of the results that it shows and of itself."""

import re

from likewise.chain import ChainPart, digest_of, table_digest
from likewise.evaluation.budget import budget_file
from likewise.evaluation.stored import results_digest
from likewise.report.sections import sections_digest
from likewise.workspace import WorkspaceFolder, read_parquet

REPORT = "report"
META = re.compile(r'<meta name="likewise-results" content="([0-9a-f]*)">')
SEAL = re.compile(r'<meta name="likewise-page" content="([0-9a-f]*)">')
UNSEALED = '<meta name="likewise-page" content="">'


def report_basis(workspace: WorkspaceFolder) -> str:
    """Of everything that the page shows: the results, the budget, and what extensions add."""
    budget = budget_file(workspace)
    planned = table_digest(read_parquet(budget, f"likewise plan labels {workspace.quoted}")) if budget.exists() else ""
    return digest_of([results_digest(workspace), planned, sections_digest(workspace)])


def report_part(workspace: WorkspaceFolder, results: ChainPart) -> ChainPart:
    """Whether the page shows the results of now."""
    make = f"likewise report {workspace.quoted}"
    if not workspace.report_file.exists():
        return ChainPart(REPORT, "missing", why="does not exist yet", command=make, automatic=True)
    holds = str(workspace.report_file)
    if results.state != "current":
        why = f"the results are {results.state}"
        return ChainPart(REPORT, "stale", holds, why, make, automatic=True)
    page = workspace.report_file.read_text(encoding="utf-8")
    noted = META.search(page)
    if not _is_sealed(page):
        return ChainPart(REPORT, "stale", holds, "it was changed by hand", make, automatic=True)
    if noted is None or noted[1] != report_basis(workspace):
        return ChainPart(REPORT, "stale", holds, "it shows other results than those of now", make, automatic=True)
    return ChainPart(REPORT, "current", holds)


def seal_page(page: str) -> str:
    """The page with a digest of itself, so that it is noticed when somebody changes it."""
    return page.replace(UNSEALED, UNSEALED.replace('""', f'"{digest_of(page)}"'), 1)


def _is_sealed(page: str) -> bool:
    found = SEAL.search(page)
    return found is not None and digest_of(page.replace(found[0], UNSEALED, 1)) == found[1]
