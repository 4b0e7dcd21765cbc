"""A command that is ended at any write call, and run again, leaves the bytes of an undisturbed run and nothing else.

`LIKEWISE_KILLS` sets at how many write calls of each command the slow tests end it (drawn by a seed; all of them: 0).
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.commands import CORE, EXTENSIONS, build_extension_start, build_start
from tests.crash.killing import EXTENSIONS as ROOMS_OF_EXTENSIONS
from tests.crash.killing import FAR_FROM_LABELS, Command, CommandServer, command_server, kill_everywhere
from tests.evaluation.making import make_labelled

KILLS = int(os.environ.get("LIKEWISE_KILLS", "12")) or 10_000
Started = tuple[CommandServer, Path, Path]
RULE = Command("label consensus", ("label", "consensus", "ws", "--rule", "dawid-skene"))


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    place = tmp_path_factory.mktemp("core")
    with command_server(place / "server", without=ROOMS_OF_EXTENSIONS) as server:
        build_start(server, place / "before")
        yield server, place / "before", place / "work"


@pytest.fixture(scope="module")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    place = tmp_path_factory.mktemp("extensions")
    with command_server(place / "server") as server:
        build_extension_start(server, place / "before")
        yield server, place / "before", place / "work"


def test_labels_made_anew_survive_a_kill_at_any_write(tmp_path: Path) -> None:
    """The short form: one command that replaces files which belong together, with a few kills."""
    make_labelled(tmp_path / "before")
    with command_server(tmp_path / "server", without=(*ROOMS_OF_EXTENSIONS, *FAR_FROM_LABELS)) as server:
        assert kill_everywhere(server, RULE, tmp_path / "before", tmp_path / "work", at_most=4) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", CORE, ids=lambda command: command.name)
def test_kills_at_every_write_of_the_core(core: Started, command: Command) -> None:
    server, before, work = core
    assert kill_everywhere(server, command, before, work, KILLS) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", EXTENSIONS, ids=lambda command: command.name)
def test_kills_at_every_write_of_the_extensions(extensions: Started, command: Command) -> None:
    server, before, work = extensions
    assert kill_everywhere(server, command, before, work, KILLS) == []
