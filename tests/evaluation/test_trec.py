"""What we export, trec_eval's descendants read as we meant it; what they wrote, we measure as any model."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import polars as pl
import pytest
import pytrec_eval
from ir_measures import AP, Judged, P

from likewise.errors import LikewiseError
from likewise.evaluation.discovery import EncoderScores, score_encoder
from likewise.evaluation.exchange.run_models import (
    BY_ITEM,
    JUDGED,
    encoder_from_tag,
    evaluate_run,
    list_judged,
    list_run_candidates,
    run_tag,
)
from likewise.evaluation.exchange.trec import TrecRun, read_run, run_text, write_run
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from likewise.neighbours.scores import Floats
from tests.evaluation.label_files import write_labels_file

from .judging import result_table

N_IMAGES, N_QUERIES, DIM = 90, 12, 4


def world(seed: int) -> tuple[JudgedPairs, Floats, Floats, pl.DataFrame]:
    """Images of 45 items with odd keys; small whole-number vectors, so that many scores are equal."""
    rng = np.random.default_rng(seed)
    images = sorted(f"shop {number % 7}/im%{number:02}.png" for number in range(N_IMAGES))
    catalog = pl.DataFrame({"image": images, "item": [f"i{number // 2}" for number in range(N_IMAGES)]})
    vectors = rng.integers(-2, 3, size=(N_IMAGES, DIM)).astype(np.float32)
    queries = sorted(rng.choice(images, N_QUERIES, replace=False).tolist())
    item = dict(catalog.iter_rows())
    rows = [
        (query, candidate, int(rng.random() < 0.4))
        for query in queries
        for candidate in rng.choice(images, 30, replace=False).tolist()
        if item[query] != item[candidate]
    ]
    rows = [row for row in rows if row[0] != queries[3]] + [
        (queries[3], row[1], 0) for row in rows if row[0] == queries[3]
    ]
    labels = pl.DataFrame(rows, schema=["query", "candidate", "label"], orient="row")
    pairs = build_judged_pairs(catalog, labels, queries, images)
    place = {image: row for row, image in enumerate(images)}
    return pairs, vectors[[place[query] for query in queries]], vectors, labels


def numbers(measured: EncoderScores, pairs: JudgedPairs) -> dict[str, float]:
    table = result_table([measured], pairs, [])
    return dict(table.select("measure", "value").iter_rows())


def read_both(qrels: Path, run: Path) -> tuple[list[Any], list[Any]]:
    read_qrels: Callable[[str], Iterable[Any]] = ir_measures.read_trec_qrels
    read_lists: Callable[[str], Iterable[Any]] = ir_measures.read_trec_run
    return list(read_qrels(str(qrels))), list(read_lists(str(run)))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pytrec_eval_and_ir_measures_agree_with_us(tmp_path: Path, seed: int) -> None:
    pairs, queries, gallery, labels = world(seed)
    run, qrels = tmp_path / "m.run", tmp_path / "labels.qrels"
    write_run(list_run_candidates(pairs, queries, gallery), run, run_tag("m", BY_ITEM))
    write_labels_file(labels, qrels)
    ours = numbers(score_encoder("m", pairs, queries, gallery, 9), pairs)
    with run.open() as run_lines, qrels.open() as qrel_lines:
        theirs = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(qrel_lines), {"P_5", "ndcg_cut_5", "num_rel"}
        ).evaluate(pytrec_eval.parse_run(run_lines))
    having = [query for query in theirs.values() if query["num_rel"] > 0]  # P@k leaves the others out
    assert len(having) == N_QUERIES - 1
    assert ours["P@5"] == pytest.approx(np.mean([query["P_5"] for query in having]))
    assert ours["nDCG@5"] == pytest.approx(np.mean([query["ndcg_cut_5"] for query in having]))
    read = read_both(qrels, run)
    judged = ir_measures.calc_aggregate([Judged @ 5, Judged @ 9, P @ 9], *read)
    assert ours["Judged@5"] == pytest.approx(judged[Judged @ 5])
    assert ours["Judged@9"] == pytest.approx(judged[Judged @ 9])
    assert ours["P@9"] == pytest.approx(judged[P @ 9] * N_QUERIES / (N_QUERIES - 1))


def test_a_run_of_judged_pairs_gives_their_average_precision(tmp_path: Path, rng: np.random.Generator) -> None:
    pairs, queries, gallery, labels = world(3)
    gallery = rng.normal(size=gallery.shape).astype(np.float32)  # no ties: average precision treats them otherwise
    run, qrels = tmp_path / "m.run", tmp_path / "labels.qrels"
    write_run(list_judged(pairs, queries, gallery), run, run_tag("m", JUDGED))
    write_labels_file(labels, qrels)
    ours = numbers(score_encoder("m", pairs, queries, gallery, 9), pairs)
    read = read_both(qrels, run)
    by_query = {one.query_id: one.value for one in ir_measures.iter_calc([AP], *read)}
    no_positive = pairs.queries[3].replace("%", "%25").replace(" ", "%20")
    assert by_query.pop(no_positive) == 0.0  # ours leaves it undefined
    assert ours["AP"] == pytest.approx(np.mean(list(by_query.values())))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_read_back_is_the_model_that_wrote_it(tmp_path: Path, seed: int, rng: np.random.Generator) -> None:
    pairs, queries, gallery, _ = world(seed)
    gallery = rng.normal(size=gallery.shape).astype(np.float32)
    path = tmp_path / "m.run"
    write_run(
        list_run_candidates(pairs, queries, gallery, one_per_item=False), path, run_tag("my model", "every-image")
    )
    back = evaluate_run(read_run(path), pairs, 9)
    direct = score_encoder("my model", pairs, queries, gallery, 9)
    assert (back.measured.encoder, back.n_missing_pairs, back.n_missing_queries, back.n_outside) == (
        "my model",
        0,
        0,
        0,
    )
    np.testing.assert_array_equal(back.measured.lists, direct.lists)
    np.testing.assert_allclose(back.measured.scores, direct.scores, atol=1e-7)
    assert numbers(back.measured, pairs) == pytest.approx(numbers(direct, pairs))


def test_lists_keep_our_order_among_equal_scores(tmp_path: Path) -> None:
    pairs, queries, gallery, _ = world(5)
    path = tmp_path / "m.run"
    rows = list_run_candidates(pairs, queries, gallery)
    assert rows.group_by("query").agg(pl.col("score").n_unique() < pl.len())["score"].all()  # ties in every list
    write_run(rows, path, "m")
    back = read_run(path).rows
    assert back.select("query", "candidate", "rank").equals(rows.select("query", "candidate", "rank"))
    as_float32 = back["score"].cast(pl.Float32)
    assert back.with_columns(as_float32).group_by("query").agg(pl.col("score").is_unique().all())["score"].all()
    np.testing.assert_allclose(back["score"], rows["score"], atol=1e-5)


def test_pairs_the_run_lacks_are_counted_and_stand_last() -> None:
    pairs = JudgedPairs(
        ["p", "q"], ["a", "b", "c", "d"], np.array([10, 11]), np.arange(4),
        np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 2, 3, 0, 1]), np.array([1, 0, 1, 0, 1, 0], dtype=np.int8),
    )  # fmt: skip
    rows = [("p", "b", 0, 0.5), ("p", "a", 1, 0.4), ("p", "z", 2, 0.3), ("elsewhere", "a", 0, 1.0)]
    run = TrecRun("short", pl.DataFrame(rows, schema=["query", "candidate", "rank", "score"], orient="row"))
    found = evaluate_run(run, pairs, 3)
    assert (found.n_missing_pairs, found.n_missing_queries, found.n_outside) == (4, 1, 2)
    scores = found.measured.scores
    assert scores[:2].tolist() == [0.4, 0.5]
    assert scores[2] == scores[3] < 0.4
    assert scores[4] == scores[5]
    assert found.measured.lists.tolist() == [[1, 0, -1], [-1, -1, -1]]
    assert numbers(found.measured, pairs)["ROC_AUC"] == pytest.approx((1 / 2 * 1 / 2 + 1 / 2 * 1 / 4 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("q Q0 a 1 0.5\n", "line 1 has 5 fields"),
        ("q Q0 a 1 0.5 m\nq Q0 a 2 0.4 m\n", "lists a more than once for q"),
        ("q Q0 a 1 high m\n", "line 1: rank '1' must be a whole number and score 'high' a finite one"),
        ("q Q0 a 1 1.0 m\n\nq Q0 a 1 nan m\n", "line 3: rank '1' must be a whole number and score 'nan'"),
        ("q Q0 a 1 0.5 m\nq Q0 b 2 0.4 n\n", "holds 2 runs (m, n)"),
    ],
)
def test_what_is_wrong_with_a_run_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "m.run"
    path.write_text(text)
    with pytest.raises(LikewiseError) as caught:
        read_run(path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_about_other_images_is_refused() -> None:
    pairs, *_ = world(0)
    run = TrecRun("m", pl.DataFrame({"query": ["x"], "candidate": ["y"], "rank": [0], "score": [1.0]}))
    with pytest.raises(LikewiseError, match=r"names none of the queries .* \(its first line: x, y\)"):
        evaluate_run(run, pairs, 5)


@pytest.mark.parametrize("scores", [[0.5, 0.5, 0.5], [1e-45, 0.0, 0.0, -0.0], [-0.25, -0.25], [0.1, 0.3, 0.2]])
def test_scores_fall_by_the_smallest_step(scores: list[float]) -> None:
    n = len(scores)
    rows = pl.DataFrame({"query": ["q"] * n, "candidate": list("abcd")[:n], "rank": range(n), "score": scores})
    written = [np.float32(line.split()[4]) for line in run_text(rows, "m").splitlines()]
    expected = [np.float32(scores[0])]
    for score in scores[1:]:
        expected.append(min(np.float32(score), np.nextafter(expected[-1], np.float32(-np.inf))))
    assert written == expected


def test_tags_carry_the_encoder_and_what_is_listed() -> None:
    assert encoder_from_tag(run_tag("hf:facebook/dinov2", BY_ITEM)) == "hf:facebook/dinov2"
    assert encoder_from_tag("hf:model") == "hf:model"
    rows = pl.DataFrame({"query": ["q 1"], "candidate": ["c"], "rank": [0], "score": [0.25]})
    assert run_text(rows, "m") == "q%201 Q0 c 1 0.25 m\n"
