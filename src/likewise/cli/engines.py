"""Where the work is done: the options that commands with `--engine` share."""

from typing import Annotated

import typer

from likewise.errors import LikewiseError

ENGINES = ("local", "ray")

Engine = Annotated[str, typer.Option("--engine", help="Where to work: local (this machine) or ray (a cluster).")]
Address = Annotated[
    str | None,
    typer.Option("--address", help="With --engine ray: the cluster's address; the cores of this machine by default."),
]


def on_ray(engine: str, address: str | None) -> bool:
    """Whether the user chose the cluster; what cannot be meant is answered."""
    if engine not in ENGINES:
        raise LikewiseError(f"--engine {engine} is unknown: use {' or '.join(ENGINES)}.")
    if address is not None and engine != "ray":
        raise LikewiseError("--address is the address of a Ray cluster: add --engine ray.")
    return engine == "ray"
