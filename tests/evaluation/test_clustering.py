"""NMI, AMI and F1 equal scikit-learn's; many small classes give random vectors a high NMI, and we say so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from likewise.errors import LikewiseError
from likewise.evaluation.clustering import (
    CLUSTERING_SCHEMA,
    RANDOM_VECTORS,
    clustering,
    clustering_table,
    k_means,
    random_clustering,
    random_nmi,
)
from likewise.evaluation.partition import (
    adjusted_mutual_information,
    expected_nmi,
    mutual_information,
    normalised_mutual_information,
    pairwise_f1,
    partition,
)


@given(st.integers(0, 10_000), st.integers(1, 80), st.integers(1, 80), st.integers(1, 80))
@settings(max_examples=100)
def test_equals_scikit_learn(seed: int, n: int, n_true: int, n_found: int) -> None:
    rng = np.random.default_rng(seed)
    true, found = rng.integers(0, n_true, n), rng.integers(0, n_found, n)
    if rng.random() < 0.3:
        found = np.where(rng.random(n) < 0.8, true, found)  # related partitions too
    parts = partition(true, found)
    assert mutual_information(parts) == pytest.approx(mutual_info_score(true, found), abs=1e-9)
    assert normalised_mutual_information(parts) == pytest.approx(normalized_mutual_info_score(true, found), abs=1e-9)
    assert adjusted_mutual_information(parts) == pytest.approx(adjusted_mutual_info_score(true, found), abs=1e-6)
    (_, false_positive), (false_negative, together) = pair_confusion_matrix(true, found)
    if together + false_positive + false_negative:
        expected = 2 * together / (2 * together + false_positive + false_negative)
        assert pairwise_f1(parts) == pytest.approx(expected)
    else:
        assert np.isnan(pairwise_f1(parts))


def test_chance_is_what_shuffling_gives(rng: np.random.Generator) -> None:
    true, found = np.repeat(np.arange(60), 4), rng.integers(0, 40, 240)
    shuffled = [normalised_mutual_information(partition(rng.permutation(true), found)) for _ in range(300)]
    assert expected_nmi(partition(true, found)) == pytest.approx(np.mean(shuffled), abs=0.002)


def test_identities(rng: np.random.Generator) -> None:
    true, found = rng.integers(0, 9, 200), rng.integers(0, 7, 200)
    parts, swapped, renamed = partition(true, found), partition(found, true), partition(8 - true, found * 5 + 3)
    for metric in (normalised_mutual_information, adjusted_mutual_information, pairwise_f1):
        assert metric(swapped) == pytest.approx(metric(parts))
        assert metric(renamed) == pytest.approx(metric(parts))
        assert metric(partition(true, true + 5)) == pytest.approx(1.0)


def test_the_papers_example_of_random_vectors() -> None:
    assert random_nmi(40_000, 10_000) == pytest.approx(0.849, abs=0.001)
    assert random_nmi(100, 2) == 0.0
    assert np.isnan(random_nmi(100, 1))


def test_random_vectors_score_high_nmi_and_no_ami() -> None:
    labels = np.repeat(np.arange(300), 4)
    measured = random_clustering(labels, 16)
    assert measured.nmi > 0.7
    assert measured.nmi == pytest.approx(measured.expected_nmi, abs=0.02)
    assert measured.nmi == pytest.approx(measured.nmi_of_random_vectors, abs=0.08)
    assert abs(measured.ami) < 0.05
    assert measured.f1 < 0.05


def test_clear_classes_are_found_and_reported_beside_chance(rng: np.random.Generator) -> None:
    labels = [f"class {number}" for number in np.repeat(np.arange(6), 30)]
    centres = np.repeat(np.eye(6, 12) * 5, 30, axis=0)
    vectors = (centres + 0.2 * rng.standard_normal((180, 12))).astype(np.float32)
    found = clustering(vectors, labels, seed=2)
    assert found == clustering(vectors * 3, labels, seed=2)  # only directions count; same seed, same clusters
    assert found.nmi > 0.85
    assert found.ami > 0.8
    table = clustering_table({"good": found, RANDOM_VECTORS: random_clustering(labels, 12)})
    assert table.schema == CLUSTERING_SCHEMA
    by_measure = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    assert by_measure["good", "NMI"]["value"] > by_measure["good", "NMI"]["chance"]
    assert by_measure["good", "AMI"]["value"] > by_measure[RANDOM_VECTORS, "AMI"]["value"] + 0.5
    assert by_measure["good", "F1"]["chance"] is None


def test_every_row_gets_a_cluster() -> None:
    vectors = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    assert len(np.unique(k_means(vectors, 3, seed=1))) <= 3
    one_each = clustering(np.eye(5, dtype=np.float32), list("abcde"))
    assert one_each.nmi == pytest.approx(1.0)
    single = clustering(vectors, ["a"] * 12)
    assert (single.nmi, single.ami, single.f1) == (1.0, 1.0, 1.0)


def test_mistakes_are_said_in_one_sentence() -> None:
    with pytest.raises(LikewiseError, match="3 vectors but 2 labels"):
        clustering(np.eye(3, dtype=np.float32), ["a", "b"])
    with pytest.raises(LikewiseError, match="nothing to cluster"):
        clustering(np.empty((0, 3), np.float32), [])
