"""Methods by name: `image`, `text`, `image+text`, `late-fusion`, `attributes`, `combiner:FOLDER`, `run:FILE`, …"""

from collections.abc import Callable, Sequence
from pathlib import Path

from likewise.catalog.table import read_catalog
from likewise.conditional.composers import (
    ComposerMethod,
    ImageAndText,
    ImageOnly,
    LateFusion,
    NegationAware,
    SoftMinimum,
    TextOnly,
    UnscaledSum,
)
from likewise.conditional.protocol import Composer, ConditionalMethod
from likewise.conditional.published_arithmetic import with_published_arithmetic
from likewise.conditional.run_files import QUERIES, RUN, read_query_vectors, read_run
from likewise.conditional.task_specific import AttributePrediction, read_detections
from likewise.conditional.templates.annotations import ATTRIBUTE_KINDS, ImageAnnotations
from likewise.conditional.templates.common_objects import COMMON_OBJECTS
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

BASELINES = ("image", "text", "image+text")
UNSCALED, LATE_FUSION, SOFT_MINIMUM, NEGATION = "image+text:unscaled", "late-fusion", "soft-minimum", "negation"
COMBINER, PSEUDO_WORDS = "combiner", "pseudo-words"
COMBINERS_FOLDER = "combiners"
"""The folder of a workspace in which Combiners are kept, one folder each."""


def combiner_names(workspace: WorkspaceFolder) -> list[str]:
    """Names of the Combiners a workspace holds."""
    return sorted(path.parent.name for path in (workspace.path / COMBINERS_FOLDER).glob("*/combiner.json"))


def get_composer(name: str, workspace: WorkspaceFolder | None = None, tower: TwoTower | None = None) -> Composer:
    """A method that makes one query vector; a Combiner by its folder or by its name in the workspace."""
    if name == "image":
        return ImageOnly()
    if name == "text":
        return TextOnly()
    if name == "image+text":
        return ImageAndText()
    if name == UNSCALED:
        return UnscaledSum()
    kind, _, where = name.partition(":")
    if kind == "image+text":
        return _weighted(name, where)
    if kind != COMBINER:
        raise LikewiseError(
            f"there is no method {name!r}: known are {', '.join((*BASELINES, UNSCALED, LATE_FUSION, SOFT_MINIMUM))}, "
            "negation, attributes, objects, combiner:FOLDER, pseudo-words:FOLDER, run:FILE and queries:FILE."
        )
    from likewise.conditional.combiner import read_combiner

    folder = _combiner_folder(where, workspace)
    found = read_combiner(folder, name if where else None)
    if tower is not None and found.tower != tower.spec and found.shape.dim != tower.dim:
        raise LikewiseError(f"{folder} was trained for {found.tower}, not for {tower.spec}: use it with its encoder.")
    return found


def weighted_method(text_weight: float) -> str:
    """The name of image + text with another weight of the text than a half."""
    return f"image+text:{text_weight:g}"


def _weighted(name: str, weight: str) -> Composer:
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise LikewiseError(f"there is no method {name!r}: write {UNSCALED}, or a weight of the text from 0 to 1.")
    return ImageAndText(value, f"image + text, text {100 * value:g} %")


def _combiner_folder(where: str, workspace: WorkspaceFolder | None) -> Path:
    if where and (workspace is None or not (workspace.path / COMBINERS_FOLDER / where).is_dir()):
        return Path(where)
    if workspace is None:
        raise LikewiseError("which Combiner? Name its folder: combiner:FOLDER.")
    there = combiner_names(workspace)
    if not where and len(there) != 1:
        listed = f"it has {', '.join(there)}" if there else "train one with `likewise condition train`"
        raise LikewiseError(f"{workspace.path} does not have exactly one Combiner: {listed}; name it: combiner:NAME.")
    return workspace.path / COMBINERS_FOLDER / (where or there[0])


def _pseudo_words(name: str, workspace: WorkspaceFolder, tower: TwoTower) -> ConditionalMethod:
    from likewise.conditional.pseudo_words import PSEUDO_WORDS_FOLDER, read_pseudo_words

    where = name.partition(":")[2] or PSEUDO_WORDS
    inside = workspace.path / PSEUDO_WORDS_FOLDER / where
    found = read_pseudo_words(inside if inside.is_dir() else Path(where))
    if found.tower != tower.spec and found.side.dim != tower.dim:
        raise LikewiseError(f"{name} was trained for {found.tower}, not for {tower.spec}: use it with its encoder.")
    return found


def get_methods(
    names: Sequence[str],
    workspace: WorkspaceFolder,
    tower: TwoTower,
    *,
    annotations: Callable[[], ImageAnnotations | None] = lambda: None,
    detections: Path | None = None,
    official: bool = False,
) -> list[ConditionalMethod]:
    """Every method asked for; `annotations` gives the words that attribute prediction may choose among.

    `official` computes query vectors and scores as the published code does.
    """
    found: list[ConditionalMethod] = []
    for name in names:
        if name == "attributes":
            known = annotations()
            if known is None or not known.attributes:
                found.append(AttributePrediction(tower.text_features, ATTRIBUTE_KINDS, COMMON_OBJECTS))
            else:
                found.append(AttributePrediction.of(tower.text_features, known))
        elif name == LATE_FUSION:
            found.append(LateFusion())
        elif name == SOFT_MINIMUM:
            found.append(SoftMinimum())
        elif name == NEGATION:
            found.append(NegationAware(tower.text_features))
        elif name == "objects":
            if detections is None:
                raise LikewiseError("the method `objects` reads what a detector found: give `--detections FILE`.")
            found.append(read_detections(detections))
        elif name == PSEUDO_WORDS or name.startswith(f"{PSEUDO_WORDS}:"):
            found.append(_pseudo_words(name, workspace, tower))
        elif name.startswith(f"{RUN}:"):
            found.append(read_run(Path(name.removeprefix(f"{RUN}:")), read_catalog(workspace)))
        elif name.startswith(f"{QUERIES}:"):
            found.append(read_query_vectors(Path(name.removeprefix(f"{QUERIES}:"))))
        else:
            found.append(ComposerMethod(get_composer(name, workspace, tower)))
    repeated = sorted({method.name for method in found if sum(each.name == method.name for each in found) > 1})
    if repeated:
        raise LikewiseError(f"two methods would be called {repeated[0]!r} in the table: name each once, rename a file.")
    return [with_published_arithmetic(method) for method in found] if official else found
