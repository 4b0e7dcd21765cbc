"""From arrays to a defended table, nothing written: the Python API as a researcher uses it in a notebook."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import likewise as lw
from likewise.errors import LikewiseError

N = 40


@pytest.fixture
def vectors() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((8, 16))
    truth = np.repeat(centres, 5, axis=0)
    return {"good": truth + 0.3 * rng.standard_normal((N, 16)), "bad": truth + 2.5 * rng.standard_normal((N, 16))}


@pytest.fixture
def labels() -> list[tuple[int, int, int]]:
    rng = np.random.default_rng(1)
    pairs = {(int(q), int(c)) for q, c in rng.integers(0, N, (600, 2)) if q != c}
    return [(q, c, int(q // 5 == c // 5)) for q, c in sorted(pairs)]


def macro_auc(values: Any, labels: list[tuple[int, int, int]]) -> float:
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    found = []
    for query in range(N):
        own = [(unit[q] @ unit[c], label) for q, c, label in labels if q == query]
        if len({label for _, label in own}) == 2:
            found.append(roc_auc_score([label for _, label in own], [score for score, _ in own]))
    return float(np.mean(found))


def test_six_lines_from_arrays_to_a_defended_table(vectors: dict[str, Any], labels: Any, tmp_path: Path) -> None:
    result = lw.evaluate(vectors, labels)
    table = result.table.filter(pl.col("measure") == "ROC_AUC")
    for encoder, value in table.select("encoder", "value").iter_rows():
        assert value == pytest.approx(macro_auc(vectors[encoder], labels), abs=1e-6)
    compared = result.compare("good", "bad")
    assert compared.significant and compared.difference is not None and compared.difference > 0
    assert compared.low is not None and compared.low > 0
    back = result.compare("bad", "good")
    assert back.difference == -compared.difference and back.high == -compared.low
    assert "good" in repr(result) and "<table>" in result._repr_html_()
    assert list(result.to_pandas().columns) == result.table.columns
    result.plot().savefig(tmp_path / "plot.png")
    assert not list(Path.cwd().glob("results"))


def test_a_generator_and_a_new_model_are_compared_by_what_treats_both_alike(
    vectors: dict[str, Any], labels: Any
) -> None:
    result = lw.evaluate(vectors, labels, generators=["good"])
    assert result.compare("good", "bad").measure == 'ROC_AUC(negatives="gallery")'
    with pytest.raises(LikewiseError, match=r"good proposed labelled pairs and bad did not, and P@5 does not treat"):
        result.compare("bad", "good", "P@5")


def test_every_kind_of_input_gives_the_same_numbers(vectors: dict[str, Any], labels: Any, tmp_path: Path) -> None:
    import pandas as pd
    import torch

    wanted = lw.evaluate(vectors, labels).table
    keys = [f"k{row:02d}" for row in range(N)]
    named = [(keys[q], keys[c], label) for q, c, label in labels]
    frames = {name: pl.DataFrame({"image": keys, "vector": list(map(list, v))}) for name, v in vectors.items()}
    pandas_frames = {name: pd.DataFrame(v, index=pd.Index(keys, dtype=object)) for name, v in vectors.items()}
    nested: dict[str, dict[str, int]] = {}
    for query, candidate, label in named:
        nested.setdefault(query, {})[candidate] = label
    qrels = tmp_path / "labels.qrels"
    qrels.write_text("".join(f"{q} 0 {c} {label}\n" for q, c, label in named))
    vsd = tmp_path / "labels.json"
    vsd.write_text(__import__("json").dumps([{"key": [q, c], "value": label} for q, c, label in named]))
    tables = [
        lw.evaluate({name: torch.tensor(v) for name, v in vectors.items()}, labels),
        lw.evaluate(vectors, {(q, c): label for q, c, label in labels}),
        lw.evaluate(vectors, named, keys=keys),
        lw.evaluate(frames, nested),
        lw.evaluate(pandas_frames, pd.DataFrame(named, columns=["query", "candidate", "label"])),
        lw.evaluate(frames, str(qrels)),
        lw.evaluate(frames, vsd),
    ]
    for table in (one.table for one in tables):
        assert table["measure"].to_list() == wanted["measure"].to_list()
        np.testing.assert_allclose(table["value"].to_numpy(), wanted["value"].to_numpy(), atol=1e-6)


def test_a_models_rows_may_come_in_another_order(vectors: dict[str, Any], labels: Any) -> None:
    keys = [f"k{row:02d}" for row in range(N)]
    named = [(keys[q], keys[c], label) for q, c, label in labels]
    turned = pl.DataFrame({"image": keys[::-1], "vector": vectors["bad"][::-1].tolist()})
    straight = pl.DataFrame({"image": keys, "vector": vectors["good"].tolist()})
    table = lw.evaluate({"good": straight, "bad": turned}, named).table
    wanted = lw.evaluate(vectors, labels).table
    np.testing.assert_allclose(table["value"].to_numpy(), wanted["value"].to_numpy(), atol=1e-6)


def test_the_own_item_is_no_candidate(vectors: dict[str, Any], labels: Any) -> None:
    items = [row // 2 for row in range(N)]
    kept = [(q, c, label) for q, c, label in labels if q // 2 != c // 2]
    with_items = lw.evaluate(vectors, labels, items=items, measures="ROC_AUC")
    value = with_items.table.filter(pl.col("encoder") == "good")["value"][0]
    assert value == pytest.approx(macro_auc(vectors["good"], kept), abs=1e-6)


def test_measures_by_name_and_ones_own(vectors: dict[str, Any], labels: Any) -> None:
    @lw.register_measure
    def first_label(labels: Any, scores: Any) -> float:
        return float(labels[0])

    result = lw.evaluate(vectors, labels, measures=["AP", "first_label"])
    assert {"AP", "first_label"} <= set(result.table["measure"])
    assert result.compare("good", "bad", "first_label").p is not None
    unit = vectors["good"] / np.linalg.norm(vectors["good"], axis=1, keepdims=True)
    own = [(unit[q] @ unit[c], label) for q, c, label in labels if q == 3]
    row = result.per_query("AP").filter(pl.col("query") == "03")
    wanted = average_precision_score([label for _, label in own], [score for score, _ in own])
    assert row["good"][0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": [(0, 1)]}, "a label is (query, candidate, label)"),
        ({"labels": []}, "there are no labels"),
        ({"labels": [("x", 1, 1)]}, "is no row number"),
        ({"labels": [(0, 1, 1), (0, 1, 0)]}, "both similar and not similar"),
        ({"labels": [(0, 999, 1)]}, "not in the catalog"),
        ({"items": [1, 2]}, "give one for each row"),
        ({"keys": ["a"] * N}, "stands for two rows"),
        ({"measures": "nonsense@5"}, "nonsense"),
        ({"embeddings": {"a": np.full((N, 3), np.nan)}}, "NaN"),
        ({"embeddings": {}}, "no embeddings"),
        ({"embeddings": {"a": np.ones((N, 3)), "b": np.ones((N + 1, 3))}}, "different images"),
    ],
)
def test_mistakes_get_a_sentence(vectors: dict[str, Any], labels: Any, change: Any, sentence: str) -> None:
    given = {"embeddings": vectors, "labels": labels} | change
    with pytest.raises(LikewiseError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        lw.evaluate(given.pop("embeddings"), given.pop("labels"), **given)


def test_retrieval_triplets_pool_and_search_in_the_same_spirit(vectors: dict[str, Any]) -> None:
    classes = [row // 5 for row in range(N)]
    retrieved = lw.retrieval(vectors, classes)
    best = retrieved.table.filter((pl.col("encoder") == "good") & (pl.col("measure") == "P@1"))["value"][0]
    assert best > 0.9 and "MAP@R" in repr(retrieved)

    answers = [(q, q + 1, (q + 20) % N) for q in range(0, N, 5)]
    assert "good" in repr(lw.triplets(vectors, answers))

    found = lw.search(vectors["good"], k=3)
    unit = vectors["good"] / np.linalg.norm(vectors["good"], axis=1, keepdims=True)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -2)
    assert found.indices is not None
    np.testing.assert_array_equal(found.indices, np.argsort(-scores, axis=1, kind="stable")[:, :3])

    pooled = lw.pool(vectors, k=4, n_queries=10, n_random=5, seed=3)
    assert pooled.table["query"].n_unique() >= 10 and {"good", "bad", "random"} == set(pooled.table["generator"])
    assert len(pooled.pairs) == pooled.table.select("query", "candidate").unique().height
    assert "pairs to label" in repr(pooled)
