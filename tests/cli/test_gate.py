"""`likewise gate`, from two models and votes to exit code, JUnit and page; and every kind of model it takes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import likewise as lw
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.exchange.trec import read_run
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import make_labelled

from .conftest import Run


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """24 shapes, 8 queries; figures are alike to the experts, so `shape` is right and `colour` is not."""
    return make_labelled(tmp_path_factory.mktemp("gate"))


def write_onnx(path: Path) -> Path:
    """A network that sees 16 x 16 pixels and pools them to 4 x 4."""
    import onnx
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("AveragePool", ["pixels"], ["pooled"], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Flatten", ["pooled"], ["vector"]),
    ]
    pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 16, 16])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["n", 48])
    graph = helper.make_graph(nodes, "pooling", [pixels], [vector])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def cases(path: Path) -> dict[str, list[str]]:
    """The outcomes of each test case of a JUnit file."""
    suite = ElementTree.parse(path).getroot()[0]
    assert int(suite.attrib["tests"]) == len(suite)
    return {case.attrib["name"]: [child.tag for child in case] for case in suite}


def test_a_gate_asks_no_deeper_than_the_pool_and_names_what_was_meant(labelled: WorkspaceFolder, run: Run) -> None:
    k = json.loads(labelled.pool_settings_file.read_text())["settings"]["k"]
    found = run("gate", labelled.path, "--old", "colour", "--new", "shape", "--json")
    assert k < 10 and json.loads(found.out)["measure"] == f"nDCG@{k}"
    misspelt = run("gate", labelled.path, "--old", "color", "--new", "shape")
    assert misspelt.code == 2 and "did you mean 'colour'?" in misspelt.err


def test_a_gate_from_two_models_and_votes_to_exit_code_junit_and_page(labelled: WorkspaceFolder, run: Run) -> None:
    gate = ("gate", labelled.path, "--measure", "P@3")
    better = run(*gate, "--old", "colour", "--new", "shape")
    assert better.code == 0 and "pass: shape against colour" in better.out
    assert cases(labelled.gate_folder / "junit.xml")["P@3 overall"] == ["system-out"]

    worse = run(*gate, "--old", "shape", "--new", "colour")
    assert worse.code == 1 and "worse than the old one by more than the margin of 1 point" in worse.out
    assert cases(labelled.gate_folder / "junit.xml")["P@3 overall"] == ["failure"]
    page = (labelled.gate_folder / "index.html").read_text(encoding="utf-8")
    assert 'data-group="overall" data-verdict="fail"' in page and page.count('data-direction="worse"') == 8
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page

    same = run(*gate, "--old", "shape", "--new", "shape")
    assert same.code == 0 and "The new model lists what the old one lists" in same.out

    open_ = run(*gate, "--old", "colour", "--new", "layout", "--json")
    told = json.loads(open_.out)
    assert open_.code == told["exit_code"] == 3 and told["verdict"] == "undecided"
    assert told == json.loads((labelled.gate_folder / "gate.json").read_text(encoding="utf-8"))
    found = cases(labelled.gate_folder / "junit.xml")
    assert found.pop("P@3 overall") == ["error"] and set(map(tuple, found.values())) == {("skipped",)}
    page = (labelled.gate_folder / "index.html").read_text(encoding="utf-8")
    assert 'data-label="unlabelled"' in page and "label add-pairs" in page


def test_the_pairs_it_asks_for_can_be_voted_on_and_are_then_labelled(
    labelled: WorkspaceFolder, run: Run, tmp_path: Path
) -> None:
    gate = ("gate", labelled.path, "--measure", "P@3", "--old", "colour", "--new", "layout", "--out", tmp_path)
    assert run(*gate).code == 3
    asked = pl.read_parquet(tmp_path / "pairs.parquet")
    assert len(asked) and asked.join(pl.read_parquet(labelled.labels_file), on=["query", "candidate"]).is_empty()
    added = run("label", "add-pairs", labelled.path, "--pairs", tmp_path / "pairs.parquet", "--json")
    assert json.loads(added.out)["added"] >= len(asked)  # with those of the pool, which the site has not asked yet
    votes = asked.select("query", "candidate", expert=pl.lit("anna"), answer=pl.lit("not similar"))
    votes.write_csv(tmp_path / "votes.csv")
    assert run("label", "import", labelled.path, tmp_path / "votes.csv").code == 0
    again = run(*gate)
    assert again.code == 3 and "every result that differs is labelled" in again.out.lower()
    assert pl.read_parquet(tmp_path / "pairs.parquet").is_empty()


def test_the_new_model_may_be_a_run_of_a_search_engine(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    """The lists of `shape` as a TREC run and as CSV give what its vectors give."""
    trec = tmp_path / "engine.run"
    assert run("bundle", "run", labelled.path, trec, "--with", "shape").code == 0
    rows = read_run(trec).rows
    rows.select("query", pl.col("candidate").alias("result"), pl.col("rank") + 1).write_csv(tmp_path / "engine.csv")
    gate = ("gate", labelled.path, "--measure", "P@3", "--old", "colour", "--out", tmp_path / "out", "--json")
    direct = json.loads(run(*gate, "--new", "shape").out)
    for file in (trec, tmp_path / "engine.csv"):
        ran = run(*gate, "--new", file)
        told = json.loads(ran.out)
        assert ran.code == 0 and told["groups"] == direct["groups"]
        unknown = f"what {file.name} learned from is not recorded" in " ".join(told["notes"])
        assert unknown == (file != trec)  # `bundle run` writes a record beside its file
    items = dict(pl.read_parquet(labelled.catalog_file).select("image", "item").iter_rows())
    by_item = rows.select("query", pl.col("candidate").replace_strict(items).alias("result"), "rank")
    by_item.write_csv(tmp_path / "items.csv")  # as a shop's engine returns them
    told = json.loads(run(*gate, "--new", tmp_path / "items.csv").out)
    assert told["verdict"] == "pass" and told["groups"][0]["new"] == direct["groups"][0]["new"]
    short = rows.filter(pl.col("rank") < 2, pl.col("query") != rows["query"][0])
    short.rename({"candidate": "result"}).select("query", "result", "rank").write_csv(tmp_path / "short.csv")
    told = json.loads(run(*gate, "--new", tmp_path / "short.csv").out)
    assert any("no result for 1 of 8 queries" in note for note in told["notes"])
    assert any("fewer than 3 items for 7 of 8 queries" in note for note in told["notes"])
    listed = short.select("query", pl.col("candidate").alias("result"), (pl.col("rank") + 1).cast(pl.Int64))
    gone = listed.select("query", result=pl.lit("gone.png"), rank=pl.lit(0, pl.Int64)).unique()
    pl.concat([gone, listed]).write_csv(tmp_path / "strange.csv")
    told = json.loads(run(*gate, "--new", tmp_path / "strange.csv").out)
    assert any("of other queries or images than these" in note for note in told["notes"])


def test_the_new_model_may_be_a_file_of_vectors_a_spec_or_an_onnx_file(
    labelled: WorkspaceFolder, run: Run, tmp_path: Path
) -> None:
    images = pl.read_parquet(labelled.catalog_file)["image"].to_list()
    np.savez(tmp_path / "brought.npz", vectors=read_vectors(labelled, "shape", images), keys=np.array(images))
    gate = ("gate", labelled.path, "--measure", "P@3", "--old", "shape", "--out", tmp_path / "out")
    brought = run(*gate, "--new", tmp_path / "brought.npz")
    assert brought.code == 0 and "lists what the old one lists" in brought.out
    np.savez(tmp_path / "brought.npz", vectors=read_vectors(labelled, "colour", images), keys=np.array(images))
    other = run(*gate, "--new", tmp_path / "brought.npz")  # the same name with another content
    assert other.code == 2 and "has another vector of" in other.err
    command = other.err.replace("\n", " ").split("`")[1].split()
    assert command[:2] == ["likewise", "encode"] and run(*command[1:]).code == 0  # what it says can be done
    assert run(*gate, "--new", tmp_path / "brought.npz").code in (0, 1, 3)
    keep = [row for row, image in enumerate(images) if image != "square/red-1.png"]
    some = read_vectors(labelled, "shape", images)[keep]
    np.savez(tmp_path / "lacking.npz", vectors=some, keys=np.array(images)[keep])
    lacking = run(*gate, "--new", tmp_path / "lacking.npz")  # could pass blindfold
    assert lacking.code == 2 and "has no vector of 1 images that shape has, square/red-1.png" in lacking.err
    assert "lacking" not in labelled.encoders()  # or evaluate would measure every model without that image
    assert run("bundle", "run", labelled.path, tmp_path / "today.run", "--with", "shape").code == 0
    engine = run(
        "gate", labelled.path, "--measure", "P@3", "--old", tmp_path / "today.run", "--new", tmp_path / "lacking.npz"
    )
    assert engine.code == 2 and "has no vector of 1 images that the pool has, square/red-1.png" in engine.err
    assert "lacking" not in labelled.encoders()
    assert run("encode", labelled.path, "--import", tmp_path / "lacking.npz", "--name", "lacking").code == 0
    older = ("gate", labelled.path, "--measure", "P@3", "--old", "lacking", "--new", "shape", "--json")
    assert "1 queries and 1 images of the gallery are left out" in " ".join(json.loads(run(*older).out)["notes"])
    assert run(*gate, "--new", "texture").code in (0, 1, 3) and "texture" in labelled.encoders()
    assert run(*gate, "--new", "colour?flip=1").code in (0, 1, 3) and "colour_flip" in labelled.encoders()
    model = write_onnx(tmp_path / "pooling.onnx")
    assert run(*gate, "--new", model).code in (0, 1, 3)
    assert "pooling" in labelled.encoders()


def test_mistakes_are_one_sentence(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    gate = ("gate", labelled.path, "--old", "colour")
    (tmp_path / "odd.csv").write_text("query,document\na,b\n")
    (tmp_path / "twice.csv").write_text("query,result,rank\na,b,1\na,c,1\n")
    for arguments, said in (
        (("--new", "nothing-of-this-name"), "there is no model 'nothing-of-this-name'"),
        (("--new", "shape", "--measure", "ROC_AUC"), "a gate compares lists"),
        (("--new", "shape", "--margin", "-1"), "a margin is between 0 and 100 points"),
        (("--new", tmp_path / "odd.csv"), "it needs query, result and rank"),
        (("--new", tmp_path / "twice.csv"), "the rank 1 more than once for a"),
    ):
        wrong = run(*gate, *arguments)
        assert wrong.code == 2 and said in " ".join(wrong.err.split()), wrong


def test_the_same_from_python(labelled: WorkspaceFolder, tmp_path: Path) -> None:
    found = lw.Workspace(labelled.path).gate("colour", "shape", measure="P@3", out=tmp_path)
    assert (found.verdict, found.exit_code) == ("pass", 0) and found.path == tmp_path / "index.html"
    assert found.table["group"].to_list() == ["overall", "circle", "square", "triangle"]
    assert "at least as good" in repr(found)


def test_labels_drawn_with_known_probabilities_are_estimated_for_the_whole_catalog(
    workspace: WorkspaceFolder, run: Run, tmp_path: Path
) -> None:
    """With every pair drawn and labelled the estimate is the difference that all labels give."""
    assert run("encode", workspace.path, "--with", "colour,shape", "--workers", 1).code == 0
    census = 24 * 11
    drawn = ("discover", workspace.path, "--design", "sampled", "--n-queries", 24, "--labels", census)
    assert run(*drawn).code == 0
    pool = pl.read_parquet(workspace.pool_file)
    same = pl.col("query").str.head(4) == pl.col("candidate").str.head(4)
    votes = pool.select("query", "candidate", expert=pl.lit("anna"), answer=pl.when(same).then(1).otherwise(0))
    votes = votes.with_columns(pl.col("answer").replace_strict({1: "similar", 0: "not similar"}))
    votes.write_csv(tmp_path / "votes.csv")
    assert run("label", "import", workspace.path, tmp_path / "votes.csv").code == 0
    ran = run("gate", workspace.path, "--old", "colour", "--new", "shape", "--measure", "nDCG@3", "--json")
    told = json.loads(ran.out)
    assert ran.code == 0 and told["estimated_for_the_whole_catalog"] and told["n_pairs_to_label"] == 0
    tested = {group["group"] for group in told["groups"]}
    asked = pl.read_parquet(workspace.catalog_file).filter(pl.col("image").is_in(votes["query"].unique().implode()))
    sizes = dict(asked.group_by("category").len().iter_rows())
    untested = ", ".join(f"{name} ({n})" for name, n in sorted(sizes.items()) if name not in tested)
    assert untested and any(note.endswith(f": {untested}.") for note in told["notes"])
    items = dict(pl.read_parquet(workspace.catalog_file).select("image", "item").iter_rows())
    vectors = {name: read_vectors(workspace, name, list(items)) for name in ("colour", "shape")}
    labels = [(one, other, int(one[:4] == other[:4])) for one in items for other in items if items[one] != items[other]]
    done = lw.evaluate(vectors, labels, items=list(items.values()), keys=list(items), measures="nDCG@3")
    theirs = done.compare("shape", "colour", "nDCG@3").difference
    assert told["groups"][0]["difference"] == pytest.approx(theirs, abs=1e-6)
    worse = run("gate", workspace.path, "--old", "shape", "--new", "colour", "--measure", "nDCG@3")
    assert worse.code == 1


def test_a_category_may_have_any_name(tmp_path: Path, run: Run) -> None:
    labelled = make_labelled(tmp_path)
    catalog = pl.read_parquet(labelled.catalog_file)
    names = {name: ("overall", "c\x01\ufffe")[row % 2] for row, name in enumerate(sorted(set(catalog["category"])))}
    catalog.with_columns(pl.col("category").replace(names)).write_parquet(labelled.catalog_file)
    assert run("gate", labelled.path, "--measure", "P@3", "--old", "shape", "--new", "colour").code == 1
    assert {"P@3 overall", "P@3 category overall", "P@3 c??"} <= set(cases(labelled.gate_folder / "junit.xml"))
