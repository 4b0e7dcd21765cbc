"""The lessons: what each measure says where the truth is known, and one's own encoders beside it."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from likewise.catalog import read_catalog
from likewise.cli import main
from likewise.encoders import encode_catalog, read_vectors
from likewise.encoders.families.small import SEED, small_model
from likewise.errors import LikewiseError
from likewise.evaluation.clustering import random_nmi
from likewise.training.lessons.own_encoders import candidate_table, trade_off_table, trunk_table
from likewise.training.lessons.spaces import random_table, score_space, toy_table
from likewise.training.lessons.untrained import draw_weights, untrained_network, untrained_vectors

from .check_toy import PER_CLASS, toy_images, toy_vectors, toy_workspace


def test_three_toy_spaces_look_alike_to_all_measures_but_two() -> None:
    table = toy_table()
    assert table["P@1"].min() > 0.99  # type: ignore[operator]
    for blind in ("P@1", "NMI", "AMI", "F1"):  # in space c, far apart, k-means still cuts both classes across
        first, second = table[blind][0], table[blind][1]
        assert abs(first - second) < 0.05, blind
    assert table["MAP@R"].is_sorted() and table["MAP@R"][2] - table["MAP@R"][0] > 0.2


def test_nmi_of_random_vectors_follows_the_formula() -> None:
    assert random_nmi(40_000, 10_000) == pytest.approx(0.849, abs=5e-4)  # the paper's example
    table = random_table(2000)
    many = table.filter(pl.col("n_classes") >= 200)
    assert np.allclose(many["NMI"], many["formula"], atol=0.1)
    assert table["NMI"].is_sorted() and table.filter(n_classes=1000)["NMI"][0] > 0.85
    assert table["AMI"].abs().max() < 0.02 and table.filter(n_classes=1000)["MAP@R"][0] < 0.01  # type: ignore[operator]


def test_trunks_raw_and_reduced_against_scikit_learn() -> None:
    vectors, values = toy_vectors(), [image[:2] for image in toy_images()]
    candidates = candidate_table({"toy": vectors}, values)
    assert candidates["reduced"].to_list() == [None, vectors.shape[1]]  # fewer dimensions than 32: all there are
    first = len(values) // 2
    assert candidates.row(0, named=True)["P@1"] == score_space(vectors[first:], values[first:])["P@1"]
    pca = PCA().fit(vectors[:first].astype(np.float64))
    reduced = pca.transform(vectors[first:].astype(np.float64)).astype(np.float32)
    row = trunk_table(candidates).row(0, named=True)
    assert row["P@1 PCA"] == pytest.approx(score_space(reduced, values[first:])["P@1"])
    assert row["MAP@R PCA"] == pytest.approx(score_space(reduced, values[first:])["MAP@R"], abs=1e-6)


def test_trade_offs_name_whom_each_measure_chooses() -> None:
    candidates = pl.DataFrame(
        {
            "encoder": ["a", "b"],
            "reduced": pl.Series([None, 3], dtype=pl.Int64),
            "P@1": [0.9, 0.8],
            "R_Precision": [0.5, 0.6],
            "MAP@R": [0.4, 0.5],
            "NMI": [0.7, 0.7],
            "AMI": [0.2, 0.1],
            "F1": [0.3, 0.1],
        }
    )
    table = trade_off_table(candidates)
    assert table["encoder"].to_list() == ["a", "b", "b", "a", "a", "a"]
    by_p1 = table.row(0, named=True)
    assert by_p1["P@1 behind"] == 0.0 and by_p1["MAP@R behind"] == pytest.approx(0.1)


def test_an_untrained_network_keeps_nothing_it_has_learned(tmp_path: Path) -> None:
    """Trained weights are replaced by those the architecture starts with, the same ones every time."""
    load = small_model().load
    assert load is not None
    fresh, trained = load(), load()
    with torch.no_grad():
        for values in trained.parameters():
            values.fill_(5.0)
        trained.get_buffer("1.running_mean").fill_(5.0)
    draw_weights(trained, "small", SEED)
    for (name, values), start in zip(trained.state_dict().items(), fresh.state_dict().values(), strict=True):
        assert torch.equal(values, start), name
    trained.register_parameter("scale", torch.nn.Parameter(torch.ones(3)))
    with pytest.raises(LikewiseError, match=r"does not say how its weights start \(scale\)"):
        draw_weights(trained, "small", SEED)
    with pytest.raises(LikewiseError, match="colour is no torch network"):
        untrained_network("colour")
    workspace = toy_workspace(tmp_path, n_classes=4)
    images = read_catalog(workspace)["image"].to_list()
    encode_catalog(workspace, ["small"], workers=1)
    vectors = untrained_vectors(workspace, "small", images, SEED)
    assert np.allclose(vectors, read_vectors(workspace, "small", images), atol=1e-5)


def test_the_command_from_a_workspace_to_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = toy_workspace(tmp_path)
    command = ["likewise", "train", "lessons", str(workspace.path), "--column", "kind", "--random-points", "400"]

    def ran(*more: str) -> str:
        monkeypatch.setattr(sys, "argv", [*command, *more])
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code, capsys.readouterr().err
        return capsys.readouterr().out

    told = json.loads(ran("--json"))
    assert [row["encoder"] for row in told["nmi"]] == ["toy", "small, untrained", "random vectors"]
    assert [row["encoder"] for row in json.loads(ran("--json", "--untrained", ""))["nmi"]] == ["toy", "random vectors"]
    assert {row["encoder"] for row in told["trunks"]} == {"toy"}
    counts = [row["n_classes"] for row in told["classes"]]
    assert counts == [2, 5, 10, 20, 50, 64]
    assert told["classes"][0]["MAP@R"] > told["classes"][-1]["MAP@R"]  # more classes, lower numbers
    random = next(row for row in told["nmi"] if row["encoder"] == "random vectors")
    assert random["NMI"] > 0.5 and abs(random["AMI"]) < 0.03 and random["n_images"] == 64 * PER_CLASS
    labels = np.repeat(np.arange(64), PER_CLASS)
    shuffled = np.random.default_rng(0).permutation(labels)
    assert random["by chance"] == pytest.approx(normalized_mutual_info_score(labels, shuffled), abs=0.05)
    page = (workspace.path / "lessons" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3 and all(f'id="{name}-table"' in page for name in ("toy", "random", "trunks", "nmi"))
    assert "Three toy spaces" in ran()
