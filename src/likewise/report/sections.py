"""Sections that extensions add to the report, each after a part of it that is there already."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from likewise.chain import digest_of
from likewise.errors import LikewiseError
from likewise.extensions import extensions
from likewise.report.plots.curves import Styles
from likewise.report.tables import Tables
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import WorkspaceFolder

PARTS = (
    "headline",
    "catalog",
    "leaderboard",
    "over_time",
    "pool_order",
    "unlabelled",
    "identification",
    "cost",
    "generators",
    "experts",
    "curves",
    "gallery",
    "mistakes",
)
"""The parts of the page in their order; each is the template of its name."""


@dataclass(frozen=True)
class SectionContext:
    """What a section is made from; a picture it shows is asked for with `thumbnails.add`."""

    workspace: WorkspaceFolder
    tables: Tables
    thumbnails: EmbeddedThumbnails
    styles: Styles
    marks: dict[str, tuple[int, int]]
    """Of every model the number of its colour and of its mark."""


@dataclass(frozen=True)
class Section:
    """One section: after which of PARTS it stands, and the function that writes its HTML ("" for nothing to say)."""

    after: str
    write: Callable[[SectionContext], str]
    rests_on: Callable[[WorkspaceFolder], str] | None = None
    """A digest of what it shows besides the results; the page is stale when that changes."""


def added_sections(context: SectionContext) -> dict[str, list[Markup]]:
    """What extensions add after each part, in the order of the extensions' names."""
    added: dict[str, list[Markup]] = {part: [] for part in PARTS}
    for section in _sections().values():
        added[section.after].append(Markup(section.write(context)))
    return added


def sections_digest(workspace: WorkspaceFolder) -> str:
    """Of everything that sections of extensions show besides the results."""
    digests = {name: section.rests_on(workspace) for name, section in _sections().items() if section.rests_on}
    return digest_of(digests)


def _sections() -> dict[str, Section]:
    found = {}
    for extension in extensions():
        for target in extension.report_sections:
            section = extension.load(target)
            if not isinstance(section, Section) or section.after not in PARTS:
                raise LikewiseError(
                    f"{target} of the extension {extension.name} is no Section after one of {', '.join(PARTS)}."
                )
            found[target] = section
    return found
