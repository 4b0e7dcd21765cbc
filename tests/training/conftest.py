"""Training in tests uses one thread: networks are small, and other tests run beside them."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

from .check_toy import Check, check_command


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run the command as a user would, in this process; its JSON."""
    from likewise.cli import main

    def run(workspace: WorkspaceFolder, methods: str, *more: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", ["likewise", *check_command(workspace, methods, *more)[3:], "--json"])
        capsys.readouterr()
        try:
            main()
        except SystemExit as leaving:
            if leaving.code:
                raise LikewiseError(capsys.readouterr().err) from leaving
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return run
