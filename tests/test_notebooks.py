"""The notebooks run from top to bottom, as a script, in a folder with the files that they assume."""

import json
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import write_shapes
from tests.test_docs import everything_similar
from tests.warm import warm

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def as_script(notebook: Path) -> str:
    """Every code cell; what a notebook would show of a cell's last line is asked for here too."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    lines = ["import ast", "def show(value): getattr(value, '_repr_html_', lambda: repr(value))()"]
    for cell in cells:
        source = "".join(cell["source"])
        lines.append(
            f"tree = ast.parse({source!r}); last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None\n"
            "exec(compile(tree, 'cell', 'exec'))\n"
            "show(eval(compile(ast.Expression(last.value), 'cell', 'eval'))) if last else None"
        )
    return "\n".join(lines)


def write_classes(folder: Path) -> None:
    """classes.csv: 16 classes of four plain pictures."""
    lines = ["image,category"]
    for number in range(16):
        for view in range(4):
            name = f"class-{number}-{view}.png"
            Image.new("RGB", (24, 24), (number * 15, 255 - number * 15, view * 40)).save(folder / name)
            lines.append(f"{name},class {number:02d}")
    (folder / "classes.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    write_shapes(tmp_path / "photos").unlink()
    everything_similar(tmp_path, 24)
    write_classes(tmp_path)
    ran = subprocess.run(warm("-c", as_script(notebook)), cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4
