"""Tables and measured sentences between the marks of a Markdown page; everything outside the marks is edited by people.

    <!-- begin: mining-funnel -->
    (what a script makes)
    <!-- end: mining-funnel -->

A block is named after its page, so that a search for the name finds both the page and the script.
"""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap

WIDTH = 118
BEGIN = re.compile(r"^<!-- begin: (\S+) -->$", re.MULTILINE)
END = re.compile(r"^<!-- end: (\S+) -->$", re.MULTILINE)
BLOCK = re.compile(r"^<!-- begin: (?P<name>\S+) -->$.*?^<!-- end: (?P=name) -->$", re.MULTILINE | re.DOTALL)


class MarkError(ValueError):
    """The marks of a page and the blocks of a script do not fit."""


def fill(page: Path, blocks: Mapping[str, str]) -> None:
    """Put each block between its two marks; blocks of the page that are not given stay as they are."""
    text = page.read_text(encoding="utf-8")
    known = block_names(page)
    for name in blocks:
        if name not in known:
            raise MarkError(f"{page.name} has no mark for the block {name}: add <!-- begin: {name} --> and its end.")

    def filled(found: re.Match[str]) -> str:
        name = found["name"]
        return marked(name, blocks[name]) if name in blocks else found[0]

    page.write_text(BLOCK.sub(filled, text), encoding="utf-8")


def block_names(page: Path) -> list[str]:
    """The blocks of a page, in order; refuses a page with a mark that has no partner or stands twice."""
    text = page.read_text(encoding="utf-8")
    names = [found["name"] for found in BLOCK.finditer(text)]
    begins, ends = Counter(BEGIN.findall(text)), Counter(END.findall(text))
    for name in begins | ends:
        if begins[name] != 1 or ends[name] != 1 or name not in names:
            raise MarkError(f"The marks of the block {name} in {page.name} must be one begin and, after it, one end.")
    return names


def marked(name: str, block: str) -> str:
    """A block with its marks; empty lines keep Markdown from taking a mark for a part of the table."""
    inside = f"\n{block.strip()}\n\n" if block.strip() else ""
    return f"<!-- begin: {name} -->\n{inside}<!-- end: {name} -->"


def paragraph(text: str) -> str:
    """A sentence or more in lines of a readable length."""
    return "\n".join(wrap(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False))
