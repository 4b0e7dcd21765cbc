"""`likewise label goal`: the question that labelling is to settle; and the answer as `label status` prints it."""

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, escape, open_workspace, parse_names
from likewise.errors import LikewiseError
from likewise.workspace import quoted

if TYPE_CHECKING:
    from likewise.evaluation.stopping.goal import GoalKind
    from likewise.evaluation.stopping.step import GoalStatus


def goal(
    workspace: WorkspacePath,
    better: Annotated[str | None, typer.Option(help="Is this model better ...", metavar="MODEL")] = None,
    than: Annotated[str | None, typer.Option(help="... than this one?", metavar="MODEL")] = None,
    best: Annotated[str | None, typer.Option(help="Which of these models is best? Comma-separated.")] = None,
    recall: Annotated[
        bool, typer.Option("--recall", help="What share of all similar pairs was found, within ± the margin?")
    ] = False,
    measure: Annotated[str, typer.Option(help="P@k, Recall@k, nDCG@k, AP or ROC_AUC, over the whole catalog.")] = (
        "P@10"
    ),
    margin: Annotated[float, typer.Option(help="Differences below so many points do not matter.")] = 5.0,
    remove: Annotated[bool, typer.Option("--remove", help="Have no goal any more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Name the question that labelling is to settle, and show its answer; `label status` says when to stop.

    Example: `likewise label goal shoes --better dinov2 --than colour --measure P@10`
    """
    from likewise.evaluation.stopping.goal import make_goal, read_goal, store_goal
    from likewise.evaluation.stopping.step import goal_status
    from likewise.labeling.step import read_labels_if_any

    target = open_workspace(workspace)
    if (better is None) != (than is None):
        raise LikewiseError("a comparison names two models: --better A --than B.")
    asked: list[tuple[GoalKind, list[str]]] = []
    if better is not None and than is not None:
        asked.append(("better", [better, than]))
    if best is not None:
        asked.append(("best", parse_names(best)))
    if recall:
        asked.append(("recall", []))
    if len(asked) + remove > 1:
        raise LikewiseError("name one goal: --better A --than B, --best A,B,C, --recall, or --remove.")
    if remove:
        target.goal_file.unlink(missing_ok=True)
    elif asked:
        [(kind, models)] = asked
        labels = read_labels_if_any(target)
        named = make_goal(target, kind, models, measure, margin / 100.0, 0 if labels is None else len(labels))
        store_goal(target, named)
        if named.n_labels_then and not as_json:
            echo(
                f"[dim]{named.n_labels_then:,} labels were there already: the guarantee is for a question that was not "
                "chosen by looking at their results[/]"
            )
    elif read_goal(target) is None and not as_json:
        echo(f"no goal yet: likewise label goal {quoted(workspace)} --better MODEL --than MODEL")
        return
    status = goal_status(target)
    if as_json:
        echo_json(status.to_dict())
    else:
        print_goal(status)


def print_goal(status: "GoalStatus") -> None:
    """The question, the answer, the intervals behind it, and what is likely left."""
    from likewise.cli.tables import percent
    from likewise.evaluation.stopping.settled import SEQUENCE_NOTE

    if status.goal is not None:
        echo(f"[bold]goal:[/] {escape(status.goal.question)}")
    found = status.settlement
    if found is None:
        if status.problem:
            echo(f"  {escape(status.problem)}")
        return
    echo(f"  [bold]{escape(found.answer)}[/]")
    for one in found.comparisons:
        ends = f"{percent(one.low, 1)} to {percent(one.high, 1)}"
        echo(f"  {escape(one.model)} over {escape(one.other)}: {percent(one.difference, 1)} points ({ends})")
    if found.comparisons or found.low is not None:
        echo(f"  [dim]{SEQUENCE_NOTE}[/]")
    if not found.settled:
        echo(f"  {escape(left_text(status))}")


def left_text(status: "GoalStatus") -> str:
    """`about 400 more labels, 1.7 hours`, or that these queries will not settle it."""
    found = status.settlement
    if found is None or (not found.comparisons and found.low is None):
        return "go on labelling"
    if found.labels_left is None:
        return "likely left: more than labels of these queries can tell; draw more queries (`likewise discover`)"
    hours = "" if status.hours_left is None else f", {status.hours_left:,.1f} hours"
    return f"likely left: about {found.labels_left:,} more labels{hours}"
