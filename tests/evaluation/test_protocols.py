"""Leave-one-out, identification, incomplete labels, expert groups, recall of the pool, sampled negatives."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from likewise.discovery.pool import POOL_SCHEMA
from likewise.discovery.unit import PairCounter
from likewise.evaluation.discovery import EncoderScores, ranked_results
from likewise.evaluation.expert_groups import expert_groups, groups_of_size, weighted_majority
from likewise.evaluation.identification import compare_orders, identification_table, identify
from likewise.evaluation.incomplete import auc_bounds, next_pairs, open_pairs, unlabelled_candidates
from likewise.evaluation.key_hashes import FNV_PRIME, FNV_START, key_hashes, mix_hash_bits
from likewise.evaluation.leave_one_out import leave_one_out
from likewise.evaluation.measures import VSD_MRR, Recall_cap, Success, bpref, nDCG
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.pool_recall import pool_recall
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.sampled_negatives import NegativeSampling, sample_negatives

from .judging import gallery_of, model, pool_of, random_pairs


def qrels_of(pairs: JudgedPairs) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for query, candidate, label in zip(pairs.query, pairs.candidate, pairs.label, strict=True):
        qrels.setdefault(pairs.queries[query], {})[pairs.gallery[candidate]] = int(label)
    return qrels


def bpref_of(scores: NDArray[np.float64], pairs: JudgedPairs) -> float:
    no_lists = np.full((len(pairs.queries), 1), -1)
    return bpref.estimate(ranked_results(EncoderScores("m", scores, no_lists), pairs)).value()


def test_ndcg_and_bpref_equal_trec_eval(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=30)
    one = model("m", pairs, rng, 0.5)
    qrels = qrels_of(pairs)
    lists = {
        pairs.queries[q]: {pairs.gallery[c]: float(-place) for place, c in enumerate(row)}
        for q, row in enumerate(one.lists)
    }
    measured = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5"}).evaluate(lists)
    defined = [query for query in pairs.queries if any(qrels[query].values())]
    ours = (nDCG @ 5).estimate(ranked_results(one, pairs))
    assert ours.n_defined == len(defined)
    assert ours.value() == pytest.approx(np.mean([measured[query]["ndcg_cut_5"] for query in defined]))
    judged = {
        pairs.queries[q]: {
            pairs.gallery[c]: float(s)
            for c, s in zip(pairs.candidate[pairs.query == q], one.scores[pairs.query == q], strict=True)
        }
        for q in range(len(pairs.queries))
    }
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(judged)
    assert bpref_of(one.scores, pairs) == pytest.approx(np.mean([expected[query]["bpref"] for query in defined]))


def test_bpref_with_ties_equals_trec_eval_when_names_run_backwards(rng: np.random.Generator) -> None:
    """Equal scores: we go from a to z, trec_eval from z to a."""
    pairs = random_pairs(rng, n_queries=40, n_gallery=30, per_query=25)
    scores = rng.integers(0, 4, len(pairs)).astype(np.float64)
    judged = list(zip(pairs.query, pairs.candidate, pairs.label.tolist(), scores.tolist(), strict=True))

    def theirs(name: Callable[[int], str]) -> float:
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for query, candidate, label, score in judged:
            qrels.setdefault(pairs.queries[query], {})[name(candidate)] = label
            run.setdefault(pairs.queries[query], {})[name(candidate)] = score
        measured = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
        return float(np.mean([measured[query]["bpref"] for query in qrels if any(qrels[query].values())]))

    ours = bpref_of(scores, pairs)
    assert ours == pytest.approx(theirs(lambda row: f"c{999 - row:03}"))
    assert abs(ours - theirs(lambda row: f"c{row:03}")) > 1e-3


def test_leave_one_out_rebuilds_the_truth_from_the_others(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=20, n_gallery=30, per_query=20)
    models = [model(name, pairs, rng, skill) for name, skill in (("a", 0.2), ("b", 0.6), ("c", 1.0), ("d", 1.4))]
    pool = pool_of(pairs, models[:3])  # d is new
    found = leave_one_out(models, pairs, gallery_of(pairs), pool)
    assert set(found.orders["removed"]) == {"a", "b", "c"}
    others = {(q, c) for q, c, g in pool.select("query", "candidate", "generator").iter_rows() if g != "a"}
    kept = np.array(
        [(pairs.queries[q], pairs.gallery[c]) in others for q, c in zip(pairs.query, pairs.candidate, strict=True)]
    )
    expected = roc_auc_score(pairs.label[kept], models[3].scores[kept])
    reduced = [
        roc_auc_score(pairs.label[part], models[3].scores[part])
        for part in (
            np.array(
                [
                    (pairs.queries[q], pairs.gallery[c])
                    in {(x, y) for x, y, g in pool.select("query", "candidate", "generator").iter_rows() if g != name}
                    for q, c in zip(pairs.query, pairs.candidate, strict=True)
                ]
            )
            for name in "abc"
        )
    ]
    row = found.models.filter(encoder="d", measure='ROC_AUC(average="micro")').row(0, named=True)
    assert reduced[0] == pytest.approx(expected)
    assert row["mean"] == pytest.approx(np.mean(reduced))
    assert row["sd"] == pytest.approx(np.std(reduced, ddof=1))
    lists = {f"{name}@{k}" for name in ("P", "VSD_MRR", "nDCG") for k in (5, 9)}
    areas = {"ROC_AUC", 'ROC_AUC(average="micro")', "AP", 'AP(average="micro")'}
    assert set(found.orders["measure"]) == lists | areas | {'ROC_AUC(negatives="gallery")'}


def test_identification_by_hand() -> None:
    """Item 0 has images 0, 1, 2; the query is image 0. One other image is nearest, the other one furthest."""
    angles = np.array([0.0, 0.1, 3.0, 0.5, 0.6, 0.7])
    vectors = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    gallery = [f"g{row}" for row in range(6)]
    nothing = np.empty(0, dtype=np.int64)
    items = np.array([0, 0, 0, 1, 2, 3])
    pairs = JudgedPairs(["g0", "g3"], gallery, items[[0, 3]], items, nothing, nothing, nothing.astype(np.int8))
    one = identify("m", pairs, vectors[[0, 3]], vectors, ks=(2, 5))
    assert one.sums[Recall_cap @ 2].value() == pytest.approx(1 / 2)
    assert one.sums[Recall_cap @ 5].value() == pytest.approx(1.0)
    assert one.sums[VSD_MRR @ 5].value() == pytest.approx((1 + 1 / 5) / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5))
    assert one.sums[Success @ 2].value() == 1.0
    table = identification_table([one])
    assert set(table["n_queries"]) == {1}  # g3 shows an item with no other image
    assert set(table["n_queries_total"]) == {2}


def test_finding_every_other_image_scores_as_published_for_argus_id() -> None:
    """HR 99.9 at 5 and 9, MRR 91.8 and 83.2 (Table 4): items of 4 to 10 images, all found."""
    n_items_by_size = {4: 38, 5: 8, 6: 6, 8: 2, 10: 46}  # a query has one image less to find
    sizes = np.repeat(list(n_items_by_size), list(n_items_by_size.values()))
    items = np.repeat(np.arange(len(sizes)), sizes)
    vectors = np.eye(items.max() + 1, dtype=np.float32)[items]
    names = [f"i{row:04d}" for row in range(len(items))]
    first = np.unique(items, return_index=True)[1]
    nothing = np.empty(0, dtype=np.int64)
    queries = [names[row] for row in first]
    pairs = JudgedPairs(queries, names, items[first], items, nothing, nothing, nothing.astype(np.int8))
    sums = identify("argus-id", pairs, vectors[first], vectors, ks=(5, 9)).sums
    assert [sums[Recall_cap @ k].value() for k in (5, 9)] == [1.0, 1.0]
    assert sums[VSD_MRR @ 5].value() == pytest.approx(0.918, abs=5e-4)
    assert sums[VSD_MRR @ 9].value() == pytest.approx(0.832, abs=5e-4)


def test_orders_may_disagree() -> None:
    values = {name: QuerySums.mean_of(np.full(20, value)) for name, value in (("a", 0.1), ("b", 0.5), ("c", 0.9))}
    backwards = {name: QuerySums.mean_of(np.full(20, value)) for name, value in (("a", 0.9), ("b", 0.5), ("c", 0.1))}
    same, other = (compare_orders(Success @ 5, values, each) for each in (values, backwards))
    assert (same.spearman, same.kendall, same.spearman_low) == (1.0, 1.0, 1.0)
    assert (other.spearman, other.kendall) == (-1.0, -1.0)
    assert compare_orders(Success @ 5, {"a": values["a"]}, values).spearman is None


def test_bounds_bracket_what_the_missing_labels_can_do(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=15, n_gallery=25, per_query=8)
    one = model("m", pairs, rng, 0.7)
    everything = {(q, c): s for q, row in enumerate(one.lists) for c, s in zip(row, np.linspace(2, 1, 9), strict=True)}
    scores_of_lists = np.array([[everything[q, c] for c in row] for q, row in enumerate(one.lists)])
    gallery = gallery_of(pairs)
    low, high, n_unlabelled = auc_bounds(one, scores_of_lists, pairs, gallery, 5)
    labelled = {(q, c) for q, c in zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True)}
    missing = [(q, c) for q, row in enumerate(one.lists[:, :5].tolist()) for c in row if (q, c) not in labelled]
    assert n_unlabelled == len(missing)
    for label, bound in ((0, low), (1, high)):
        values = []
        for q in range(15):
            extra = {c: everything[q, c] for r, c in missing if r == q and label}
            positive = one.scores[(pairs.query == q) & (pairs.label == 1)].tolist() + list(extra.values())
            drawn = np.flatnonzero((gallery.query == q) & (gallery.label == 0))
            assert one.gallery_scores is not None
            negative = [one.gallery_scores[row] for row in drawn if gallery.candidate[row] not in extra]
            if positive and negative:
                truth = [1] * len(positive) + [0] * len(negative)
                values.append(roc_auc_score(truth, positive + negative))
        assert np.mean(values) == pytest.approx(bound)
    assert low < high


def test_the_next_pairs_of_a_design_are_those_it_drew_in_an_order_that_gives_nothing_away() -> None:
    names = [f"c{number}" for number in range(20)]
    chance = np.linspace(1.0, 0.05, 20)
    pool = pl.DataFrame({"query": ["q"] * 20, "candidate": names, "probability": chance, "round": [1] * 10 + [2] * 10})
    labels = pl.DataFrame({"query": ["q", "q"], "candidate": ["c0", "c9"], "label": [1, 0]})
    found = open_pairs(pool, labels, 100, seed=0)
    assert sorted(found["candidate"]) == sorted(set(names) - {"c0", "c9"})
    assert found["round"].to_list() == [1] * 8 + [2] * 10
    shown = found["probability"].to_list()
    assert shown[8:] != sorted(shown[8:], reverse=True)
    assert found.equals(open_pairs(pool, labels, 100, seed=0))
    assert open_pairs(pool, labels, 3, seed=0).equals(found.head(3))


def test_next_pairs_are_those_the_undecided_models_dispute() -> None:
    pairs = JudgedPairs(
        ["q"], [f"c{row}" for row in range(6)], np.array([99]), np.arange(6),
        np.zeros(4, np.int64), np.arange(4), np.array([1, 0, 1, 0], np.int8),
    )  # fmt: skip
    judged = np.array([0.4, 0.3, 0.2, 0.1])
    models = [EncoderScores(name, judged, np.array([[0, 4, 5]])) for name in ("a", "b")]
    query, candidate = unlabelled_candidates(models, pairs, 3)
    assert candidate.tolist() == [4, 5]
    scores = {"a": np.array([0.9, 0.25]), "b": np.array([0.0, 0.25])}  # they dispute c4, agree on c5
    ordered = next_pairs(pairs, query, candidate, scores, {"a": judged, "b": judged}, {("a", "b"): False}, 5)
    assert ordered["candidate"].to_list() == ["c4", "c5"]
    assert ordered["priority"][1] == 0.0


def test_sampled_negatives_come_from_the_band_and_are_never_labelled(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=10, n_gallery=300, per_query=12)
    bands = [np.sort(np.array([rng.choice(300, 60, replace=False) for _ in range(10)]), axis=1) for _ in range(2)]
    sampled = sample_negatives(pairs, bands, seed=1)
    assert sampled is not None
    labelled = set(zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True))
    negatives = [(q, c) for q, c, y in zip(sampled.query, sampled.candidate, sampled.label, strict=True) if y == 0]
    assert all(pair not in labelled for pair in negatives)
    assert all(c in np.concatenate([band[q] for band in bands]) for q, c in negatives)
    assert len(set(negatives)) == len(negatives)
    assert np.array_equal(np.bincount([q for q, _ in negatives], minlength=10), pairs.n_positive)
    few = sample_negatives(pairs, bands, seed=1, sampling=NegativeSampling(per_positive=0.15))
    assert few is not None
    wanted = [max(1, round(0.15 * n)) if n else 0 for n in pairs.n_positive]
    assert np.bincount(few.query[few.label == 0], minlength=10).tolist() == wanted
    each = sample_negatives(pairs, bands, seed=1, sampling=NegativeSampling(per_query=4))
    assert each is not None
    assert np.bincount(each.query[each.label == 0], minlength=10).tolist() == [4 if n else 0 for n in pairs.n_positive]
    again = sample_negatives(pairs, bands, seed=1)
    assert again is not None
    assert np.array_equal(again.candidate, sampled.candidate)
    assert sample_negatives(pairs, [np.full((10, 5), -1)], seed=1) is None  # the gallery ends before the band


def test_majority_of_resampled_experts() -> None:
    answers = np.array([[1, 1, 0], [1, 0, -1], [-1, -1, -1]], dtype=np.int8)
    assert weighted_majority(answers, np.array([1.0, 1.0, 1.0])).tolist() == [1, 0, -1]  # a tie is negative
    assert weighted_majority(answers, np.array([0.0, 0.0, 3.0])).tolist() == [0, -1, -1]


def test_expert_groups_say_how_often_the_winner_changes(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=25)
    good, bad, gallery = model("good", pairs, rng, 2.0), model("bad", pairs, rng, 0.0), gallery_of(pairs)
    votes = [
        (
            pairs.queries[q],
            pairs.gallery[c],
            expert,
            "similar" if (y if rng.random() > 0.1 else 1 - y) else "not similar",
        )
        for q, c, y in zip(pairs.query, pairs.candidate, pairs.label, strict=True)
        for expert in ("ann", "bob", "cyd")
    ]
    table = pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").with_columns(
        time=pl.lit(None, pl.String)
    )
    found = expert_groups([bad, good], pairs, gallery, table, seed=0, n_groups=40)
    assert (found.summary.winner, found.summary.winner_share) == ("good", 1.0)
    assert set(found.values["kind"]) == {"rule", "expert", "group", "number"}
    assert [(each.n_experts, each.n_groups) for each in found.summary.by_number] == [(1, 3), (2, 3), (3, 1)]
    alone, _, everybody = found.summary.by_number
    assert everybody.mean_distance == 0.0 < (alone.mean_distance or 0.0) and everybody.winner_share == 1.0
    single = found.values.filter(kind="number", group="1", encoder="bad").row(0, named=True)
    of_each = found.values.filter(kind="expert", encoder="bad")["value"]
    assert single["value"] == pytest.approx(of_each.mean()) and single["low"] <= single["value"] <= single["high"]
    assert set(found.values.filter(pl.col("kind") == "expert")["group"]) == {"ann", "bob", "cyd"}
    ann = found.values.filter(kind="expert", group="ann", encoder="bad").row(0, named=True)
    said = [int(answer == "similar") for _, _, expert, answer in votes if expert == "ann"]
    expected = []
    assert bad.gallery_scores is not None
    for query in range(25):
        similar = (pairs.query == query) & (np.array(said) == 1)
        drawn = (gallery.query == query) & (gallery.label == 0) & ~np.isin(gallery.candidate, pairs.candidate[similar])
        scores = np.concatenate([bad.scores[similar], bad.gallery_scores[drawn]])
        if similar.any():
            expected.append(roc_auc_score(np.arange(len(scores)) < similar.sum(), scores))
    assert ann["value"] == pytest.approx(np.mean(expected)) and ann["n_queries"] == len(expected)
    assert ann["low"] < ann["value"] < ann["high"]


def test_groups_of_one_size_are_different_and_bounded(rng: np.random.Generator) -> None:
    assert list(groups_of_size(4, 2, rng)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    many = list(groups_of_size(30, 10, rng))
    assert len(many) == len(set(many)) == 50
    assert all(len(set(group)) == 10 and group == tuple(sorted(group)) for group in many)


def test_the_winner_changes_when_experts_disagree_about_it() -> None:
    """Two experts, each with a model after their own heart: who is drawn twice decides; a tied pair is negative."""
    own, items, query, candidate = (np.array(each) for each in ([9], [0, 1], [0, 0], [0, 1]))
    pairs = JudgedPairs(["q"], ["c0", "c1"], own, items, query, candidate, np.zeros(2, np.int8))
    says = {"ann": ("similar", "not similar"), "bob": ("not similar", "similar")}
    votes = pl.DataFrame(
        [
            ("q", f"c{place}", expert, answer, None)
            for expert, both in says.items()
            for place, answer in enumerate(both)
        ],
        schema=dict.fromkeys(("query", "candidate", "expert", "answer", "time"), pl.String),
        orient="row",
    )
    nobody = np.full((1, 1), -1)
    anns, bobs = (
        EncoderScores(name, scores, nobody, item_scores=scores, gallery_scores=scores[gallery_of(pairs).candidate])
        for name, scores in (("anns", np.array([1.0, 0.0])), ("bobs", np.array([0.0, 1.0])))
    )
    found = expert_groups([anns, bobs], pairs, gallery_of(pairs), votes, seed=0, n_groups=100)
    rng = np.random.default_rng(0)
    drawn = np.array([rng.integers(0, 2, 2).sum() for _ in range(100)])  # 0: ann twice, 2: bob twice, 1: one each
    assert found.summary.n_undefined == int((drawn == 1).sum()) > 20  # both pairs tied, so negative: no order
    assert found.summary.winner == "anns"  # everybody together gives no order either: the first by name
    assert found.summary.winner_share == (drawn == 0).sum() / (drawn != 1).sum()
    assert 0.2 < (drawn == 0).sum() / (drawn != 1).sum() < 0.8


def test_the_lot_of_a_pair_depends_on_seed_and_keys_alone() -> None:
    """FNV-1a, byte by byte, as its authors wrote it; whatever other keys there are."""

    def lot(key: str, seed: int) -> int:
        number = int(mix_hash_bits(np.array([seed], np.uint64) ^ FNV_START)[0])
        for byte in key.encode():
            number = (number ^ byte) * int(FNV_PRIME) % 2**64
        return int(mix_hash_bits(np.array([number], np.uint64))[0])

    keys = ["a", "abc", "", "ab", "häßlich/x.png", "abc/def/0001.jpg", "z" * 40]
    for seed in (0, 5, 2**40):
        assert key_hashes(keys, seed).tolist() == [lot(key, seed) for key in keys]
    assert key_hashes(keys[:3], 1).tolist() == key_hashes(keys, 1).tolist()[:3]


def test_recall_of_the_pool_by_hand() -> None:
    """Of 10 random pairs, one similar pair is outside the pool: it stands for 1,000 / 10 pairs."""
    candidates = [("q", f"s{n}", "a", n, 0.5) for n in range(5)]
    random = [("q", f"r{n}", "random", None, None) for n in range(9)] + [("q", "s0", "random", None, None)]
    pool = pl.DataFrame([(*row, 1.0, 1) for row in candidates + random], schema=POOL_SCHEMA, orient="row")
    labels = [("q", f"s{n}", int(n < 4)) for n in range(5)] + [("q", f"r{n}", int(n == 0)) for n in range(9)]
    counter = PairCounter("images", 1000)
    found = pool_recall(pool, pl.DataFrame(labels, schema=["query", "candidate", "label"], orient="row"), counter)
    assert (found.found, found.n_random, found.n_random_missed, found.missed) == (4, 10, 1, 100.0)
    assert found.recall == pytest.approx(4 / 104)
    low, high = binomtest(1, 10).proportion_ci(method="exact")
    assert (found.missed_low, found.missed_high) == pytest.approx((1000 * low, min(1000 * high, 996)))
    assert (
        pool_recall(
            pool.filter(pl.col("generator") == "a"),
            pl.DataFrame(labels, schema=["query", "candidate", "label"], orient="row"),
            counter,
        ).missed
        is None
    )


def test_selecting_takes_pairs_out(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=3)
    kept = select_pairs(pairs, np.arange(len(pairs)) >= 5)
    assert kept.label.tolist() == pairs.label[5:].tolist()
    assert (kept.queries, kept.gallery) == (pairs.queries, pairs.gallery)
