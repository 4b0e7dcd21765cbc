"""Fill in the tables of `encoders.md`, which are the package's own lists: `python docs/encoders_page.py`."""

import re
from collections.abc import Sequence
from pathlib import Path

from marks import fill

from likewise.catalog.readers.layouts import layouts
from likewise.encoders.model_cards import BUILT_IN, DESCRIPTIONS, EFFICIENTNET_LITE, HUB_MODELS, LICENCE, STAND_INS
from likewise.encoders.registry import get_encoder
from likewise.encoders.spec import OPTIONS

FILE = Path(__file__).with_name("encoders.md")


def main() -> None:
    fill(FILE, blocks())
    print(f"{FILE} written")


def blocks() -> dict[str, str]:
    readers = [(f"`{name}`", each.expects, ", ".join(each.tables) or "–") for name, each in layouts().items()]
    return {
        "encoders-table": encoders_table(),
        "encoders-options": table(("option", "what it does"), [(f"`{name}`", what) for name, what in OPTIONS.items()]),
        "encoders-readers": table(("`--reader`", "what it expects", "tables beside the catalog"), readers),
    }


def encoders_table() -> str:
    rows = [(f"`{name}`", get_encoder(name).dim, "–", "–", LICENCE, DESCRIPTIONS[name]) for name in BUILT_IN]
    for known in (*EFFICIENTNET_LITE, *HUB_MODELS):
        what = f"{known.description} `{known.spec}`" if known.spec else known.description
        what = f"{what} {STAND_INS[known.name]}" if known.name in STAND_INS else what
        rows.append((f"`{known.name}`", known.dim, str(known.megabytes), f"{known.parameters:g}", known.licence, what))
    return table(("encoder", "dim", "MB", "million parameters", "licence", "what it is"), rows)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [" | ".join(header), " | ".join(["---"] * len(header))]
    lines += [" | ".join(plain(str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def plain(text: str) -> str:
    """Escape what Markdown would interpret, except in cells with code."""
    return text if "`" in text else re.sub(r"([*<|])", r"\\\1", text)


if __name__ == "__main__":
    main()
