"""`likewise import-labels`, `export-labels`, `export-run`: labels and lists from and to other people's files."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, open_workspace
from likewise.errors import LikewiseError

Output = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)]


def import_labels(
    workspace: WorkspacePath,
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", help="VSD .json, TREC .qrels, or .csv, .tsv, .parquet with query, candidate, label."
        ),
    ],
    positive_from: Annotated[int, typer.Option(help="Grades from here up are similar.")] = 1,
    gallery: Annotated[
        str | None, typer.Option(help="Without a pool: only such candidates, e.g. domain=shop; all images by default.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Put these in the place of labels already there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take labels that come without votes; labels.json notes the file, and no votes are invented.

    Example: `likewise import-labels shoes vsd-tags.json`
    """
    from likewise.evaluation.exchange.labels_import import import_labels as take

    done = take(open_workspace(workspace), labels, positive_from=positive_from, replace=replace, gallery=gallery)
    if as_json:
        echo_json(done.to_dict())
        return
    outside = f", {done.n_outside_pool:,} not in the pool" if done.n_outside_pool else ""
    echo(f"[bold]{done.n_labels:,} labels[/], {done.n_similar:,} similar{outside}")
    if done.n_outside_pool is None:
        echo("  no pool was made here, so these pairs are the pool; no model counts as having fed it")
    echo(f"  {done.n_repeated:,} rows said the same again, {done.n_unjudged:,} gave no label")
    if not done.changed:
        echo("  they were there already")


def export_labels(
    workspace: WorkspacePath,
    output: Output,
    as_evaluated: Annotated[
        bool, typer.Option("--as-evaluated", help="Leave out pairs that only chance proposed, as `evaluate` does.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the labels as VSD .json, TREC .qrels, .csv, .tsv or .parquet, as the file's name ends.

    Example: `likewise export-labels shoes shoes.qrels --as-evaluated`
    """
    from likewise.discovery.step import read_pool, retired_pairs
    from likewise.evaluation.exchange.labels_io import drop_random_pairs, write_labels_file
    from likewise.labeling.step import read_labels

    target = open_workspace(workspace)
    _refuse_existing(output, replace=replace)
    labels = read_labels(target)
    used = labels
    if target.pool_file.exists():
        used = drop_random_pairs(labels, read_pool(target).rows, retired_pairs(target))
    written = used if as_evaluated else labels
    write_labels_file(written, output)
    if as_json:
        echo_json({"file": str(output), "n_labels": len(written), "n_only_by_chance": len(labels) - len(used)})
        return
    echo(f"{output}: {len(written):,} labels")
    if len(used) < len(labels) and not as_evaluated:
        echo(
            f"  {len(labels) - len(used):,} of them only chance proposed; `evaluate` leaves those out "
            "(add --as-evaluated to compare its numbers)"
        )


def export_run(
    workspace: WorkspacePath,
    output: Output,
    encoder: Annotated[str, typer.Option("--with", help="The encoder whose lists to write.")],
    candidates: Annotated[
        str, typer.Option(help="best-image-per-item (as HR and MRR count), every-image, or judged-pairs (for areas).")
    ] = "best-image-per-item",
    depth: Annotated[int, typer.Option(help="Candidates per query.")] = 1000,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write one model's lists as a TREC run, for trec_eval and its kin.

    Example: `likewise export-run shoes colour.run --with colour`
    """
    from likewise.evaluation.exchange.run_export import export_run as write

    target = open_workspace(workspace)
    _refuse_existing(output, replace=replace)
    done = write(target, encoder, output, candidates=candidates, depth=depth)
    if as_json:
        echo_json({"file": str(output), "n_lines": done.n_lines, "n_queries": done.n_queries, "tag": done.tag})
        return
    echo(f"{output}: {done.n_lines:,} candidates of {done.n_queries:,} queries, tag {done.tag}")


def _refuse_existing(path: Path, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise LikewiseError(f"{path} already exists: add `--replace` to overwrite it.")
