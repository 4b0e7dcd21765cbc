"""Agreement with people on triplets: hand counts, ties on both sides, and files whose order cannot be mistaken."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.evaluation.triplet_file import TRIPLET_SCHEMA, read_triplets, sum_votes
from likewise.evaluation.triplets import (
    AGREEMENT_SCHEMA,
    CEILING,
    MAJORITY,
    VOTES,
    MeanItemVectors,
    mean_item_vectors,
    triplet_agreement,
    triplet_agreement_table,
)


def triplets(*rows: tuple[str, str, str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TRIPLET_SCHEMA, orient="row")


def at_angles(**degrees: float) -> MeanItemVectors:
    angles = np.radians(list(degrees.values()))
    return mean_item_vectors(np.stack([np.cos(angles), np.sin(angles)], axis=1), list(degrees))


def test_hand_counted() -> None:
    items = at_angles(a=0, b=10, c=50, d=-50)
    answers = triplets(
        ("a", "b", "c", 3, 1),  # the model agrees
        ("a", "c", "b", 4, 0),  # it does not
        ("a", "c", "d", 5, 2),  # it cannot tell
        ("b", "a", "d", 2, 2),  # people cannot tell
        ("b", "d", "a", 1, 2),  # written the wrong way round: the majority says a
    )
    measured = triplet_agreement(answers, items)
    assert measured.value(MAJORITY) == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert measured.value(VOTES) == pytest.approx((3 + 0 + 3.5 + 2 + 2) / 22)
    assert measured.value(CEILING) == pytest.approx((3 + 4 + 5 + 2 + 2) / 22)
    assert (measured.n_vote_ties, measured.n_without_vectors) == (1, 0)
    assert sorted(measured.choice.tolist()) == [0.0, 0.0, 0.5, 1.0, 1.0]


@given(st.integers(0, 10_000))
@settings(max_examples=60)
def test_equals_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"item {number}" for number in range(8)]
    base = rng.integers(-1, 2, (8, 3)) + np.array([0.0, 0.0, 2.0])  # few directions, so that ties occur
    items = mean_item_vectors(base, names)
    rows = [
        (*(names[i] for i in rng.permutation(8)[:3]), int(rng.integers(0, 4)), int(rng.integers(0, 4)))
        for _ in range(30)
    ]
    answers = triplets(*rows)
    measured = triplet_agreement(answers, items)
    sides, weights, shares = [], 0, 0.0
    vector = dict(zip(items.items, items.vectors.astype(np.float64), strict=True))
    for anchor, close, far, votes_close, votes_far in rows:
        gap = vector[anchor] @ vector[close] - vector[anchor] @ vector[far]
        choice = 0.5 if abs(gap) < 1e-7 else float(gap > 0)
        if votes_close != votes_far:
            sides.append(choice if votes_close > votes_far else 1 - choice)
        weights += votes_close + votes_far
        shares += votes_close * choice + votes_far * (1 - choice)
    assert measured.value(MAJORITY) == pytest.approx(np.mean(sides))
    assert measured.value(VOTES) == pytest.approx(shares / weights)


def test_identities(rng: np.random.Generator) -> None:
    names = [f"item {number}" for number in range(12)]
    items = mean_item_vectors(rng.standard_normal((12, 4)), names)
    rows = [(*(names[i] for i in rng.permutation(12)[:3]), int(rng.integers(1, 5)), 0) for _ in range(80)]
    answers = sum_votes(triplets(*rows))
    value = triplet_agreement(answers, items).value()
    opposite = answers.rename({"close": "far", "far": "close"})
    assert triplet_agreement(opposite, items).value() == pytest.approx(1 - value)
    renamed = MeanItemVectors([name.replace("item", "thing") for name in items.items], items.vectors)
    as_things = answers.with_columns(pl.col("anchor", "close", "far").str.replace("item", "thing"))
    assert triplet_agreement(as_things, renamed).value() == pytest.approx(value)
    twice = sum_votes(pl.concat([answers, answers]))
    assert triplet_agreement(twice, items).value() == pytest.approx(value)
    blind = MeanItemVectors(items.items, np.ones_like(items.vectors))
    assert triplet_agreement(answers, blind).value() == 0.5
    assert (triplet_agreement(answers, blind).choice == 0.5).all()


def test_an_item_of_several_images_is_their_mean() -> None:
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
    items = mean_item_vectors(vectors, ["b", "b", "a"])
    assert items.items == ["a", "b"]
    np.testing.assert_allclose(items.vectors, [[1, 0], [np.sqrt(0.5), np.sqrt(0.5)]], rtol=1e-6)


def test_unknown_items_are_left_out_and_counted() -> None:
    items = at_angles(a=0, b=10, c=50)
    answers = triplets(("a", "b", "c", 3, 0), ("a", "b", "zebra", 3, 0), ("zebra", "a", "b", 1, 1))
    measured = triplet_agreement(answers, items)
    assert (measured.n_triplets_total, measured.n_without_vectors, measured.n_vote_ties) == (3, 2, 0)
    table = triplet_agreement_table({"m": measured})
    assert table.schema == AGREEMENT_SCHEMA
    row = table.row(0, named=True)
    assert (row["n_queries"], row["n_queries_total"], row["n_triplets"], row["n_triplets_total"]) == (1, 2, 1, 3)
    with pytest.raises(LikewiseError, match="none of the 3 triplets is about items that have vectors"):
        triplet_agreement(answers, at_angles(x=0, y=1))


def test_intervals_are_over_anchors_not_triplets(rng: np.random.Generator) -> None:
    """Anchors the model gets all right or all wrong: many triplets do not make the interval narrow."""
    degrees = {f"anchor {n}": 0.0 for n in range(20)} | {"near": 10.0} | {f"away {n:02}": 40.0 + n for n in range(30)}
    rows = [
        (f"anchor {n}", *(("near", f"away {m:02}") if n % 2 else (f"away {m:02}", "near")), 3, 0)
        for n in range(20)
        for m in range(30)
    ]
    table = triplet_agreement_table({"m": triplet_agreement(triplets(*rows), at_angles(**degrees))})
    low, high = table.row(0, named=True)["low"], table.row(0, named=True)["high"]
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.25 / 20), rel=0.2)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_order_is_stated_and_checked(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", "split,reference,chosen,other,votes_chosen,votes_other\ntest,a,b,c,3,1\n")
    expected = [("a", "b", "c", 3, 1)]
    assert read_triplets(file, "anchor close far").rows() == expected
    with pytest.raises(LikewiseError, match="reads as 'anchor close far', but the stated order is 'anchor far close'"):
        read_triplets(file, "anchor far close")
    turned = write(tmp_path / "u.csv", "anchor;negative;positive\na;c;b\na;c;b\na;b;c\n")
    assert read_triplets(turned, "anchor far close").rows() == [("a", "b", "c", 2, 1)]  # raw answers are added up
    nameless = write(tmp_path / "v.csv", "first\tsecond\tthird\na\tc\tb\n")
    with pytest.raises(LikewiseError, match="does not say which three columns are the anchor, far, close"):
        read_triplets(nameless, "anchor far close")
    found = read_triplets(nameless, "anchor far close", columns=("first", "second", "third"))
    assert found.rows() == [("a", "b", "c", 1, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anchor,close,far\na,b,b\n", "row 2 has the same item twice"),
        ("anchor,close,far\na,b,c\na,,c\n", "row 3 has an empty name"),
        ("anchor,close,far,votes_close,votes_far\na,b,c,x,1\n", "row 2 has a vote count that is not a whole number"),
        ("anchor,close,far,votes_close,votes_far\na,b,c,3,-1\n", "row 2 has a vote count below 0"),
        ("anchor,close,far,votes_close\na,b,c,3\n", "no column votes_far"),
        ("anchor,close,far,vote_a,vote_b\na,b,c,3,1\n", "vote counts are expected as votes_close and votes_far"),
        ("anchor,close,far\n", "holds no triplets"),
        ("", "cannot be read"),
        ("anchor,close\na,b\n", "does not say which three columns"),
    ],
)
def test_bad_files_are_said_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LikewiseError, match=message):
        read_triplets(write(tmp_path / "t.csv", text), "anchor close far")


def test_other_mistakes(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="does not exist"):
        read_triplets(tmp_path / "t.csv", "anchor close far")
    with pytest.raises(LikewiseError, match="must name anchor, close and far once each"):
        read_triplets(tmp_path / "t.csv", "anchor close")
    with pytest.raises(LikewiseError, match="2 vectors but 1 item names"):
        mean_item_vectors(np.eye(2), ["a"])


def test_rows_with_a_value_and_rows_without_it_are_all_rows(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("split,anchor,close,far\ntrain,a,b,c\n test ,a,c,d\n,b,c,d\n", encoding="utf-8")
    kept, held = (read_triplets(file, "anchor close far", **{way: "split=test"}) for way in ("without", "only"))
    assert kept.rows() == [("a", "b", "c", 1, 0), ("b", "c", "d", 1, 0)]
    assert held.rows() == [("a", "c", "d", 1, 0)]
    with pytest.raises(LikewiseError, match="no rows with 'part=test': write COLUMN=VALUE with one of split, anchor"):
        read_triplets(file, "anchor close far", only="part=test")
    with pytest.raises(LikewiseError, match="no rows with 'split=tset': check the spelling"):
        read_triplets(file, "anchor close far", only="split=tset")
