"""Small real workspaces for the tests: coloured shapes on white, several pictures per item."""

import functools
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import typer.main
from PIL import Image, ImageDraw

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.workspace import WorkspaceFolder
from tests.real.places import NO_DATA

hypothesis.settings.register_profile("likewise", deadline=None)  # no test depends on the clock
hypothesis.settings.load_profile("likewise")

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make check` leaves to `make test` (heavy), and what needs the data beside the checkout (real).

    Files with heavy tests come first, so that no process is left alone with one in the end.
    """
    heavy = set(heavy_tests())
    long_files = {line.partition("::")[0] for line in heavy}
    items.sort(key=lambda item: item.path.relative_to(TESTS.parent).as_posix() not in long_files)
    for item in items:
        name = item.path.relative_to(TESTS.parent).as_posix()
        function = getattr(item, "function", None)
        if name in heavy or f"{name}::{getattr(function, '__name__', '')}" in heavy:
            item.add_marker(pytest.mark.heavy)
        code = getattr(function, "__code__", None)
        asks = code is not None and "real_data" in code.co_names
        whole_file = any(NO_DATA in mark.kwargs.get("reason", "") for mark in item.iter_markers("skipif"))
        if asks or whole_file or TESTS / "real" in item.path.parents:
            item.add_marker(pytest.mark.real)


def pytest_collection_finish() -> None:
    """What is imported by now stays to the end: the collector of garbage need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Pytest collects ten times before it ends, to hear of errors in finalizers; what two leave is no garbage."""
    gc.collect()
    gc.collect()
    gc.freeze()


def heavy_tests() -> list[str]:
    """Files, and tests as file::function, of tests/heavy.txt."""
    lines = (TESTS / "heavy.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line for each reason what was not run."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])]
    for line in not_run(reasons):
        terminalreporter.write_line(line)


def not_run(reasons: Sequence[str]) -> list[str]:
    """One line for each reason, with the number of tests; what comes after its first colon is listed once."""
    details: dict[str, list[str]] = {}
    for reason in reasons:
        short, _, detail = reason.removeprefix("Skipped: ").partition(": ")
        details.setdefault(short, []).append(detail)
    return [
        f"NOT RUN: {len(found)} test{'s' if len(found) > 1 else ''}: {short}"
        + (f" ({', '.join(sorted(set(found)))})" if any(found) else "")
        for short, found in sorted(details.items())
    ]


COLOURS = ("red", "orange", "blue", "green")
SHAPES = ("circle", "square", "triangle")
VIEWS = 2


def draw_shape(shape: str, colour: str, view: int) -> Image.Image:
    """A coloured figure; the view moves and resizes it a little."""
    picture = Image.new("RGB", (64, 64), "white")
    pen = ImageDraw.Draw(picture)
    left, size = 12 + 4 * view, 36 - 4 * view
    box = (left, left, left + size, left + size)
    if shape == "circle":
        pen.ellipse(box, fill=colour)
    elif shape == "square":
        pen.rectangle(box, fill=colour)
    else:
        pen.polygon([(left, left + size), (left + size, left + size), (left + size / 2, left)], fill=colour)
    return picture


def write_shapes(folder: Path) -> Path:
    """Draw every shape in every colour from two sides, and a table that says which item each picture shows."""
    lines = ["image,item,category,domain"]
    for shape in SHAPES:
        (folder / shape).mkdir(parents=True)
        for colour in COLOURS:
            for view in range(VIEWS):
                name = f"{shape}/{colour}-{view}.png"
                draw_shape(shape, colour, view).save(folder / name)
                lines.append(f"{name},{shape}-{colour},{shape},{'shop' if view == 0 else 'wild'}")
    table = folder / "catalog.csv"
    table.write_text("\n".join(lines) + "\n")
    return table


@pytest.fixture(scope="session", autouse=True)
def one_tree_of_commands() -> Iterator[None]:
    """Built once for the thousands of commands that run in this process: most take no longer than building it."""
    with pytest.MonkeyPatch.context() as patch:
        build = functools.cache(typer.main.get_command)
        patch.setattr("typer.main.get_command", build)
        patch.setattr("typer.testing._get_command", build)
        yield


@pytest.fixture
def shapes_table(tmp_path: Path) -> Path:
    return write_shapes(tmp_path / "pictures")


@pytest.fixture
def workspace(tmp_path: Path, shapes_table: Path) -> WorkspaceFolder:
    """A workspace whose catalog holds the 24 shape pictures (12 items, 3 categories)."""
    target = WorkspaceFolder(tmp_path / "ws")
    reading = read(shapes_table)
    make_catalog(target, reading.rows, reading.root, "table")
    return target


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
