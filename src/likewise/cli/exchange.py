"""Labels from and to other people's files, for `likewise label import` and `likewise label export`."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import echo, echo_json, escape, progress_bars
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.workspace import WorkspaceFolder, discard_result, write_atomically

Output = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)]


def import_labels(
    workspace: WorkspaceFolder,
    labels: Path,
    *,
    positive_from: float | None,
    gallery: str | None,
    every_image: bool,
    generators: list[str],
    k: int,
    replace: bool,
    as_json: bool,
) -> None:
    """Take labels that come without votes; labels.json notes the file, and no votes are invented."""
    from likewise.encoders.running.encode import encode_catalog
    from likewise.evaluation.exchange.labels_import import import_labels as take

    if missing := [name for name in generators if name not in workspace.encoders()]:
        with progress_bars("images") as update:
            encode_catalog(workspace, missing, on_progress=update)
    done = take(
        workspace,
        labels,
        positive_from=positive_from,
        replace=replace,
        gallery=gallery,
        every_image=every_image,
        generators=generators,
        k=k,
    )
    if as_json:
        echo_json(done.to_dict())
        return
    outside = f", {done.n_outside_pool:,} not in the pool" if done.n_outside_pool else ""
    if done.n_drawn is not None and done.n_outside_pool:
        outside = f", {done.n_outside_pool:,} outside the design: they count as found, and for no estimate"
    echo(f"[bold]{done.n_labels:,} labels[/], {done.n_similar:,} similar{outside}")
    if done.grades is not None:
        echo(f"  graded; similar: {done.grades} (--positive-from chooses); nDCG uses the grades, other measures do not")
    if done.n_outside_pool is None:
        who = f"{', '.join(done.generators)} contributed to it" if done.generators else "nobody is known to have fed it"
        echo(f"  no pool was made here, so these pairs are the pool; {escape(who)}")
    if done.n_listed is not None:
        echo(f"  {done.n_listed:,} of the labels are among the first {k} candidates of {escape(', '.join(generators))}")
    if done.n_drawn is not None:
        echo(
            f"  {done.n_drawn:,} pairs drawn with known probabilities: `evaluate` estimates the whole catalog from them"
        )
    if done.n_training:
        echo(
            f"  {done.n_training:,} labels of the training part are kept apart: `likewise train perceptual` learns "
            "from them, nothing is measured on them"
        )
    echo(f"  {done.n_repeated:,} repeated rows, {done.n_unjudged:,} rows without a label")
    if not done.changed:
        echo("  these labels were already stored")


def export_labels(target: WorkspaceFolder, output: Path, *, as_evaluated: bool, as_json: bool) -> None:
    """Write the labels as VSD .json, TREC .qrels or .prels, .csv, .tsv or .parquet, as the file's name ends."""
    from likewise.evaluation.exchange.labels_export import export_labels as export

    made = export(target, output.suffix.lower(), as_evaluated=as_evaluated, name=str(output))
    write_atomically(output, lambda file: discard_result(file.write(made.content)))
    if as_json:
        counts = {"n_labels": made.n_labels, "n_only_by_chance": made.n_random, "n_drawn": made.n_drawn}
        counts["positive_from"] = made.positive_from
        echo_json({"file": str(output), **counts})
        return
    echo(f"{output}: {made.n_labels:,} labels")
    if made.positive_from is not None:
        echo(f"  with grades; to read them back as they are: label import --positive-from {made.positive_from}")
    if made.n_drawn is not None:
        echo(f"  with the inclusion probability and the round of all {made.n_drawn:,} drawn pairs, labelled or not")
    if made.n_random and not as_evaluated:
        echo(
            f"  {made.n_random:,} of them were only drawn at random; `evaluate` leaves those out "
            "(add --as-evaluated to compare its numbers)"
        )


def refuse_existing(path: Path, *, replace: bool) -> None:
    """Refuse to write over a file, once what an interrupted command left beside it is put in order."""
    finish_writing(path.parent)
    if path.exists() and not replace:
        raise LikewiseError(f"{path} already exists: add `--replace` to overwrite it.")
