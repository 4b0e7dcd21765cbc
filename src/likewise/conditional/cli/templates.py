"""`likewise condition verify`, `verified`, `crops` and `submit`: people, cut-out pictures, and test servers."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import (
    AsJson,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    progress_bars,
    to_records,
)
from likewise.conditional.cli.condition import Templates, Workers, recall_table
from likewise.workspace import WorkspaceFolder, quoted


def verify(
    workspace: WorkspacePath,
    templates: Templates = None,
    per_task: Annotated[
        int | None, typer.Option(help="Number of templates per task, drawn at random; all by default.")
    ] = None,
    guests: Annotated[
        int, typer.Option(help="Number of people who may answer without an invitation; 0: invited experts only.")
    ] = 0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Put templates on the labelling site as multiple-choice questions.

    Example: `likewise condition verify shop --per-task 50`, then `likewise label serve shop`
    """
    from likewise.conditional.templates.verify_step import post_questions

    posted = post_questions(open_workspace(workspace), templates, per_task=per_task, guests=guests, seed=seed)
    if as_json:
        echo_json(
            {"templates": posted.name, "questions": posted.n_questions, "new": posted.n_new, "address": posted.address}
        )
        return
    echo(f"{posted.n_questions:,} questions about {escape(posted.name)}, {posted.n_new:,} of them new")
    where = f"anyone can answer at {posted.address}" if guests else "invited experts find them under Questions"
    echo(
        f"[dim]`likewise label serve {escape(quoted(workspace))}` starts the site; {where}. Then: "
        f"`likewise condition verified {escape(quoted(workspace))} --templates {escape(posted.name)}`[/]"
    )


def verified(
    workspace: WorkspacePath,
    templates: Templates = None,
    min_people: Annotated[int, typer.Option(help="Minimum number of answers to keep a template.")] = 1,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an earlier cleaned version.")] = False,
    as_json: AsJson = False,
) -> None:
    """Collect people's answers: a cleaned set of templates, and people's accuracy.

    Example: `likewise condition verified shop --min-people 2`
    """
    from likewise.conditional.templates.verify_step import collect_answers

    found = collect_answers(open_workspace(workspace), templates, min_people=min_people, replace=replace)
    if as_json:
        echo_json({"file": str(found.path), "scores": to_records(found.scores), "verdicts": to_records(found.verdicts)})
        return
    kept, answered = int(found.verdicts["kept"].sum()), len(found.verdicts)
    console().print(recall_table(found.scores, f"{found.name}, by people", official=False))
    echo(f"[bold]{escape(found.path)}[/]: {kept:,} of {answered:,} answered templates: most people chose the target")


def crops(
    workspace: WorkspacePath,
    target: Annotated[Path, typer.Argument(metavar="NEW", help="The workspace to make.", show_default=False)],
    templates: Templates = None,
    crop: Annotated[
        str, typer.Option(help="centred, or official: the published code grows a box only up and to the left.")
    ] = "centred",
    as_json: AsJson = False,
) -> None:
    """Cut the objects that attribute templates ask about out of their images, into a new workspace.

    Example: `likewise condition crops genecis genecis-objects`
    """
    from likewise.conditional.templates.crops import crop_templates, parse_crop_mode

    with progress_bars("pictures") as update:
        made = crop_templates(
            open_workspace(workspace),
            WorkspaceFolder(target),
            templates,
            mode=parse_crop_mode(crop),
            on_progress=update,
        )
    if as_json:
        echo_json({"pictures": made.n_pictures, "templates": made.n_templates, "left_out": made.n_left_out})
        return
    echo(
        f"[bold]{escape(target)}[/]: {made.n_pictures:,} pictures of {made.n_templates:,} templates, "
        f"{made.n_left_out:,} left out"
    )


def submit(
    workspace: WorkspacePath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the files.", show_default=False)],
    encoder: Annotated[str | None, typer.Option("--with", help="A two-tower encoder.")] = None,
    method: Annotated[str, typer.Option(help="image, text, image+text or combiner:FOLDER.")] = "image+text",
    split: Annotated[str | None, typer.Option(help="Which split; the test split by default.")] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Write the files that the test servers of CIRR and CIRCO take, checked as the server would.

    Example: `likewise condition submit cirr out --with clip`
    """
    from likewise.conditional.submission import submit_questions

    with progress_bars("images") as update:
        done = submit_questions(
            open_workspace(workspace), folder, encoder, method, split, workers=workers, on_progress=update
        )
    if as_json:
        files = [str(path) for path in done.files]
        echo_json({"questions": done.n_questions, "files": files, "notes": done.notes})
        return
    echo(f"{done.n_questions:,} questions answered and checked: {escape(', '.join(map(str, done.files)))}")
    for note in done.notes:
        echo(escape(note))
