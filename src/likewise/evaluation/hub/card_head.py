"""The YAML head of a README as data-set and model hubs read it: plain values, lists and mappings, quoted as JSON."""

import json
import re
from collections.abc import Mapping, Sequence

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
LICENCE_IDS = re.compile(
    r"^(cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-[234]\.0|apache-2\.0|mit|bsd-[23]-clause|gpl-3\.0|odbl|pddl)$"
)


def card_head(fields: Mapping[str, Value]) -> str:
    """`---`, one entry per field, `---`."""
    return "\n".join(["---", *_lines(fields, 0), "---"]) + "\n"


def licence_fields(licence: str) -> dict[str, Value]:
    """A licence by the hub's identifier, or `other` with its name where the hub has none."""
    identifier = {"cc0": "cc0-1.0"}.get(licence.lower(), licence.lower())
    if LICENCE_IDS.match(identifier):
        return {"license": identifier}
    return {"license": "other", "license_name": licence}


def _lines(fields: Mapping[str, Value], depth: int) -> list[str]:
    lines = []
    for name, value in fields.items():
        start = f"{'  ' * depth}{name}:"
        if isinstance(value, Mapping):
            lines += [start, *_lines(value, depth + 1)]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            lines.append(start)
            for one in value:
                lines += _item(one, depth)
        else:
            lines.append(f"{start} {json.dumps(value, ensure_ascii=False)}")
    return lines


def _item(value: Value, depth: int) -> list[str]:
    """One entry of a list; a mapping's first line stands behind the dash."""
    indent = "  " * depth
    if not isinstance(value, Mapping):
        return [f"{indent}- {json.dumps(value, ensure_ascii=False)}"]
    inside = _lines(value, depth + 1)
    return [f"{indent}- {inside[0].lstrip()}", *inside[1:]]
