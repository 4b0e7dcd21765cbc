"""With which encoder and which method a workspace is searched under a condition."""

from dataclasses import dataclass
from pathlib import Path

from likewise.conditional.methods import COMBINER, COMBINERS_FOLDER, combiner_names
from likewise.conditional.towers import TwoTower, encoded_towers
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_json

CHOSEN_METHODS = "condition_methods.json"
"""In results/: the method that `likewise condition catalog` chose for each encoder."""


def default_tower(workspace: WorkspaceFolder) -> str:
    """The two-tower encoder a workspace has features of."""
    there = encoded_towers(workspace)
    if len(there) == 1:
        return there[0]
    what = f"has features of {', '.join(there)}" if there else "has no features of a two-tower encoder yet"
    raise LikewiseError(
        f"{workspace.path} {what}: name one with `--with`, such as two-tower:FOLDER (from `likewise condition "
        "two-tower`), clip or hf:FOLDER."
    )


@dataclass(frozen=True)
class SearchModel:
    """An encoder and a method to search with."""

    encoder: str
    method: str

    @property
    def label(self) -> str:
        kind, _, name = self.method.partition(":")
        said = f"{kind} {name}" if name and name != kind else kind.replace("+", " + ")
        return f"{TwoTower(self.encoder).name}, {said}"


def available_models(workspace: WorkspaceFolder) -> list[SearchModel]:
    """What a workspace can be searched with, without loading it: measured weights, Combiners, the plain mean."""
    towers = encoded_towers(workspace)
    measured = [SearchModel(spec, method) for spec in towers if (method := chosen_method(workspace, TwoTower(spec)))]
    named = [(spec, name) for spec in towers for name in _matching_combiners(workspace, TwoTower(spec))]
    trained = [SearchModel(spec, f"{COMBINER}:{name}") for spec, name in named]
    return [*measured, *trained, *(SearchModel(spec, "image+text") for spec in towers)]


def default_method(workspace: WorkspaceFolder, tower: TwoTower) -> str:
    """What `likewise condition catalog` chose, else the encoder's only Combiner, else the mean of image and text."""
    if chosen := chosen_method(workspace, tower):
        return chosen
    fitting = _matching_combiners(workspace, tower)
    return f"{COMBINER}:{fitting[0]}" if len(fitting) == 1 else "image+text"


def chosen_method(workspace: WorkspaceFolder, tower: TwoTower) -> str | None:
    """The weights that kept most of category and condition, if they were measured for this encoder."""
    path = workspace.results_folder / CHOSEN_METHODS
    found = read_json(path).get(tower.name) if path.exists() else None
    return str(found) if found else None


def _matching_combiners(workspace: WorkspaceFolder, tower: TwoTower) -> list[str]:
    return [name for name in combiner_names(workspace) if _trained_for(workspace.path / COMBINERS_FOLDER / name, tower)]


def _trained_for(folder: Path, tower: TwoTower) -> bool:
    """Whether a Combiner was trained for this encoder; its folder may be written in another way."""
    trained_for = str(read_json(folder / "combiner.json").get("tower", ""))
    return bool(trained_for) and TwoTower(trained_for).name == tower.name
