"""No command is forgotten: it is ended at every write call, or writes nothing, or the reason is written down."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from likewise.cli.app import app
from tests.crash import commands, extension_commands


def all_commands(command: Any, *names: str) -> Iterator[str]:
    """Every command of the command line, those of extensions too: `new`, `label import` ..."""
    if not hasattr(command, "list_commands"):
        yield " ".join(names)
        return
    context = command.make_context(" ".join(names) or "likewise", [], resilient_parsing=True)
    for name in command.list_commands(context):
        yield from all_commands(command.get_command(context, name), *names, name)


def command_of(argv: tuple[str, ...], known: set[str]) -> str:
    found = " ".join(argv[:2])
    return found if found in known else argv[0]


def test_every_command_is_tried() -> None:
    known = set(all_commands(get_command(app)))
    killed = {command_of(each.argv, known) for each in (*commands.CORE, *extension_commands.EXTENSIONS)}
    silent = commands.WRITE_NOTHING.keys() | extension_commands.WRITE_NOTHING.keys()
    elsewhere = commands.TRIED_ELSEWHERE.keys()
    assert known - killed - silent - elsewhere == set(), "say in tests/crash how these commands survive a kill"
    assert (killed | silent | elsewhere) - known == set(), "these are no commands"
    assert (killed & silent) | (silent & elsewhere) | (killed & elsewhere) == set()
