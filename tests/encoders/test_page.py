"""The page about encoders and data sets lists what there is."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "encoders_page.py"


def test_the_page_is_what_its_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("encoders_page", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text(encoding="utf-8") == script.page(), "run `python docs/encoders_page.py`"
