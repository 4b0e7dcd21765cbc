"""The page about encoders and data sets lists what there is."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tables_of_the_page_are_what_its_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    spec = importlib.util.spec_from_file_location("encoders_page", DOCS / "encoders_page.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = script.FILE.read_text(encoding="utf-8")
    for name, block in script.blocks().items():
        marked = f"<!-- begin: {name} -->\n\n{block}\n\n<!-- end: {name} -->"
        assert marked in page, f"{name}: run `python docs/encoders_page.py`"
