"""What every public call returns: a short `repr`, a table in a notebook, a picture where one says more."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
import pytest

import likewise as lw
from likewise.api.workspace import method_names
from likewise.errors import LikewiseError
from likewise.extensions import workspace_method_targets
from likewise.workspace import WorkspaceFolder
from tests.api.checks import check_result

FUNCTIONS = ("evaluate", "pool", "retrieval", "search", "triplets")
NO_PLOT = {
    "catalog",
    "encode",
    "explore",
    "export_vectors",
    "import_vectors",
    "new",
    "report",
    "status",
    "update",
    "vectors",
}


def target(name: str) -> Callable[..., Any]:
    if name in workspace_method_targets():
        extension, function = workspace_method_targets()[name]
        loaded: Callable[..., Any] = extension.load(function)
        return loaded
    found: Callable[..., Any] = getattr(lw.Workspace, name)
    return found


@pytest.mark.parametrize("name", method_names())
def test_every_method_of_a_workspace_returns_a_result(name: str) -> None:
    returned = inspect.signature(target(name)).return_annotation
    if isinstance(returned, str):  # a name that is imported for type checkers only
        returned = getattr(lw, returned.strip('"'))
    assert issubclass(returned, lw.TableResult)
    assert (inspect.getdoc(target(name)) or "").split("\n")[0].endswith((".", ":"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_over_arrays_returns_a_result(name: str) -> None:
    assert issubclass(get_type_hints(getattr(lw, name))["return"], lw.TableResult)


def test_type_checkers_see_every_public_name_and_every_method_of_our_extensions() -> None:
    source = lw.__file__
    assert source is not None
    stub = ast.parse(Path(source).with_suffix(".pyi").read_text(encoding="utf-8"))
    [declared] = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    methods = {node.targets[0].id: ast.unparse(node.value) for node in declared.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    ours = {name: each for name, (extension, each) in workspace_method_targets().items() if "likewise." in each}
    assert set(methods) == set(ours)
    imports = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name, value in methods.items():
        module, function = value.split(".")
        assert ours[name] == f"{imports[module]}:{function}"
    names = {*imports, "Workspace", "__version__"} - {value.split(".")[0] for value in methods.values()}
    assert names - {"CoreWorkspace"} == set(lw.__all__)


def test_results_over_arrays_show_themselves(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.standard_normal((6, 8)), 4, axis=0)
    models = {name: centres + noise * rng.standard_normal(centres.shape) for name, noise in (("a", 0.4), ("b", 2.0))}
    labels = [(q, c, int(q // 4 == c // 4)) for q in range(24) for c in range(24) if q != c]
    results = [
        lw.evaluate(models, labels),
        lw.retrieval(models, [row // 4 for row in range(24)]),
        lw.triplets(models, [(q, q ^ 1, (q + 8) % 24) for q in range(24)]),
        lw.pool(models, k=3, n_random=5),
        lw.search(models["a"], k=3),
    ]
    for result in results:
        check_result(result, plot=True, tmp_path=tmp_path)
    assert results[0].names == ["a", "b"]  # type: ignore[attr-defined]
    with pytest.raises(LikewiseError, match=r"P@77 was not measured: choose from ROC_AUC"):
        results[0].plot("P@77")  # type: ignore[call-arg]


def test_results_of_a_workspace_show_themselves(tmp_path: Path, shapes_table: Path) -> None:
    shop = lw.Workspace(tmp_path / "shop")
    results = {"new": shop.new(shapes_table), "encode": shop.encode("colour", "shape")}
    results |= {"catalog": shop.catalog(), "vectors": shop.vectors("colour")}
    assert results["vectors"].table["vector"].dtype.shape == (shop.encode("colour").table["dim"][0],)  # type: ignore[attr-defined]
    images = results["catalog"].table["image"].to_list()
    results |= {"search": shop.search("colour", images[:3], k=4), "discover": shop.discover(k=3, n_queries=6)}
    votes = [
        (query, candidate, expert, "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar")
        for query, candidate in results["discover"].table.select("query", "candidate").unique().iter_rows()
        for expert in ("anna", "ben")
    ]
    file = tmp_path / "votes.csv"
    pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(file)
    results |= {"import_votes": shop.import_votes(file), "labels": shop.labels(), "evaluate": shop.evaluate()}
    results |= {"report": shop.report(), "status": shop.status()}
    results["export_vectors"] = shop.export_vectors("colour", tmp_path / "colour.npz")
    page = shop.explore()
    page.stop()
    results["explore"] = page
    results["gate"] = shop.gate("colour", "shape")
    results["import_vectors"] = shop.import_vectors(tmp_path / "colour.npz", name="again")
    results["update"] = shop.update(shapes_table)
    assert set(method_names()) - set(workspace_method_targets()) == set(results)
    for name, result in results.items():
        check_result(result, plot=name not in NO_PLOT, tmp_path=tmp_path)


def test_what_extensions_return_shows_itself(tmp_path: Path, workspace: WorkspaceFolder) -> None:
    from likewise.outfits.training.step import TrainingRequest

    shop = lw.Workspace(workspace.path)
    tuned = shop.finetune("small?size=24", "cat", "tuned", epochs=2, batch=8)
    check_result(tuned, plot=True, tmp_path=tmp_path)
    assert tuned.table["epoch"].to_list() == [1, 2] and (tuned.folder / "encoder.safetensors").exists()
    shop.encode("colour")
    worn = [(f"outfit{n}", f"{shape}-{('red', 'blue')[n % 2]}") for n in range(6) for shape in ("circle", "square")]
    table = tmp_path / "outfits.csv"
    pl.DataFrame(worn, schema=["outfit", "item"], orient="row").write_csv(table)
    popular = shop.train_outfit_model(TrainingRequest("popular", encoders="colour", outfits=table))
    assert f"popular, from {popular.card.training.n_outfits} outfits" in repr(popular)
    named = {"circle": "shoes", "square": "tops", "triangle": "skirts"}
    made = shop.generate_outfits(8, mapping=named)
    check_result(made, plot=True, tmp_path=tmp_path)
    assert made.table["outfit"].n_unique() == 8 and made.path.exists()
    matched = shop.train_outfit_model(
        TrainingRequest("type-aware", encoders="colour", preset="quick", outfits=table, epochs=2)
    )
    check_result(matched, plot=True, tmp_path=tmp_path)
    assert matched.table["epoch"].to_list() == [1, 2]
