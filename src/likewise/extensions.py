"""Extensions: packages that add commands, readers, report sections, pages and Workspace methods to the core.

An extension is one `Extension`, named by an entry point of the group `likewise.extensions` in its pyproject.toml:

    [project.entry-points."likewise.extensions"]
    shoes = "likewise_shoes.extension:EXTENSION"

Everything it adds is a string "module:attribute" that is imported when it is first used, so installing an extension
costs nothing at start. The core names no extension: those that come with likewise are declared in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from likewise.errors import LikewiseError

GROUP = "likewise.extensions"


@dataclass(frozen=True)
class Extension:
    """What a package adds."""

    name: str
    summary: str
    commands: Mapping[str, str] = field(default_factory=dict)
    """Of the command line: the name, and a function or a `typer.Typer` with commands of its own."""
    readers: str = ""
    """A mapping from the names of data-set layouts to `likewise.catalog.readers.DatasetLayout`."""
    report_sections: tuple[str, ...] = ()
    """Each a `likewise.report.sections.Section`, which says after which part of the report it stands."""
    pages: str = ""
    """A `likewise.web.extension_pages.Pages`: routers of the site, and who may call each route."""
    workspace_methods: Mapping[str, str] = field(default_factory=dict)
    """The name, and a function whose first argument is the workspace."""

    def load(self, target: str) -> Any:
        """What "module:attribute" names."""
        module, _, attribute = target.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise LikewiseError(
                f"the extension {self.name} cannot be loaded ({error}): install its latest version, or uninstall it."
            ) from error


@cache
def extensions() -> tuple[Extension, ...]:
    """All that are installed, sorted by name."""
    found = []
    for point in _entry_points():
        extension = Extension(point.name, "").load(point.value)
        if not isinstance(extension, Extension):
            raise LikewiseError(f"the entry point {point.name} of {GROUP} is no Extension but {extension!r}.")
        found.append(extension)
    return tuple(found)


@cache
def command_targets() -> dict[str, tuple[Extension, str]]:
    """The commands that extensions add, by name."""
    return _by_name("command", [(extension, extension.commands) for extension in extensions()])


@cache
def workspace_method_targets() -> dict[str, tuple[Extension, str]]:
    """The Workspace methods that extensions add, by name."""
    return _by_name("Workspace method", [(extension, extension.workspace_methods) for extension in extensions()])


def _by_name(kind: str, added: Sequence[tuple[Extension, Mapping[str, str]]]) -> dict[str, tuple[Extension, str]]:
    found: dict[str, tuple[Extension, str]] = {}
    for extension, targets in added:
        for name, target in targets.items():
            if name in found:
                other = found[name][0].name
                raise LikewiseError(
                    f"the extensions {other} and {extension.name} both add the {kind} {name}: uninstall one of them."
                )
            found[name] = extension, target
    return found


def outdated_install() -> str | None:
    """A sentence where the installed metadata are older than this source and so do not name its own extensions."""
    if any(point.value.startswith("likewise.") for point in _entry_points()):
        return None
    return (
        "the installed metadata of likewise are older than its source, so some commands are missing: "
        "reinstall it, for example with `pip install -e .` in its folder."
    )


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))
