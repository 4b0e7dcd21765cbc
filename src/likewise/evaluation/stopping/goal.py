"""The question that labelling is to settle, named by its owner: goal.json of a workspace."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from likewise.errors import LikewiseError
from likewise.evaluation.measures import cutoff_of
from likewise.workspace import WorkspaceFolder, read_json, write_json

GoalKind = Literal["better", "best", "recall"]
DEFAULT_MEASURE = "P@10"
WITHOUT_CUTOFF = ("AP", "ROC_AUC")
DEFAULT_MARGIN = 0.05


@dataclass(frozen=True)
class LabelingGoal:
    """Is one model better than another, which of several is best, or what share of similar pairs was found.

    A difference below `margin` does not matter: it settles a comparison as a tie, and recall is wanted within it.
    """

    kind: GoalKind
    models: tuple[str, ...] = ()
    measure: str = DEFAULT_MEASURE
    margin: float = DEFAULT_MARGIN
    n_labels_then: int = (
        0  # labels there were when the goal was named: a guarantee is about labels chosen before seeing
    )

    @property
    def question(self) -> str:
        """As the owner asked it."""
        points = f"{100 * self.margin:g} points"
        ignored = f"(differences below {points} do not matter)"
        if self.kind == "recall":
            return f"What share of all similar pairs was found, within ± {points}?"
        if self.kind == "better":
            return f"Is {self.models[0]} better than {self.models[1]} by {self.measure}? {ignored}"
        return f"Which of {', '.join(self.models)} is best by {self.measure}? {ignored}"

    @property
    def cutoff(self) -> int:
        """The k that estimates must have."""
        return cutoff_of(self.measure) or 10


def make_goal(
    workspace: WorkspaceFolder,
    kind: GoalKind,
    models: Sequence[str],
    measure: str = DEFAULT_MEASURE,
    margin: float = DEFAULT_MARGIN,
    n_labels_then: int = 0,
) -> LabelingGoal:
    """A goal that can be reached: models with vectors, a measure of the whole catalog, a margin between 0 and 1."""
    there = workspace.encoders()
    for name in models:
        if name not in there:
            raise LikewiseError(
                f"{name} has no vectors in {workspace.path}: run `likewise encode {workspace.quoted} --with {name}`, "
                f"or choose among {', '.join(there) or 'none yet'}."
            )
    if kind != "recall" and len(set(models)) < 2:
        raise LikewiseError("a comparison needs two different models: name both.")
    if not 0.0 < margin < 1.0:
        raise LikewiseError(f"a difference that matters is between 0 and 100 points, not {100 * margin:g}.")
    name, at, cutoff = measure.partition("@")
    known = measure in WITHOUT_CUTOFF or (name in ("P", "Recall", "nDCG") and at and cutoff.isdecimal() and int(cutoff))
    if not known:
        raise LikewiseError(
            f"{measure!r} is not estimated for the whole catalog: use P@k, Recall@k, nDCG@k, AP or ROC_AUC."
        )
    return LabelingGoal(kind, tuple(dict.fromkeys(models)), measure, margin, n_labels_then)


def store_goal(workspace: WorkspaceFolder, goal: LabelingGoal) -> None:
    write_json(asdict(goal) | {"models": list(goal.models)}, workspace.goal_file)


def read_goal(workspace: WorkspaceFolder) -> LabelingGoal | None:
    """The goal of a workspace, None where nobody named one."""
    if not workspace.goal_file.exists():
        return None
    stored: dict[str, Any] = read_json(workspace.goal_file)
    try:
        return LabelingGoal(**stored | {"models": tuple(stored["models"])})
    except (TypeError, KeyError) as error:
        raise LikewiseError(
            f"{workspace.goal_file} is no goal ({error}): name it again with `likewise label goal`."
        ) from error
