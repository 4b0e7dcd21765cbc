"""docs/help.svg shows the help as it is, and docs/python.md the methods that there are."""

import importlib.util
import re
import sys
from html import unescape
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import Run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    spec = importlib.util.spec_from_file_location("python_page", DOCS / "python_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "python_page", module)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_help_is_the_help(script: ModuleType, run: Run) -> None:
    said, picture = run("--help").out, (DOCS / "help.svg").read_text(encoding="utf-8")
    assert picture == script.help_picture(said)
    drawn = [unescape(line) for line in re.findall(r">([^<]*)</text>", picture)]
    assert drawn == [line for line in said.splitlines() if line]
    with pytest.raises(ValueError, match="shorten it"):
        script.help_picture("x\n" * 25)


def test_the_page_lists_every_method_of_a_workspace(script: ModuleType) -> None:
    assert script.methods_table() in (DOCS / "python.md").read_text(encoding="utf-8")
