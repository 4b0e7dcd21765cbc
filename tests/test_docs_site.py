"""The site of documentation is built strictly; it names every command and public name, and asks nobody for anything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

import likewise
from likewise.cli.app import app

PROJECT = Path(__file__).parents[1]
PAGES = sorted((PROJECT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


class Fetched(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video", "audio"):
            self.addresses.append(values.get("src") or "")
        elif tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.addresses.append(values.get("href") or "")


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        found = Fetched()
        found.feed(page.read_text(encoding="utf-8"))
        outside = [address for address in found.addresses if re.match(r"(https?:)?//", address)]
        assert outside == [], page.name


def command_names(group: Any, context: click.Context, words: str) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            inner = click.Context(command, info_name=name, parent=context)
            is_group = hasattr(command, "list_commands")
            yield from command_names(command, inner, f"{words} {name}") if is_group else [f"{words} {name}"]


def test_every_command_and_every_public_name_has_its_reference(site: Path) -> None:
    root: Any = get_command(app)
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    names = list(command_names(root, click.Context(root), "likewise"))
    assert len(names) > 40
    assert [name for name in names if f'id="{name.replace(" ", "-")}"' not in commands] == []
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    public = [name for name in likewise.__all__ if name != "__version__"]
    assert [name for name in public if f">likewise.{name}" not in python] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_at_once_whom_it_is_for(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split("\n", 1)[1].split())
    opening = re.split(r"(?<=[.?!:]) ", text)[:2]
    assert any(re.match(r"For |This page is for ", sentence) for sentence in opening), opening
