"""The chain from pictures to the report: what a step makes notes digests of what it rests on.

A digest is taken of content (values of a table, of a JSON file), never of times or bytes: whoever touches a file, or
writes the same content again, changes nothing. Each package computes the digests of what it owns and compares those
that were noted with those of now; `likewise/status.py` puts the parts together.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from likewise.errors import LikewiseError

if TYPE_CHECKING:
    import polars as pl

DIGEST_BYTES = 12
State = Literal["missing", "unfinished", "stale", "unchecked", "behind", "current"]
"""`unfinished`: begun, not complete. `stale`: what it rests on has changed. `unchecked`: that cannot be known here.
`behind`: right about what it covers, but the catalog has grown since."""


@dataclass(frozen=True)
class ChainPart:
    """One part of a workspace: what is there, whether it is current, and the command that makes it so."""

    name: str
    state: State
    holds: str = ""
    why: str = ""  # it is not current; a clause that goes on from "... is stale:"
    command: str = ""
    automatic: bool = False  # `evaluate` and `report` make it current by themselves

    @property
    def usable(self) -> bool:
        return self.state in ("current", "unchecked", "behind")

    def refuse_unless_usable(self, where: object) -> None:
        """Raise where the part may not be used as it is."""
        if not self.usable:
            raise LikewiseError(f"{where} {self.why}: run `{self.command}`.")


def digest_of(value: Any) -> str:
    """Of anything JSON can hold; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


def table_digest(table: "pl.DataFrame") -> str:
    """Of the columns, their types and every value, in the order of the rows."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(repr([(name, str(kind)) for name, kind in table.schema.items()]).encode())
    digest.update(table.write_ndjson().encode())
    return digest.hexdigest()


def changed_digests(noted: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names whose digest is another one, or that came or went."""
    return sorted(name for name in {*noted, *now} if noted.get(name) != now.get(name))


def in_words(names: Iterable[str]) -> str:
    """labels, pool and vectors/colour"""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
