"""`likewise condition build`, `audit` and `evaluate`: templates that ask for similarity under a condition."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    HalfOption,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

Templates = Annotated[
    str | None, typer.Option("--templates", help="The set of templates; may be omitted if there is only one.")
]
TwoTowers = Annotated[
    str | None,
    typer.Option("--with", help="Two-tower encoders, comma-separated; by default the one that has features."),
]
Workers = Annotated[int | None, typer.Option(help="Processes; one per core by default.")]
SHOWN = 8


def build(
    workspace: WorkspacePath,
    name: Annotated[str, typer.Option(help="Name of the new templates.")] = "built",
    tasks: Annotated[
        str | None,
        typer.Option(help="Some of the four tasks (all by default), or negate_attribute and negate_object."),
    ] = None,
    per_task: Annotated[int, typer.Option(help="Maximum number of templates per task.")] = 500,
    category: Annotated[str, typer.Option(help="The catalog column with the category of an image.")] = "category",
    attributes: Annotated[
        str | None, typer.Option(help="Columns with attributes; by default every text column with few values.")
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(help="A column of text, such as caption, whose words also count as objects of the image."),
    ] = None,
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. split=test.")] = None,
    half: HalfOption = None,
    kinds: Annotated[
        Path | None, typer.Option(help="VAW: a JSON file of attribute kinds, such as its attribute_types.json.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="A two-tower encoder: no place of the target by its image or text side is favoured."),
    ] = None,
    seed: Seed = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite templates of that name.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build a four-task benchmark from the images' annotations, with exactly one right answer per template.

    Example: `likewise condition build shop --per-task 200`
    """
    from likewise.conditional.templates.step import build_template_set
    from likewise.conditional.templates.workspace_annotations import AnnotationOptions

    options = AnnotationOptions(category, parse_names(attributes) or None, words, where, half, kinds)
    with progress_bars("templates") as update:
        built = build_template_set(
            open_workspace(workspace),
            name,
            options,
            tasks=parse_names(tasks),
            per_task=per_task,
            seed=seed,
            replace=replace,
            against=against,
            on_progress=update,
        )
    if as_json:
        echo_json({"name": name, "file": str(built.path), "tasks": to_records(built.counts)})
        return
    echo(f"[bold]{escape(built.path)}[/]: {len(built.table):,} templates")
    for row in built.counts.iter_rows(named=True):
        what = row["task"].replace("_", " ")
        echo(f"  {what:<17} {row['n']:>5,} templates, {row['n_conditions']} conditions, {row['candidates']} candidates")


def audit(
    workspace: WorkspacePath,
    templates: Templates = None,
    encoder: Annotated[
        str | None,
        typer.Option("--with", help="Also list templates that this encoder answers from the image or the text alone."),
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(
            help="Published object templates: a workspace made by the reader coco_panoptic from their images."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List templates with a second valid answer, repeated images, or an answer revealed by image or text alone.

    Example: `likewise condition audit shop`
    """
    from likewise.conditional.templates.step import audit_template_set

    with progress_bars("images") as update:
        found = audit_template_set(
            open_workspace(workspace),
            templates,
            encoder,
            open_workspace(annotations) if annotations else None,
            on_progress=update,
        )
    if as_json:
        echo_json(
            {
                "templates": found.n_templates,
                "counts": to_records(found.counts),
                "problems": to_records(found.table),
                "shortcuts": to_records(found.shortcuts),
            }
        )
        return
    if not found.shortcuts.is_empty():
        console().print(_shortcuts(found.shortcuts))
    if found.table.is_empty():
        echo(f"{found.n_templates:,} templates, no problem found ({escape(found.note)})")
        return
    echo(f"{found.n_templates:,} templates ({escape(found.note)})")
    for row in found.counts.iter_rows(named=True):
        echo(f"  {row['problem']}: {row['n']:,} in {row['task'].replace('_', ' ')}")
    for row in found.table.head(SHOWN).iter_rows(named=True):
        echo(f"  [dim]{row['task']} {row['template']}: {row['problem']} ({escape(row['detail'])})[/]")
    echo(f"[dim]all problems: {escape(found.path)}[/]")


def _shortcuts(found: "pl.DataFrame") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent, with_interval

    shown = Table(title="What answers without the question (%)", title_justify="left", box=SIMPLE)
    for header in ("", "shortcut", "answers", "chance", "n"):
        shown.add_column(header, justify="left" if header in ("", "shortcut") else "right")
    for row in found.iter_rows(named=True):
        share = with_interval(row["value"], row["low"], row["high"])
        shown.add_row(row["task"].replace("_", " "), row["shortcut"], share, percent(row["chance"]), f"{row['n']:,}")
    return shown


def evaluate(
    workspace: WorkspacePath,
    encoders: TwoTowers = None,
    methods: Annotated[
        str,
        typer.Option(
            help="image, text, image+text, image+text:unscaled, late-fusion, soft-minimum, negation, attributes, "
            "objects, combiner:FOLDER, pseudo-words:FOLDER, run:FILE, queries:FILE; comma-separated."
        ),
    ] = "image,text,image+text",
    templates: Templates = None,
    split: Annotated[str | None, typer.Option(help="Split of CIRR, CIRCO, MIT-States or FashionIQ.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="A table with reference, condition and targets: questions to the whole catalog."),
    ] = None,
    official: Annotated[
        bool,
        typer.Option("--official", help="As the published code: its arithmetic, features unscaled, ties are hits."),
    ] = False,
    detections: Annotated[Path | None, typer.Option(help="For `objects`: a table with image, name, score.")] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Recall (and mAP) of every method, per task and on average, with intervals and the chance level.

    Example: `likewise condition evaluate shop --with clip`
    """
    from likewise.cli.tables import print_few_queries
    from likewise.conditional.step import RESULTS, RecallSettings, evaluate_conditions, read_results

    target = open_workspace(workspace)
    settings = RecallSettings(
        parse_names(encoders),
        parse_names(methods),
        templates,
        split,
        official,
        detections,
        questions,
    )
    with progress_bars("images") as update:
        found = evaluate_conditions(target, settings, workers=workers, on_progress=update)
    if as_json:
        echo_json(to_records(found.table))
        return
    for name in found.table["templates"].unique(maintain_order=True):
        console().print(recall_table(read_results(target, name, official=official), name, official=official))
    print_few_queries(min(found.table["n"].to_list(), default=None), "templates")
    for note in found.notes:
        echo(escape(note))
    echo(f"[dim]including earlier results on these templates; {escape(target.results_folder / RESULTS)}[/]")


def recall_table(found: "pl.DataFrame", name: str, *, official: bool) -> "Table":
    """One row per task and method, the first recall with its interval."""
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent, with_interval
    from likewise.lineage.guard import MARK

    measures = found["measure"].unique(maintain_order=True).to_list()
    ties = "ties count as hits" if official else "ties are shared"
    shown = Table(title=f"Recall on {name} (%; {ties})", title_justify="left", box=SIMPLE)
    for header in ("", *measures, "chance", "n"):
        shown.add_column(header, justify="right" if header else "left", no_wrap=bool(header))
    several = found["encoder"].n_unique() > 1
    for task in sorted(found["task"].unique(maintain_order=True), key=lambda task: task == "average"):
        shown.add_row(f"[bold]{escape(task.replace('_', ' '))}[/]")
        rows = found.filter(task=task)
        for encoder, method in rows.select("encoder", "method").unique(maintain_order=True).iter_rows():
            cells = {row["measure"]: row for row in rows.filter(encoder=encoder, method=method).iter_rows(named=True)}
            if measures[0] not in cells:
                continue
            first = cells[measures[0]]
            named = f"{encoder}: {method}" if several else method
            shown.add_row(
                "  " + escape(f"{named} {MARK}" if first.get("learned") else named),
                with_interval(first["value"], first["low"], first["high"]),
                *(percent(cells[measure]["value"]) if measure in cells else "" for measure in measures[1:]),
                percent(first["chance"]),
                f"{first['n']:,}" + ("" if first["n"] == first["n_total"] else f" of {first['n_total']:,}"),
            )
    return shown
