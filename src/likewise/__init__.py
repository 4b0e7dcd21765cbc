"""likewise: which model finds what looks alike to people?

The names below are the public ones; they are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise import sklearn as sklearn
    from likewise.catalog import load_image, make_catalog, read_catalog
    from likewise.catalog.readers import read
    from likewise.discovery.step import PoolSettings, make_pool, read_pool, store_pool
    from likewise.encoders.registry import get_encoder
    from likewise.encoders.running.encode import encode_catalog
    from likewise.encoders.storage.reading import read_vectors
    from likewise.evaluation.step import evaluate
    from likewise.labeling.step import read_labels, update_labels
    from likewise.report import write_report
    from likewise.search import top_k
    from likewise.workspace import Workspace

__version__ = "0.1.0"

_HOME = {
    "PoolSettings": "likewise.discovery.step",
    "Workspace": "likewise.workspace",
    "encode_catalog": "likewise.encoders.running.encode",
    "evaluate": "likewise.evaluation.step",
    "get_encoder": "likewise.encoders.registry",
    "load_image": "likewise.catalog",
    "make_catalog": "likewise.catalog",
    "make_pool": "likewise.discovery.step",
    "read": "likewise.catalog.readers",
    "read_catalog": "likewise.catalog",
    "read_labels": "likewise.labeling.step",
    "read_pool": "likewise.discovery.step",
    "read_vectors": "likewise.encoders.storage.reading",
    "store_pool": "likewise.discovery.step",
    "top_k": "likewise.search",
    "update_labels": "likewise.labeling.step",
    "write_report": "likewise.report",
}

__all__ = [
    "LikewiseError",
    "PoolSettings",
    "Workspace",
    "__version__",
    "encode_catalog",
    "evaluate",
    "get_encoder",
    "load_image",
    "make_catalog",
    "make_pool",
    "read",
    "read_catalog",
    "read_labels",
    "read_pool",
    "read_vectors",
    "store_pool",
    "top_k",
    "update_labels",
    "write_report",
]


_MODULES = ("sklearn",)
"""Modules that need an extra: attributes of the package, but not among the names that `*` imports."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"likewise.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
