"""Long work tells how far it is: in a log one line now and then, with the speed and the time left."""

import pytest

from likewise.cli import console


def test_a_log_gets_lines_with_speed_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 0.0, 5.0, 20.0, 400.0])
    monkeypatch.setattr("likewise.cli.console.time.monotonic", lambda: next(clock))
    monkeypatch.setenv("COLUMNS", "120")
    with console.progress("images") as update:
        for done in (0, 100, 400, 402):
            update("shape", done, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "shape: 400 of 1,000 images, 20/s, about 30 s left",
        "shape: 402 of 1,000 images, 1.0/s, about 10 min left",
    ]
