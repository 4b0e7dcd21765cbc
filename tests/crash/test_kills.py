"""A command that is ended at any write call, and run again, leaves the bytes of an undisturbed run and nothing else.

`LIKEWISE_KILLS` sets at how many write calls of each command the slow tests end it (drawn by a seed; all of them: 0).
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.commands import CORE, WRITE_NOTHING, build_start
from tests.crash.extension_commands import EXTENSIONS, TRAININGS, build_extension_start
from tests.crash.extension_commands import WRITE_NOTHING as EXTENSIONS_WRITE_NOTHING
from tests.crash.killing import EXTENSIONS as ROOMS_OF_EXTENSIONS
from tests.crash.killing import (
    FAR_FROM_LABELS,
    Command,
    CommandServer,
    command_server,
    folder_state,
    kill_everywhere,
    start_over,
)
from tests.crash.server import INTERRUPT, TERMINATE
from tests.evaluation.labelled_workspace import make_labelled

KILLS = int(os.environ.get("LIKEWISE_KILLS", "12")) or None
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
        assert kill_everywhere(server, RULE, tmp_path / "before", tmp_path / "work", at_most=4).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("command", CORE, ids=lambda command: command.name)
def test_kills_at_every_write_of_the_core(core: Started, command: Command) -> None:
    server, before, work = core
    assert kill_everywhere(server, command, before, work, KILLS).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("command", EXTENSIONS, ids=lambda command: command.name)
def test_kills_at_every_write_of_the_extensions(extensions: Started, command: Command) -> None:
    server, before, work = extensions
    assert kill_everywhere(server, command, before, work, KILLS).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [INTERRUPT, TERMINATE])
@pytest.mark.parametrize("command", CORE, ids=lambda command: command.name)
def test_an_interrupted_command_goes_on_where_it_stopped(core: Started, command: Command, how: str) -> None:
    """Ctrl-C, SIGTERM: a sentence, exit code 130 or 143, nothing half-written, the same bytes when it is run again."""
    server, before, work = core
    assert kill_everywhere(server, command, before, work, at_most=4, seed=2, how=how).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("command", EXTENSIONS, ids=lambda command: command.name)
def test_an_ended_command_of_an_extension_goes_on_where_it_stopped(extensions: Started, command: Command) -> None:
    server, before, work = extensions
    assert kill_everywhere(server, command, before, work, at_most=2, seed=3, how=TERMINATE).problems == []


@pytest.fixture(scope="module")
def two_threads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    place = tmp_path_factory.mktemp("threads")
    with command_server(place / "builder") as builder, command_server(place / "server", threads=2) as server:
        build_extension_start(builder, place / "before")
        yield server, place / "before", place / "work"


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_on_two_threads_gives_the_same_weights_killed_or_not(two_threads: Started, name: str) -> None:
    server, before, work = two_threads
    [command] = [each for each in EXTENSIONS if each.name == name]
    assert kill_everywhere(server, command, before, work, at_most=3, seed=1).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("argv", WRITE_NOTHING.values(), ids=WRITE_NOTHING.keys())
def test_commands_of_the_core_that_write_nothing(core: Started, argv: tuple[str, ...]) -> None:
    writes_nothing(*core, argv)


@pytest.mark.slow
@pytest.mark.parametrize("argv", EXTENSIONS_WRITE_NOTHING.values(), ids=EXTENSIONS_WRITE_NOTHING.keys())
def test_commands_of_the_extensions_that_write_nothing(extensions: Started, argv: tuple[str, ...]) -> None:
    writes_nothing(*extensions, argv)


def writes_nothing(server: CommandServer, before: Path, work: Path, argv: tuple[str, ...]) -> None:
    start_over(before, work, argv)
    there = folder_state(work)
    found = server.run(argv, work)
    assert found.code == 0, found.output
    assert {event for event in found.events if not event.startswith("commit")} == set()
    assert folder_state(work) == there
