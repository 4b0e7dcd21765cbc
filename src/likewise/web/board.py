"""The owner's board for its page: the numbers of `labeling.board`, with pictures by id instead of keys."""

from dataclasses import asdict
from typing import Any

from likewise.labeling.board import read_board
from likewise.labeling.store.images import image_ids
from likewise.labeling.store.pairs import pair_ids
from likewise.web.pages import image_of
from likewise.web.site import Site
from likewise.web.stability import stability
from likewise.workspace import read_json


def board_of(site: Site) -> dict[str, Any]:
    """What `owner.html` shows."""
    board = read_board(site.engine, n_all_pairs(site))
    keys = [row["query"] for row in board.per_query]
    keys += [row[name] for row in board.divided for name in ("query", "candidate")]
    ids = image_ids(site.engine, keys)
    pairs = pair_ids(site.engine, [(row["query"], row["candidate"]) for row in board.divided])
    return {
        "project": board.project.name,
        "paused": board.project.paused,
        "experts": [asdict(row) for row in board.experts],
        "positives_share": board.positives_share,
        "per_query": [row | {"query": image_of(ids[row["query"]])} for row in board.per_query],
        "agreement": asdict(board.agreement),
        "divided": [
            {
                "pair": pairs[row["query"], row["candidate"]],
                "query": image_of(ids[row["query"]]),
                "candidate": image_of(ids[row["candidate"]]),
                "votes": [{"expert": expert, "answer": answer} for expert, answer in row["votes"]],
                "adjudicated": row["adjudicated"],
                "tied": row["tied"],
            }
            for row in board.divided
        ],
        "cost": asdict(board.cost),
        "stability": stability(site.settings.workspace, site.engine),
        "log": board.log,
    }


def n_all_pairs(site: Site) -> int | None:
    """How many pairs brute force would have to label, where the pool says so."""
    file = site.settings.workspace.pool_settings_file
    return int(read_json(file)["n_all_pairs"]) if file.exists() else None
