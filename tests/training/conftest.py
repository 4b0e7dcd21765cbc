"""Training in tests uses one thread: networks are small, and other tests run beside them."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

from .check_toy import Check, Told, check_command


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Run the command as a user would, in this process; what it prints."""
    from likewise.cli import main

    def run(workspace: WorkspaceFolder, methods: str, *more: str) -> str:
        monkeypatch.setattr(sys, "argv", ["likewise", *check_command(workspace, methods, *more)[3:]])
        capsys.readouterr()
        try:
            main()
        except SystemExit as leaving:
            if leaving.code:
                raise LikewiseError(capsys.readouterr().err) from leaving
        return capsys.readouterr().out

    return run


@pytest.fixture
def check(told: Told) -> Check:
    """The same, as JSON."""

    def run(workspace: WorkspaceFolder, methods: str, *more: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(told(workspace, methods, *more, "--json"))
        return answer

    return run
