"""The plan of the house holds: the core imports only rooms above, extensions and synthetic import the core and not the
other way round, nothing is imported in a circle, privately or not at all, and starting is light."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import likewise
from likewise.catalog.readers import layouts

SOURCE = Path(likewise.__file__).parent
ROOMS = [
    "errors",
    "optional_dependencies",
    "progress",
    "machine",
    "worker_processes",
    "intervals",
    "spreadsheets",
    "extensions",
    "untrusted",
    "file_locks",
    "files",
    "workspace",
    "chain",
    "catalog",
    "lineage",
    "encoders",
    "sklearn",
    "neighbours",
    "discovery",
    "labeling",
    "evaluation",
    "explore",
    "scale",
    "report",
    "status",
    "update",
    "web",
    "api",
    "cli",
]
EXTENSIONS = ["training", "conditional", "outfits"]
SYNTHETIC = "synthetic"
KNOW_SYNTHETIC = {
    "cli/new.py",  # --wardrobe
    "cli/simulate.py",
    "outfits/cli/make.py",  # --simulate
    "outfits/cli/models.py",  # stylists make the outfits to train on
    "outfits/cli/wardrobe_test.py",
}
STARTED_BY_NAME = {
    "likewise.__main__",  # python -m likewise
    "likewise.labeling.store.migrations",  # alembic finds these in their folder
}
WITHOUT_TORCH = {
    "errors",
    "optional_dependencies",
    "progress",
    "machine",
    "worker_processes",
    "intervals",
    "untrusted",
    "file_locks",
    "files",
    "workspace",
    "chain",
    "catalog",
    "lineage",
    "neighbours",
    "discovery",
    "labeling",
    "evaluation",
    "explore",
    "report",
    "status",
    "update",
    "api",
    "cli",
}


@dataclass(frozen=True)
class ReadModule:
    """What these tests ask of a file, which is parsed once."""

    text: str
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    running_imports: tuple[ast.Import | ast.ImportFrom, ...]
    classes: tuple[str, ...]


@cache
def read_module(file: Path) -> ReadModule:
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports = tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    classes = tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return ReadModule(text, imports, tuple(running_imports(tree)), classes)


def imports_of(file: Path) -> set[str]:
    """Every module that a file imports, anywhere in it."""
    found = set()
    for node in read_module(file).imports:
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{name.name}" for name in node.names}
    return found


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def rooms_imported_by(file: Path) -> set[tuple[str, str]]:
    """(room, module) of everything inside of likewise that a file imports, anywhere in it."""
    modules = [module.split(".") for module in imports_of(file)]
    return {(parts[1], ".".join(parts)) for parts in modules if parts[0] == "likewise" and len(parts) > 1}


def test_every_room_imports_only_rooms_above_it() -> None:
    for file in SOURCE.rglob("*.py"):
        room = room_of(file)
        if room not in ROOMS:
            continue
        for other, module in rooms_imported_by(file):
            if other in ROOMS:
                assert ROOMS.index(other) <= ROOMS.index(room), f"{file} imports {module}"


def test_the_core_and_extensions_know_each_other_in_one_direction_only() -> None:
    known = {"__init__", "__main__", SYNTHETIC, *ROOMS, *EXTENSIONS}
    for file in SOURCE.rglob("*.py"):
        room, path = room_of(file), file.relative_to(SOURCE).as_posix()
        assert room in known, f"{path}: a new room belongs into the plan"
        imported = {other for other, _ in rooms_imported_by(file)}
        assert not {other for other in EXTENSIONS if other != room} & imported or room == SYNTHETIC, path
        assert SYNTHETIC not in imported or room == SYNTHETIC or path in KNOW_SYNTHETIC, path


def test_the_core_does_not_even_mention_a_module_of_an_extension() -> None:
    for file in SOURCE.rglob("*.py"):
        if room_of(file) in ROOMS:
            text = read_module(file).text
            assert not [name for name in (*EXTENSIONS, SYNTHETIC) if f'"likewise.{name}' in text], file


def test_base_rooms_never_import_torch() -> None:
    for file in SOURCE.rglob("*.py"):
        if room_of(file) in WITHOUT_TORCH:
            assert not {module for module in imports_of(file) if module.split(".")[0] in ("torch", "transformers")}


def test_importing_and_asking_for_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "polars", "scipy", "skimage", "faiss", "matplotlib", "sqlalchemy", "torch", "PIL")
    code = (
        "import sys, likewise, likewise.cli.app\n"
        f"print([name for name in {heavy!r} if name in sys.modules])\n"
        "likewise.evaluate\n"
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:2] == ["[]", "False"]


def test_public_names_are_all_there() -> None:
    assert sorted(likewise.__all__) == likewise.__all__
    for name in likewise.__all__:
        assert getattr(likewise, name) is not None
    homes = vars(likewise)["_HOME"] | vars(likewise)["_MODULES"]
    assert set(likewise.__all__) == {*homes, "LikewiseError", "__version__"}
    assert dir(likewise) == likewise.__all__


def test_files_stay_short() -> None:
    for file in SOURCE.rglob("*.py"):
        assert len(read_module(file).text.splitlines()) <= 400, file


def running_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that happens when code runs, inside of functions as well, but none that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            yield from running_imports(ast.Module(child.orelse, []))
        else:
            yield from running_imports(child)


@cache
def import_graph() -> dict[str, set[str]]:
    """Module to the modules of likewise that it imports, lazily or not; `from package import module` is the module."""
    files = {
        file.relative_to(SOURCE.parent).with_suffix("").as_posix().replace("/", "."): file
        for file in SOURCE.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): file for name, file in files.items()}
    graph = {}
    for module, file in modules.items():
        imported = set()
        for node in read_module(file).running_imports:
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif node.module:
                whole = {f"{node.module}.{name.name}" for name in node.names}
                imported |= {name if name in modules else node.module for name in whole}
        graph[module] = {name for name in imported if name in modules and name != module}
    return graph


def test_no_import_cycles() -> None:
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from error


def test_nothing_private_is_imported_from_another_module() -> None:
    for file in SOURCE.rglob("*.py"):
        for node in read_module(file).imports:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("likewise"):
                private = [name.name for name in node.names if re.match(r"_(?!_)", name.name)]
                assert not private, f"{file} imports {private[0]} of {node.module}"


def test_a_class_name_stands_for_one_class() -> None:
    homes: dict[str, list[str]] = {}
    for file in SOURCE.rglob("*.py"):
        for name in read_module(file).classes:
            homes.setdefault(name, []).append(file.relative_to(SOURCE).as_posix())
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def test_no_module_is_an_orphan() -> None:
    """Every module is imported, if only by the docs, or named: by an entry point, an extension, a table of families."""
    graph = import_graph()
    used = set().union(*graph.values()) | {layout.module for layout in layouts().values()}
    names = "|".join(re.escape(module) for module in sorted(graph, key=len, reverse=True))
    named = re.compile(rf"[\"'\[]({names})(?=[\"':\]])")
    project = Path(__file__).parents[1]
    for file in (project / "docs").glob("*.py"):
        used |= imports_of(file)
    for file in (*SOURCE.rglob("*.py"), project / "pyproject.toml"):
        used |= set(named.findall(file.read_text(encoding="utf-8")))
    used |= {parent for module in used for parent in parents_of(module)}
    alone = {
        module
        for module in graph.keys() - used
        if module not in STARTED_BY_NAME and not STARTED_BY_NAME & set(parents_of(module))
    }
    assert not alone


def parents_of(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:place]) for place in range(1, len(parts))]
