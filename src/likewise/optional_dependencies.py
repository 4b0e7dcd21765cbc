"""Libraries of the extras, imported when first needed; a missing one is a sentence that says how to get it."""

import contextlib
import functools
import io
import os
import threading
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from likewise.errors import LikewiseError

EXTRA_BY_PACKAGE = {
    "torch": "torch",
    "transformers": "torch",
    "efficientnet_lite_pytorch": "torch",
    "sentencepiece": "torch",
    "ray": "ray",
    "optuna": "train",
    "pytorch_metric_learning": "train",
    "textblob": "mine",
    "sklearn": "sklearn",
    "openTSNE": "explore",
    "lance": "lance",
    "qdrant_client": "qdrant",
    "psycopg": "postgresql",
}

_ONE_AT_A_TIME = threading.RLock()


def import_optional(module: str, what: str) -> Any:
    """Import an optional library for `what`."""
    package = module.split(".")[0]
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        with suppress_output():
            imported = import_module(module)
            if module == "transformers":
                imported.utils.logging.disable_progress_bar()
            return imported
    except ImportError as error:
        if error.name and not error.name.startswith(package):
            package = error.name.split(".")[0]
        raise missing_dependency(package, what) from error


def missing_dependency(package: str, what: str) -> LikewiseError:
    """The sentence about a package that `what` needs, with the command that installs it."""
    extra = EXTRA_BY_PACKAGE.get(package)
    install = f"pip install 'likewise[{extra}]'" if extra else f"pip install {package.replace('_', '-')}"
    return LikewiseError(f"{what} needs {package}, which is not installed: run `{install}`.")


def require_installed(package: str, what: str) -> None:
    """The sentence of `import_optional`, without the seconds that the import takes."""
    if find_spec(package) is None:
        import_optional(package, what)


@functools.cache
def installed_version(package: str) -> str:
    """As its metadata say, without importing it; empty when it is not installed. Kept: reading it takes 8 ms."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@contextlib.contextmanager
def suppress_output() -> Iterator[None]:
    """Libraries that print or warn while loading stay silent: standard output belongs to the command.

    Only one thread at a time, because there is one standard output; loading and exporting need that anyway.
    """
    with _ONE_AT_A_TIME, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
