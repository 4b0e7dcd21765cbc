"""Long work tells how far it is: in a log one line now and then, with the speed and the time left."""

from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress

from likewise.cli import console


def test_a_log_gets_lines_with_speed_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 0.0, 5.0, 20.0, 400.0])
    monkeypatch.setattr("likewise.cli.console.time.monotonic", lambda: next(clock))
    monkeypatch.setenv("COLUMNS", "120")
    with console.progress_bars("images") as update:
        for done in (0, 100, 400, 402):
            update("shape", done, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "shape: 400 of 1,000 images, 20/s, about 30 s left",
        "shape: 402 of 1,000 images, 1.0/s, about 10 min left",
    ]


def test_time_left_counts_from_the_start_of_this_part_or_of_all_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for bar, ending in (
        (console.progress_bars, "0.1/s, about 30 s left"),
        (console.single_progress_bar, "0.0/s, about 25 min left"),
    ):
        clock = iter([0.0, 0.0, 980.0, 980.0, 1000.0])
        monkeypatch.setattr("likewise.cli.console.time.monotonic", lambda clock=clock: next(clock))
        with bar("steps") as update:
            update("queries", 0, 5)
            update("queries", 0, 5)
            update("items", 0, 5)
            update("items", 2, 5)
        assert capsys.readouterr().err.splitlines()[-1] == f"items: 2 of 5 steps, {ending}"


def test_a_bar_in_a_terminal_of_80_columns_cuts_its_name_and_no_number() -> None:
    printed = StringIO()
    terminal = Console(file=printed, width=80, force_terminal=True, color_system=None)
    with console._terminal_bars(terminal, "images") as update:
        update("efficientnet-lite0, colour, texture, shape, layout", 4_000, 10_000)
    line = next(line for line in printed.getvalue().splitlines() if "efficientnet" in line)
    assert "efficientnet-lite0, c" in line and "4000/10000 images" in line and "-:--:--" in line


def test_what_is_printed_while_bars_are_shown_is_not_printed_into_them() -> None:
    screen = StringIO()
    terminal = Console(file=screen, width=80, force_terminal=True, color_system=None)
    erased = "\r\x1b[1A\x1b[2K"
    with console._terminal_bars(terminal, "images") as update:
        update("checking", 87, 188)
        console.console()  # somebody is about to print
        assert screen.getvalue().endswith(erased), "the bar is gone"
        before = len(screen.getvalue())
        update("checking", 100, 188)
        terminal.file.flush()
        assert "checking" in screen.getvalue()[before:], "and comes back with the next step"
    assert screen.getvalue().endswith(erased)


def test_the_bar_of_a_continued_run_counts_only_what_it_did_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setattr("rich.console.monotonic", lambda: clock)
    bars: list[Progress] = []
    monkeypatch.setattr("rich.progress.Progress.start", lambda bar: bars.append(bar))
    with console.single_progress_bar("trials") as update:
        for done in (400, 402, 404):
            update("ms", done, 600)
            clock += 10.0
    assert bars[0].tasks[0].speed == pytest.approx(0.2)
