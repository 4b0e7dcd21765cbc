"""Workspaces of the chain's tests: one with a pool, one with a report."""

import shutil
from pathlib import Path

import pytest

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.report import make_report
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import run
from tests.conftest import write_shapes
from tests.databases import database

from .answering import answer_all, open_site, same_shape, states

__all__ = ["database", "run"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workspaces that tests get copies of: one where a pool is there, one with a report on the votes of Anna."""
    folder = tmp_path_factory.mktemp("chain")
    reading = read(write_shapes(folder / "pictures"))
    workspace = WorkspaceFolder(folder / "asked")
    make_catalog(workspace, reading.rows, reading.root, "table")
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    store_pool(workspace, make_pool(workspace, PoolSettings(("colour", "shape"), k=3, n_queries=6, n_random=5)))
    shutil.copytree(workspace.path, folder / "finished")
    done = WorkspaceFolder(folder / "finished")
    site = open_site(done)
    answer_all(site, "Anna", same_shape)
    site.dispose()
    make_report(done, "a test")
    return folder


def copy_of(made: Path, name: str, tmp_path: Path) -> WorkspaceFolder:
    shutil.copytree(made / name, tmp_path / "shapes")
    return WorkspaceFolder(tmp_path / "shapes")


@pytest.fixture
def asked(made: Path, tmp_path: Path) -> WorkspaceFolder:
    """A pool is there; nobody has voted."""
    return copy_of(made, "asked", tmp_path)


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> WorkspaceFolder:
    """Anna answered every pair, and the report was made."""
    workspace = copy_of(made, "finished", tmp_path)
    assert set(states(workspace).values()) == {"current"}
    return workspace
