"""Run the command as a user would, in this process."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from likewise.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("new", path, ...)` -> exit code, standard output, standard error; any traceback fails the test."""
    monkeypatch.setenv("COLUMNS", "200")

    def _run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["likewise", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1 if leaving.code else 0
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return _run
