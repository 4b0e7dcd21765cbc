"""Fill docs/python.md with the methods of a Workspace, and draw docs/help.svg: `likewise --help` on 80 x 24 characters.

python docs/python_page.py
"""

import inspect
import subprocess
import sys
from html import escape
from pathlib import Path

from marks import fill

from likewise.api.workspace import Workspace, method_names
from likewise.extensions import workspace_method_targets

DOCS = Path(__file__).parent
COLUMNS, LINES = 80, 24
CHARACTER, LINE, MARGIN = 8.4, 19, 14


def help_text() -> str:
    """What a new user reads first."""
    return subprocess.run(
        [sys.executable, "-m", "likewise", "--help"], capture_output=True, text=True, check=True
    ).stdout


def help_picture(text: str) -> str:
    """The text as a terminal of 80 x 24 characters shows it, in SVG without any font or file from elsewhere."""
    lines = text.rstrip().splitlines()
    if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
        raise ValueError(f"the help has {len(lines)} lines of up to {max(map(len, lines))} characters: shorten it.")
    width, height = round(COLUMNS * CHARACTER) + 2 * MARGIN, LINES * LINE + 2 * MARGIN
    rows = [
        f'<text x="{MARGIN}" y="{MARGIN + (number + 0.75) * LINE:g}" textLength="{len(line) * CHARACTER:g}"'
        f' xml:space="preserve">{escape(line)}</text>'
        for number, line in enumerate(lines)
        if line
    ]
    frame = f'<rect width="{width}" height="{height}" rx="8" fill="#1f2430"/>'
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14" fill="#e6e6e6">'
    )
    return "\n".join([start, frame, *rows, "</svg>"]) + "\n"


def methods_table() -> str:
    """Every method of a Workspace with its first sentence and what it returns."""
    added = workspace_method_targets()
    rows = ["| method | extension | what it does |", "|---|---|---|"]
    for name in sorted(method_names(), key=lambda name: (name in added, name)):
        extension, function = "", getattr(Workspace, name, None)
        if name in added:
            declared, target = added[name]
            extension, function = declared.name, declared.load(target)
        sentence = (inspect.getdoc(function) or "").split("\n")[0]
        rows.append(f"| `{name}` | {extension} | {sentence} |")
    return "\n".join(rows)


def main() -> None:
    (DOCS / "help.svg").write_text(help_picture(help_text()), encoding="utf-8")
    fill(DOCS / "python.md", {"python-methods": methods_table()})


if __name__ == "__main__":
    main()
