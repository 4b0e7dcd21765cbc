"""Pages of docs: people write the sentences, scripts fill in what stands between marks."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parents[1]
PAGES = sorted((PROJECT / "docs").glob("*.md"))
SCRIPTS = [*sorted((PROJECT / "docs").glob("*.py")), *sorted((PROJECT / "benchmarks").glob("*.py"))]
PAGE = """# A page

What people wrote.

<!-- begin: page-table -->
<!-- end: page-table -->

More of it.

<!-- begin: page-other -->

as it was

<!-- end: page-other -->
"""


@pytest.fixture(scope="module")
def marks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("marks", PROJECT / "docs" / "marks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.md"
    file.write_text(PAGE, encoding="utf-8")
    return file


def test_only_what_stands_between_the_marks_changes(marks: ModuleType, page: Path) -> None:
    marks.fill(page, {"page-table": "| a |\n|---|\n| \\1 |"})
    once = page.read_text(encoding="utf-8")
    empty, filled = "<!-- begin: page-table -->\n", "<!-- begin: page-table -->\n\n| a |\n|---|\n| \\1 |\n\n"
    assert once == PAGE.replace(empty, filled)
    marks.fill(page, {"page-table": "| a |\n|---|\n| \\1 |"})
    assert page.read_text(encoding="utf-8") == once
    marks.fill(page, {"page-table": ""})
    assert page.read_text(encoding="utf-8") == PAGE


def test_a_block_without_a_mark_is_refused_and_nothing_written(marks: ModuleType, page: Path) -> None:
    with pytest.raises(marks.MarkError, match=r"page\.md has no mark for the block page-new"):
        marks.fill(page, {"page-table": "changed", "page-new": "table"})
    assert page.read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize(
    "text",
    [
        PAGE.replace("<!-- end: page-other -->", ""),
        PAGE.replace("<!-- begin: page-other -->", ""),
        PAGE + PAGE,
        "<!-- end: page-table -->\n<!-- begin: page-table -->\n",
    ],
    ids=["no end", "no begin", "twice", "other way round"],
)
def test_marks_without_a_partner_are_refused(marks: ModuleType, page: Path, text: str) -> None:
    page.write_text(text, encoding="utf-8")
    with pytest.raises(marks.MarkError, match="must be one begin and, after it, one end"):
        marks.fill(page, {"page-table": "table"})


def test_every_block_of_a_script_has_its_mark_and_every_mark_its_script(marks: ModuleType) -> None:
    """A block is named after its page, `mining-funnel`; in a script its name is a key of a dict."""
    name = re.compile(rf"(?:{'|'.join(page.stem for page in PAGES)})-[a-z0-9-]+")
    marked = {block for page in PAGES for block in marks.block_names(page)}
    for page in PAGES:
        assert all(block.startswith(f"{page.stem}-") for block in marks.block_names(page)), page.name
    trees = [ast.parse(script.read_text(encoding="utf-8")) for script in SCRIPTS]
    keys = [key for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]
    texts = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    filled = {text for text in texts if name.fullmatch(text)}
    assert filled == marked
