"""`likewise plan compute ...`: what labelling and computing will cost, before either begins."""

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, console, echo, echo_json, format_hours, parse_names

if TYPE_CHECKING:
    from rich.table import Table

    from likewise.scale.plan import DeploymentEstimate


def compute(
    images: Annotated[str, typer.Option(help="Number of images: 52000, 250k, 100M.")],
    dim: Annotated[int, typer.Option(help="Dimensions of a vector.")] = 768,
    encoders: Annotated[int, typer.Option(help="Number of encoders.")] = 6,
    queries: Annotated[str, typer.Option(help="Number of queries.")] = "2000",
    workers: Annotated[str, typer.Option(help="Numbers of Ray workers to compare, comma-separated.")] = "4,16,64",
    cores_per_worker: Annotated[int, typer.Option(help="Cores of a Ray worker.")] = 16,
    cores: Annotated[int | None, typer.Option(help="Cores of a single machine; this machine's by default.")] = None,
    memory: Annotated[float | None, typer.Option(help="Memory of a machine in GB; this machine's by default.")] = None,
    price: Annotated[float, typer.Option(help="Price of one core for one hour, in any currency.")] = 0.05,
    images_per_second: Annotated[
        float | None,
        typer.Option(
            help="Images per second of your encoder on one core (or GPU); that of efficientnet-lite0 by default."
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Measure this machine first (about a minute) instead of using stored measurements."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Memory, time and cost of encoding and searching: one machine, with an index, and on Ray workers.

    Example: `likewise plan compute --images 100M --dim 768 --encoders 6`
    """
    from dataclasses import asdict

    from likewise.machine import this_machine
    from likewise.scale.cost_constants import measure_constants, read_constants
    from likewise.scale.plan import CatalogSize, estimate_deployments, parse_count

    size = CatalogSize(parse_count(images), dim, encoders, parse_count(queries))
    constants = measure_constants() if measure else read_constants()
    here = this_machine(cores, memory)
    ways = estimate_deployments(
        size,
        constants,
        cores=here.cores,
        memory_gb=here.memory_gb,
        workers=[parse_count(each) for each in parse_names(workers)],
        cores_per_worker=cores_per_worker,
        price_per_core_hour=price,
        image_seconds=1.0 / images_per_second if images_per_second else None,
    )
    if as_json:
        shown = [asdict(way) | {"hours": way.hours} for way in ways]
        echo_json({"size": asdict(size), "constants": asdict(constants), "ways": shown})
        return
    echo(f"[bold]{size.images:,} images[/], {encoders} encoders of {dim} dimensions, {size.queries:,} queries")
    console().print(_table(ways))
    if not all(way.fits for way in ways):
        echo(f"[red]![/] more memory than the {here.memory_gb:,.0f} GB of a machine")
    if not any(way.fits for way in ways):
        least = min(ways, key=lambda way: way.memory_gb)
        less = "--cores-per-worker" if least.name.startswith("ray") else "--dim"
        echo(
            f"nothing fits: {least.name} needs the least memory, {least.memory_gb:,.0f} GB per machine; "
            f"a smaller {less} needs less"
        )
    echo(f"[dim]one machine: {here.cores} cores, {here.memory_gb:,.0f} GB; a worker: {cores_per_worker} cores;[/]")
    echo(f"[dim]cost at {price:g} per core-hour. Measured on: {constants.machine}[/]")
    echo(f"[dim]with {constants.how}.[/]")
    if not measure:
        echo("[dim]`--measure` measures the machine you are on.[/]")


def _table(ways: "list[DeploymentEstimate]") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE)
    table.add_column("way", no_wrap=True)
    for name in ("GB memory", "GB disk", "encode", "build", "search", "cost"):
        table.add_column(name, justify="right")
    for way in ways:
        memory = f"{way.memory_gb:,.0f}  " if way.fits else f"[red]{way.memory_gb:,.0f} ![/]"
        spans = (format_hours(hours) for hours in (way.encode_hours, way.build_hours, way.search_hours))
        cost = f"{way.cost:,.0f}" if way.cost >= 100 else f"{way.cost:.2f}"
        table.add_row(way.name, memory, f"{way.disk_gb:,.0f}", *spans, cost)
    return table
