"""The owner's dashboard for its page: the numbers of `labeling.dashboard`, with pictures by id instead of keys."""

from dataclasses import asdict
from typing import Any

from likewise.catalog import read_catalog
from likewise.discovery.proposals import random_pairs
from likewise.discovery.stored_pool import read_stored_pool
from likewise.errors import LikewiseError
from likewise.evaluation.ranking_stability import ranking_stability
from likewise.evaluation.stability import Stability
from likewise.evaluation.stopping.step import PAGE_ENTRIES, goal_status
from likewise.labeling.consensus import TIES
from likewise.labeling.dashboard import read_dashboard
from likewise.labeling.step import current_rule
from likewise.labeling.store.images import image_ids
from likewise.labeling.store.pairs import pair_ids
from likewise.status import WorkspaceStatus, workspace_status
from likewise.web.pages import image_links
from likewise.web.site import Site


def dashboard_context(site: Site) -> dict[str, Any]:
    """What `owner.html` shows."""
    workspace = site.settings.workspace
    images = read_catalog(workspace)["image"]
    pool = read_stored_pool(workspace)
    n_all = None if pool is None else pool.n_all_pairs
    dashboard = read_dashboard(site.engine, n_all, random_pairs(workspace), images)
    keys = [row.query for row in dashboard.per_query]
    keys += [key for pair in dashboard.divided for key in (pair.query, pair.candidate)]
    ids = image_ids(site.engine, keys)
    chain = _chain(site)
    has_labels = not any(part["name"] == "labels" and part["state"] == "missing" for part in chain["parts"])
    pairs = pair_ids(site.engine, [(pair.query, pair.candidate) for pair in dashboard.divided])
    return {
        "project": dashboard.project.name,
        "workspace": workspace.quoted,
        "can_settle": pool is None or pool.settings.design != "eds",
        "paused": dashboard.project.paused,
        "repeat_share": dashboard.project.repeat_share,
        "ties": TIES[current_rule(workspace)],
        "experts": [asdict(row) for row in dashboard.experts],
        "positives_share": dashboard.positives_share,
        "per_query": [asdict(row) | {"query": image_links(ids[row.query])} for row in dashboard.per_query],
        "agreement": asdict(dashboard.agreement),
        "divided": [
            {
                "pair": pairs[pair.query, pair.candidate],
                "query": image_links(ids[pair.query]),
                "candidate": image_links(ids[pair.candidate]),
                "votes": [{"expert": expert, "answer": answer} for expert, answer in pair.votes],
                "adjudicated": pair.adjudicated,
                "tied": pair.tied,
            }
            for pair in dashboard.divided
        ],
        "cost": asdict(dashboard.cost),
        "chain": chain,
        "stability": ranking_stability(workspace) if has_labels else Stability(_unknown(dashboard.n_votes)),
        "goal": goal_status(workspace, dashboard.cost.hours_per_label, max_entries=PAGE_ENTRIES),
        "log": dashboard.log,
    }


def _unknown(n_votes: int) -> str:
    """Why nobody can say yet whether the order would change."""
    return "Known once labels are made of the answers." if n_votes else "Known after the first answers."


def _chain(site: Site) -> dict[str, Any]:
    """Labels, results and report: whether they hold what the experts have answered, and what comes next."""
    try:
        found = workspace_status(site.settings.workspace)
    except LikewiseError as error:  # e.g. a file that cannot be read: the dashboard has other things to show
        return {"parts": [], "next": "", "problem": str(error)}
    shown = [part for part in found.parts if part.name in ("labels", "results", "report")]
    return {
        "parts": [asdict(part) for part in shown],
        "next": _next_for_owner(found, site.settings.workspace.quoted),
        "problem": "",
    }


def _next_for_owner(found: WorkspaceStatus, workspace: str) -> str:
    """What comes next for somebody who is looking at the site that the next command would start."""
    serve = f"likewise label serve {workspace}"
    if found.next.startswith(serve):
        waiting = found.coverage.n_open_pairs if found.coverage is not None else 0
        new = f" ({waiting:,} new pairs wait for a label)" if waiting else ""
        return f"invited experts answer here{new}; `likewise report {workspace}` then measures the models"
    return f"`{found.next}`" if found.next.startswith("likewise") else found.next
