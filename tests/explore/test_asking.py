"""Asking experts about pairs on which models differ: through the design of the pool, where it has a round to come."""

import polars as pl
import pytest

from likewise.discovery.step import PoolSettings, make_pool, read_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.explore.asking import ask_experts
from likewise.labeling.rounds import next_round
from likewise.labeling.step import import_votes_file
from likewise.labeling.store import open_votes
from likewise.workspace import WorkspaceFolder

QUERIES = 8


@pytest.fixture
def drawn(workspace: WorkspaceFolder) -> WorkspaceFolder:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    settings = PoolSettings(
        ("colour", "shape"), n_queries=QUERIES, design="adaptive", n_labels=48, n_rounds=2, purpose="finding"
    )
    store_pool(workspace, make_pool(workspace, settings))
    return workspace


def not_drawn(workspace: WorkspaceFolder) -> tuple[str, str]:
    """A query and an image of an item that was not drawn with it."""
    pool = read_pool(workspace)
    query = pool.query_gallery.queries[0]
    item = query.split("-")[0]
    met = {item, *(row[1].split("-")[0] for row in pool.rows.filter(query=query).select("query", "candidate").rows())}
    return query, next(image for image in pool.query_gallery.gallery if image.split("-")[0] not in met)


def answer_everything(workspace: WorkspaceFolder, pairs: list[tuple[str, str]]) -> None:
    votes = [(*pair, "anna", "similar" if pair[0][0] == pair[1][0] else "not similar") for pair in pairs]
    file = workspace.path / "votes.csv"
    pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(file)
    import_votes_file(workspace, file)


def test_a_picked_pair_joins_the_next_round_and_counts_from_then_on(drawn: WorkspaceFolder) -> None:
    pair = not_drawn(drawn)
    engine = open_votes(drawn)
    asked = ask_experts(drawn, engine, [pair])
    assert asked.joining == 1 and "1 of them joins the next round of the design" in asked.sentence
    assert "no measure" not in asked.sentence
    engine.dispose()
    first = [row[:2] for row in read_pool(drawn).rows.select("query", "candidate").rows()]
    answer_everything(drawn, [*first, pair])
    assert pair not in evaluated_labels(drawn).select("query", "candidate").rows()  # not yet: nobody drew it
    assert next_round(drawn).state == "drawn"
    rows = read_pool(drawn).rows
    taken = rows.filter(query=pair[0], candidate=pair[1])
    assert taken.select("generator", "probability", "round").rows() == [("picked", 1.0, 2)]
    assert rows["round"].value_counts().sort("round").rows() == [(1, 24), (2, 25)]  # it comes on top
    assert pair in evaluated_labels(drawn).select("query", "candidate").rows()


def test_without_a_round_to_come_the_label_judges_nobody(workspace: WorkspaceFolder) -> None:
    encode_catalog(workspace, ["colour"], workers=1)
    store_pool(workspace, make_pool(workspace, PoolSettings(("colour",), n_queries=4, design="sampled", n_labels=16)))
    engine = open_votes(workspace)
    asked = ask_experts(workspace, engine, [not_drawn(workspace)])
    assert asked.joining == 0 and "no measure of a model counts them" in asked.sentence
    with pytest.raises(LikewiseError, match="choose at least two different images"):
        ask_experts(workspace, engine, [("circle/red-0.png", "circle/red-0.png")])
    engine.dispose()
