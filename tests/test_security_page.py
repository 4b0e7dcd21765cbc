"""Every promise of docs/security.md names a test that is there, and one that fails without its defence."""

import re
from pathlib import Path

from tests.hostile.defences import DEFENCES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_is_there() -> None:
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", PAGE)
    assert len(named) > 25
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"
    tables = [part for part in PAGE.split("\n\n") if part.startswith("| promise")]
    rows = [line for table in tables for line in table.splitlines()[2:]]
    assert len(rows) > 25
    kept = {each.kept_by for each in DEFENCES}  # a slow test switches each of them off, and its test fails
    assert [row for row in rows if not kept & set(re.findall(r"tests/[\w/]+\.py::\w+", row))] == []
