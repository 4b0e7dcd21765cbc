"""Queues: everyone's own order, everything for everyone or fair shares, and nothing lost when pairs are added."""

from collections import Counter
from itertools import groupby

import polars as pl
import pytest
from sqlalchemy import Engine, select, text, update

from likewise.errors import LikewiseError
from likewise.labeling import add_votes, open_votes, read_votes
from likewise.labeling.store.assignment import assign_all_pairs, assign_pairs
from likewise.labeling.store.experts import invite_expert, read_experts, read_visitors, redeem_invitation, revoke_expert
from likewise.labeling.store.models import Expert, QueueEntry, Session
from likewise.labeling.store.pairs import add_pairs, pair_keys
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs

from .projects import answer_all, expert_id, give, pool_of, start


def order_of(engine: Engine, expert: int, count: int = 400) -> list[tuple[str, str]]:
    pairs = [pair.pair for pair in next_pairs(engine, expert, count)[0]]
    keys = pair_keys(engine, pairs)
    return [keys[pair] for pair in pairs]


def test_orders_are_random_per_expert_and_the_same_again(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    change_project(engine, repeat_share=0.0)
    ann, bob = start(engine, 4, 10, "ann", "bob")
    other = open_votes(f"sqlite:///{tmp_path_factory.mktemp('other')}/votes.db")
    change_project(other, repeat_share=0.0)
    start(other, 4, 10, "zoe", "ann")
    assert sorted(order_of(engine, ann)) == sorted(order_of(engine, bob))
    assert order_of(engine, ann) != order_of(engine, bob)
    assert order_of(other, expert_id(other, "ann")) == order_of(engine, ann)  # the same seed, the same order
    queries = [query for query, _ in order_of(engine, ann)]
    assert len(list(groupby(queries))) > 15  # mixed, not query after query


def test_grouped_by_query_if_the_owner_wishes(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0, grouped_by_query=True)
    ann, bob = start(engine, 6, 5, "ann", "bob")
    for expert in (ann, bob):
        assert len(list(groupby(query for query, _ in order_of(engine, expert)))) == 6
    assert order_of(engine, ann) != order_of(engine, bob)


def test_nobodys_queue_is_empty_because_somebody_else_answered(engine: Engine) -> None:
    ann, bob = start(engine, 3, 5, "ann", "bob")
    answer_all(engine, ann)
    assert next_pairs(engine, ann, 5)[0] == []
    answer_all(engine, bob)
    votes = read_votes(engine).group_by("expert").len().sort("expert").rows()
    assert votes == [("ann", 15), ("bob", 15)]


def test_shares_give_each_pair_to_as_many_experts_as_chosen(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0, experts_per_pair=2, n_shares=4)
    experts = start(engine, 20, 10, "ann", "bob", "cid", "dee")
    with engine.connect() as connection:
        per_pair = Counter(connection.scalars(select(QueueEntry.pair)))
        per_expert = Counter(connection.scalars(select(QueueEntry.expert)))
    assert set(per_pair.values()) == {2}
    assert len(per_pair) == 200
    assert set(per_expert) == set(experts)
    assert all(70 <= count <= 130 for count in per_expert.values())
    with pytest.raises(LikewiseError, match="cannot come from 4"):
        change_project(engine, experts_per_pair=5)


def test_pairs_of_a_new_generator_join_a_running_project(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    ann, bob = start(engine, 2, 4, "ann", "bob")
    answer_all(engine, ann)
    give(engine, bob, next_pairs(engine, bob, 1)[0][0].pair)
    before = read_votes(engine)
    added = add_pairs(engine, pool_of(2, 6, "shape"))
    assign_all_pairs(engine)
    assert (added.added, added.known, added.provenance_added) == (4, 8, 12)
    assert read_votes(engine).equals(before)
    assert len(next_pairs(engine, ann, 50)[0]) == 4
    assert len(next_pairs(engine, bob, 50)[0]) == 11
    with engine.connect() as connection:
        proposers = Counter(connection.scalars(text("SELECT pair FROM provenance")))
    assert sorted(Counter(proposers.values()).items()) == [(1, 4), (2, 8)]  # the first proposer is not overwritten
    again = add_pairs(engine, pool_of(2, 6, "shape"))
    assert (again.added, again.provenance_added) == (0, 0)
    assert assign_pairs(engine, ann) == 0


def test_votes_given_before_the_invitation_are_not_asked_again(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    add_pairs(engine, pool_of(1, 5))
    imported = pl.DataFrame(
        {"query": "q0.png", "candidate": ["c0.png", "c1.png"], "expert": "ann", "answer": "similar"}
    )
    add_votes(engine, imported, "import")
    invite_expert(engine, "ann")
    ann = expert_id(engine, "ann")
    pairs, progress = next_pairs(engine, ann, 10)
    assert (len(pairs), progress.answered, progress.total) == (3, 2, 5)
    more = imported.with_columns(candidate=pl.Series(["c2.png", "elsewhere.png"]))
    add_votes(engine, more, "import")
    pairs, progress = next_pairs(engine, ann, 10)
    assert (len(pairs), progress.answered, progress.total) == (2, 3, 5)


def test_nobody_is_invited_under_the_name_that_settles_doubtful_pairs(engine: Engine) -> None:
    """An adjudicator's votes settle ties and are left out of agreement: that is the owner's alone."""
    for name in ("adjudicator", " Adjudicator\t"):
        with pytest.raises(LikewiseError, match="the name under which doubtful pairs are settled: choose another"):
            invite_expert(engine, name)
    assert read_experts(engine) == []


def test_invitations_expire_are_revoked_and_replaced(engine: Engine) -> None:
    token = invite_expert(engine, "ann", days=1)
    session = redeem_invitation(engine, token)
    assert session is not None
    (who,) = read_visitors(engine, [session])
    assert who is not None
    assert (who.name, who.is_owner) == ("ann", False)
    newer = invite_expert(engine, "ann")
    assert redeem_invitation(engine, token) is None
    assert read_visitors(engine, [session]) == [None]
    session = redeem_invitation(engine, newer)
    assert session is not None
    revoke_expert(engine, "ann")
    assert redeem_invitation(engine, newer) is None
    assert read_visitors(engine, [session]) == [None]
    assert [expert.state for expert in read_experts(engine)] == ["revoked"]
    short = invite_expert(engine, "bob", days=1e-9)
    assert redeem_invitation(engine, short) is None
    session = redeem_invitation(engine, invite_expert(engine, "cleo"))
    assert session is not None
    with engine.begin() as connection:
        connection.execute(update(Expert).where(Expert.name == "cleo").values(expires="2020-01-01T00:00:00.000Z"))
    assert read_visitors(engine, [session]) == [None]  # at once, though the session itself goes on
    with engine.connect() as connection:  # what is stored cannot be used as a link
        stored = connection.execute(text("SELECT token_hash FROM experts WHERE name = 'bob'")).scalar_one()
    assert stored != short
    assert redeem_invitation(engine, stored) is None


def test_tokens_are_long_and_the_database_does_not_hold_them(engine: Engine) -> None:
    token = invite_expert(engine, "ann")
    session = redeem_invitation(engine, token)
    assert session is not None
    assert len(token) >= 32 and len(session) >= 32  # 192 bits in letters of six
    with engine.connect() as connection:
        experts = connection.execute(select(Expert.__table__)).all()
        sessions = connection.execute(select(Session.__table__)).all()
    assert not any(secret in str(row) for row in (*experts, *sessions) for secret in (token, session))


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "bell\x07"])
def test_names_that_cannot_be(engine: Engine, name: str) -> None:
    with pytest.raises(LikewiseError, match="printable characters"):
        invite_expert(engine, name)
