"""likewise: which model finds what looks alike to people?

The names below are the public ones; they are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module

from likewise.errors import LikewiseError

__version__ = "0.1.0"

_HOME = {
    "Comparison": "likewise.api.evaluate",
    "EvaluationResult": "likewise.api.evaluate",
    "NeighboursResult": "likewise.api.search",
    "PoolResult": "likewise.api.search",
    "RetrievalResult": "likewise.api.retrieval",
    "SearchResult": "likewise.api.search",
    "TableResult": "likewise.api.table_result",
    "Workspace": "likewise.api.workspace",
    "evaluate": "likewise.api.evaluate",
    "get_encoder": "likewise.encoders.registry",
    "load_image": "likewise.catalog",
    "parse_measure": "likewise.evaluation.measures",
    "pool": "likewise.api.search",
    "register_measure": "likewise.evaluation.measures",
    "retrieval": "likewise.api.retrieval",
    "search": "likewise.api.search",
    "triplets": "likewise.api.retrieval",
}
_MODULES = {"measures": "likewise.evaluation.measures", "sklearn": "likewise.sklearn"}

__all__ = [
    "Comparison",
    "EvaluationResult",
    "LikewiseError",
    "NeighboursResult",
    "PoolResult",
    "RetrievalResult",
    "SearchResult",
    "TableResult",
    "Workspace",
    "__version__",
    "evaluate",
    "get_encoder",
    "load_image",
    "measures",
    "parse_measure",
    "pool",
    "register_measure",
    "retrieval",
    "search",
    "sklearn",
    "triplets",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
