"""The plan of the house holds: rooms import only rooms above them, base rooms never import torch, starting is light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import likewise

SOURCE = Path(likewise.__file__).parent
ROOMS = [
    "errors",
    "optional_dependencies",
    "progress",
    "machine",
    "extensions",
    "workspace",
    "catalog",
    "encoders",
    "sklearn",
    "search",
    "discovery",
    "labeling",
    "evaluation",
    "scale",
    "report",
    "web",
    "cli",
]
EXTENSIONS = ["training", "conditional", "outfits"]
SYNTHETIC = "synthetic"
WITHOUT_TORCH = {
    "errors",
    "optional_dependencies",
    "progress",
    "machine",
    "workspace",
    "catalog",
    "search",
    "discovery",
    "labeling",
    "evaluation",
    "report",
    "cli",
}


def imports_of(file: Path) -> set[str]:
    """Every module that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
    assert set(likewise.__all__) == set(likewise._HOME) | {"LikewiseError", "__version__"}


def test_files_stay_short() -> None:
    for file in SOURCE.rglob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 400, file


def running_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that happens when code runs, inside of functions as well, but none that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            yield from running_imports(ast.Module(child.orelse, []))
        else:
            yield from running_imports(child)


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
        for node in running_imports(ast.parse(file.read_text(encoding="utf-8"))):
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
