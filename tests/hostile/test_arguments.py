"""Arguments that are no text: what a command stores must be writable on every page."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run, run

__all__ = ["run"]


@pytest.mark.parametrize(
    "command", [("label", "settings", "WS", "--name"), ("status",), ("condition", "ask", "WS", "--text")]
)
def test_bytes_that_are_not_utf_8_are_refused(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    """As the system hands them on: a project of that name would end every page of the site with an error."""
    ran = run(*(tmp_path if word == "WS" else word for word in command), "caf\udce9")
    assert (ran.code, ran.err) == (
        2,
        "likewise: 'caf\\udce9' is not UTF-8 text: write it in UTF-8, or rename the file.\n",
    )
