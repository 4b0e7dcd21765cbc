"""A whole check: its folder, its page, and the encoder it leaves behind, which is the one that was measured."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from huggingface_hub import ModelCard

from likewise.catalog.images import load_image
from likewise.encoders import get_encoder
from likewise.errors import LikewiseError
from likewise.training.claims import read_claims
from likewise.training.context import CheckConfig
from likewise.workspace import read_json
from tests.warm import warm

from .check_toy import Check, check_words, measured_again, rerun_of, toy_plan, toy_workspace


def test_a_check_of_heads(tmp_path: Path, check: Check) -> None:
    workspace = toy_workspace(tmp_path)
    (tmp_path / "claims.csv").write_text("paper,baseline,baseline_value,value\nA,triplet,40,60\nB,triplet,50,60\n")
    found = check(workspace, "triplet,proxy-nca", "--claims", str(tmp_path / "claims.csv"))
    folder = workspace.path / "runs" / "check"
    assert {row["method"] for row in found["accuracy"]} == {"pretrained", "triplet", "proxy-nca"}
    for row in found["accuracy"]:
        assert row["n_queries"] == row["n_queries_total"] == 192  # 32 test classes of 6
        assert (row["low"] is None) == (row["method"] == "pretrained") == (row["n_reruns"] == 1)
        assert row["low"] is None or row["low"] <= row["value"] <= row["high"]
    won = found["winner"]
    best = {name: method["best"]["map_at_r"] for name, method in found["methods"].items()}
    assert best[won] == max(best.values())
    trials = pl.read_parquet(folder / "trials.parquet").filter(pl.col("method") == won)
    assert trials["map_at_r"].max() == best[won] and trials["trial"].n_unique() == toy_plan().n_trials
    assert trials["fold_map_at_r"].list.mean().to_list() == pytest.approx(trials["map_at_r"].to_list())

    config = CheckConfig(workspace.path, "kind", "toy", toy_plan())
    again = measured_again(workspace, found["encoder_made"]["spec"], config)
    assert np.allclose(again.to_numpy(), rerun_of(workspace, won).to_numpy())
    assert "toy" in found["encoder_made"]["no_onnx_because"]  # imported vectors have no network

    page = (folder / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!#|data:)', page), "the page must open without a network"
    for words in ("Triplet", "ProxyNCA", "Pretrained", "importance", "claimed by 2 papers", "softmax_scale"):
        assert words in page, words
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert "not by the test" in card and "no labels of experts" in card
    data = yaml.safe_load(str(ModelCard(card).data))  # as a model hub reads it
    assert (data["pipeline_tag"], data["library_name"]) == ("image-feature-extraction", "likewise")
    assert "MAP@R" in {metric["type"] for metric in data["model-index"][0]["results"][0]["metrics"]}
    command = [*warm("-m", "likewise"), *check_words(workspace, "triplet,proxy-nca")]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    map_at_r = {
        row["method"]: 100 * row["value"]
        for row in found["accuracy"]
        if (row["measure"], row["embedding"]) == ("MAP@R", "concatenated")
    }
    highest, untrained = max(map_at_r["triplet"], map_at_r["proxy-nca"]), map_at_r["pretrained"]
    said = " ".join(told.stdout.split())
    assert f", {highest:.1f} %; without training {untrained:.1f} %" in said
    assert ("no loss is better" in said) == (highest <= untrained)
    with pytest.raises(LikewiseError, match="begun with another plan"):
        check(workspace, "triplet,proxy-nca", "--trials", "9")

    other = toy_workspace(tmp_path / "other", n_classes=16)
    check(other, "triplet", "--trials", "1", "--reruns", "1", "--compare-with", str(folder))
    moved = pl.read_parquet(other.path / "runs" / "check" / "best_values.parquet").filter(
        pl.col("parameter") == "margin"
    )
    assert moved["where"].to_list()[-2:] == ["here", "run check: toy, frozen toy"]
    assert moved["value"][-1] == found["methods"]["triplet"]["best"]["params"]["margin"]
    with pytest.raises(LikewiseError, match="is no finished check"):
        check(other, "triplet", "--name", "second", "--compare-with", str(tmp_path))


def test_a_check_of_whole_trunks(tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    workspace = toy_workspace(tmp_path)
    small = ("--trunk", "small", "--with", "small?size=32", "--trials", "1", "--steps", "4", "--evaluate-every", "4")
    found = check(workspace, "ms", *small, "--reruns", "1")
    made = found["encoder_made"]
    assert made["no_onnx_because"] == "" and made["dim"] == 4 * toy_plan().dim
    config = CheckConfig(workspace.path, "kind", "small", replace(toy_plan(), trunk="small"))
    again = measured_again(workspace, made["spec"], config)
    assert np.allclose(again.to_numpy(), rerun_of(workspace, "ms").to_numpy(), atol=1e-6)
    model = workspace.path / "runs" / "check" / "encoder" / "model.onnx"
    one, other = get_encoder(made["spec"]), get_encoder(f"onnx:{model}")
    picture = load_image(workspace.root / "00-0.png")
    assert np.allclose(one.encode([one.prepare(picture)]), other.encode([other.prepare(picture)]), atol=1e-5)
    assert read_json(model.with_name("model.onnx.json"))["dim"] == made["dim"]


def test_mistakes_are_answered(tmp_path: Path, check: Check) -> None:
    workspace = toy_workspace(tmp_path)
    with pytest.raises(LikewiseError, match="no preset 'fast'"):
        check(workspace, "triplet", "--preset", "fast")
    with pytest.raises(LikewiseError, match="no column 'colour'"):
        check(workspace, "triplet", "--column", "colour")
    with pytest.raises(LikewiseError, match="cannot name a run"):
        check(workspace, "triplet", "--name", "a/b")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(LikewiseError, match="claims need"):
        read_claims(tmp_path / "odd.csv")


def test_claims_are_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "reported.csv").write_text(
        "paper,venue,year,loss,cub200,sop\nA,X,2016,triplet,36.1,42.1\nB,Y,2019,triplet,50.5,\nC,Y,2019,contrastive,55,42\n"
    )
    reported = read_claims(tmp_path / "reported.csv").reported
    assert reported is not None
    rows = {(row["loss"], row["data"]): row for row in reported.to_dicts()}
    assert (rows["triplet", "cub200"]["low"], rows["triplet", "cub200"]["high"]) == pytest.approx((0.361, 0.505))
    assert rows["triplet", "sop"]["n_papers"] == 1
    (tmp_path / "improved.csv").write_text(
        "paper,baseline,baseline_value,value\nA,triplet,40,60\nA,triplet,50,50\nB,triplet,50,60\n"
    )
    improved = read_claims(tmp_path / "improved.csv").improved
    assert improved is not None
    assert improved.to_dicts() == [{"baseline": "triplet", "improvement": pytest.approx(0.225), "n_papers": 2}]
