"""What README and docs show is run: Python blocks as they stand, the commands of the road on a real folder."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.conftest import write_shapes
from tests.warm import warm

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def everything_similar(folder: Path, n_images: int) -> None:
    """votes.csv with an answer to every possible pair: similar if the figure is the same."""
    images = sorted(path.relative_to(folder / "photos").as_posix() for path in (folder / "photos").rglob("*.png"))
    assert len(images) == n_images
    rows = [
        (query, candidate, expert, "similar" if query.split("/")[0] == candidate.split("/")[0] else "not similar")
        for query in images
        for candidate in images
        if query != candidate
        for expert in ("anna", "ben")
    ]
    pl.DataFrame(rows, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(folder / "votes.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place with `photos` and `votes.csv`, as the pages assume."""
    write_shapes(tmp_path / "photos").unlink()
    everything_similar(tmp_path, 24)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "number"),
    [(page, number) for page in PAGES for number in range(len(blocks(page, "python")))],
    ids=lambda value: value.stem if isinstance(value, Path) else str(value),
)
def test_python_blocks_run(page: Path, number: int, folder: Path) -> None:
    code = blocks(page, "python")[number]
    ran = subprocess.run(warm("-c", code), cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_road_of_the_readme_in_five_commands(folder: Path) -> None:
    block, _ = blocks(PROJECT / "README.md", "sh")
    commands = [shlex.split(line, comments=True) for line in block.splitlines() if line.strip()]
    assert len(commands) == 5
    for command in commands:
        assert command[0] == "likewise"
        ran = subprocess.run(warm("-m", *command), cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0, (command, ran.stderr)
    assert (folder / "shoes" / "report" / "index.html").exists()


def test_the_commands_of_the_pages_are_ones_there_are() -> None:
    """Their names, arguments and options; running them takes people, training and a cluster."""
    from typer.main import get_command

    from likewise.cli.app import app

    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()]
    typed = [shlex.split(line, comments=True) for line in lines if line.startswith("likewise")]
    assert len(typed) > 20
    for words in typed:
        command: Any = get_command(app)
        arguments = words[1:]
        while hasattr(command, "commands") and arguments and arguments[0] in command.commands:
            command = command.commands[arguments.pop(0)]
        with command.make_context(words[0], arguments):  # raises for an unknown option or a missing argument
            pass


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            outside = target.startswith("https://")  # where data come from: not looked up here
            assert outside or (page.parent / target).exists(), f"{page.name} links to {target}"
