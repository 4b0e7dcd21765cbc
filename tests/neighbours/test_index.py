"""An index finds most, orders what it finds exactly, and says how much it found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.neighbours import NO_INDEX, top_k
from likewise.neighbours import index as module
from likewise.neighbours.index import index_top_k, recall_per_query

N, DIM, K = 2000, 16, 8


@pytest.fixture(scope="module")
def gallery() -> NDArray[np.float32]:
    """Clusters, as real vectors have them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((40, DIM))
    rows = centres[rng.integers(0, 40, N)] + 0.5 * rng.standard_normal((N, DIM))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_recall_is_what_exact_search_says_and_scores_are_exact(
    gallery: NDArray[np.float32], kind: str, tmp_path: Path
) -> None:
    items = np.arange(N) // 3
    chosen = np.arange(0, N, 7)
    groups: dict[str, Any] = {"query_groups": items[chosen], "gallery_groups": items, "one_per_group": True}
    file = tmp_path / "index.faiss"
    found, recall = index_top_k(gallery[chosen], gallery, K, kind, file=file, **groups)
    truth = top_k(gallery[chosen], gallery, K, **groups)
    share = float(recall_per_query(found.indices, truth.indices).mean())
    assert recall.n_queries == 200
    assert recall.low <= share <= recall.high
    assert share > 0.9
    same = found.indices == truth.indices
    np.testing.assert_array_equal(found.scores[same], truth.scores[same])
    assert (items[found.indices] != items[chosen][:, None]).all()
    assert all(len(set(items[row])) == K for row in found.indices)
    again, _ = index_top_k(gallery[chosen], gallery, K, kind, file=file, **groups)  # from the file
    np.testing.assert_array_equal(again.indices, found.indices)
    file.write_bytes(file.read_bytes()[:1000])
    mended, _ = index_top_k(gallery[chosen], gallery, K, "ivf", file=file, **groups)
    assert recall_per_query(mended.indices, truth.indices).mean() > 0.9


def test_a_lazy_index_admits_what_it_misses(gallery: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TARGET_RECALL", 0.0)
    monkeypatch.setattr(module, "INITIAL_EFFORT", {"ivf": 1})
    queries = np.random.default_rng(1).standard_normal((400, DIM)).astype(np.float32)  # far from every cluster
    found, recall = index_top_k(queries, gallery, K, "ivf")
    truth = top_k(queries, gallery, K)
    share = float(recall_per_query(found.indices, truth.indices).mean())
    assert share < 0.9
    assert recall.low <= share <= recall.high
    assert str(recall).startswith(f"ivf index, recall@8 {100 * recall.value:.1f} % (")


def test_lists_that_come_back_short_are_searched_exactly(gallery: NDArray[np.float32]) -> None:
    few = gallery[:1000]
    found, recall = index_top_k(few[:50], few, 900, "ivf", query_groups=np.arange(50), gallery_groups=np.arange(1000))
    truth = top_k(few[:50], few, 900, query_groups=np.arange(50), gallery_groups=np.arange(1000))
    np.testing.assert_array_equal(found.indices, truth.indices)
    assert recall.value == 1.0


def test_shares_are_counted_over_the_neighbours_there_are() -> None:
    truth = np.array([[1, 2, 3], [4, NO_INDEX, NO_INDEX], [NO_INDEX, NO_INDEX, NO_INDEX]])
    found = np.array([[3, 9, 1], [4, 5, 6], [7, 8, 9]])
    np.testing.assert_allclose(recall_per_query(found, truth), [2 / 3, 1.0])


def test_mistakes_are_one_sentence(gallery: NDArray[np.float32]) -> None:
    with pytest.raises(LikewiseError, match="there is no index 'flat': use ivf or hnsw"):
        index_top_k(gallery[:5], gallery, K, "flat")
    with pytest.raises(LikewiseError, match="leave --index out"):
        index_top_k(gallery[:5], gallery[:100], K, "ivf")
