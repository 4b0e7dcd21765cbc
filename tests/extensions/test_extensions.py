"""Declarations of extensions: everything they name is there, and what is wrong with one is said in a sentence."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint

import pytest

from likewise import extensions
from likewise.errors import LikewiseError
from likewise.extensions import Extension
from likewise.report.sections import PARTS, Section

Install = Callable[..., None]
CACHED = (extensions.extensions, extensions.command_targets, extensions.workspace_method_targets)
ONE = Extension("one", "", commands={"dye": "nowhere:nothing"}, workspace_methods={"dye": "nowhere:nothing"})
OTHER = Extension("other", "", commands={"dye": "nowhere:nothing"}, workspace_methods={"dye": "nowhere:nothing"})
NO_EXTENSION = "a string"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """`install("ONE")`: only these objects of this file are installed."""

    def only(*names: str) -> None:
        for each in CACHED:
            each.cache_clear()
        found = tuple(EntryPoint(name.lower(), f"{__name__}:{name}", extensions.GROUP) for name in names)
        monkeypatch.setattr(extensions, "_entry_points", lambda: found)

    yield only
    for each in CACHED:
        each.cache_clear()


def test_our_own_extensions_declare_what_is_there() -> None:
    ours = {each.name: each for each in extensions.extensions()}
    assert {"conditional", "outfits", "training"} <= set(ours)
    for extension in ours.values():
        assert extension.summary
        for target in (*extension.commands.values(), *extension.workspace_methods.values()):
            assert extension.load(target) is not None
        for target in extension.report_sections:
            section = extension.load(target)
            assert isinstance(section, Section)
            assert section.after in PARTS
    assert extensions.outdated_install() is None


def test_metadata_older_than_the_source_are_noticed(install: Install) -> None:
    install()
    assert "reinstall it" in str(extensions.outdated_install())


def test_what_is_wrong_with_an_extension_is_one_sentence(install: Install) -> None:
    install("NO_EXTENSION")
    with pytest.raises(LikewiseError, match=r"the entry point no_extension of likewise\.extensions is no Extension"):
        extensions.extensions()
    install("NOT_THERE")
    with pytest.raises(LikewiseError, match=r"the extension not_there cannot be loaded .*NOT_THERE"):
        extensions.extensions()
    install("ONE")
    extension, target = extensions.command_targets()["dye"]
    with pytest.raises(LikewiseError, match=r"the extension one cannot be loaded .*No module named 'nowhere'"):
        extension.load(target)


def test_two_extensions_cannot_add_the_same_name(install: Install) -> None:
    install("ONE", "OTHER")
    with pytest.raises(LikewiseError, match="one and other both add the command dye: uninstall one of them"):
        extensions.command_targets()
    with pytest.raises(LikewiseError, match="one and other both add the Workspace method dye"):
        extensions.workspace_method_targets()
