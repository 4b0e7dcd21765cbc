"""Libraries of the extras, imported when first needed; a missing one is a sentence that says how to get it."""

import contextlib
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

EXTRA_OF = {
    "torch": "torch",
    "transformers": "torch",
    "efficientnet_lite_pytorch": "torch",
    "onnx": "torch",
    "sentencepiece": "torch",
    "onnxruntime": "onnx",
    "ray": "ray",
    "optuna": "train",
    "pytorch_metric_learning": "train",
    "textblob": "mine",
}

_ALONE = threading.RLock()


def needed(module: str, what: str) -> Any:
    """Import an optional library for `what`."""
    package = module.split(".")[0]
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        with quiet():
            imported = import_module(module)
            if module == "transformers":
                imported.utils.logging.disable_progress_bar()
            return imported
    except ImportError as error:
        if error.name and not error.name.startswith(package):
            package = error.name.split(".")[0]
        extra = EXTRA_OF.get(package)
        install = f"pip install 'likewise[{extra}]'" if extra else f"pip install {package.replace('_', '-')}"
        raise LikewiseError(f"{what} needs {package}, which is not installed: run `{install}`.") from error


def must_have(package: str, what: str) -> None:
    """The sentence of `needed`, without the seconds that the import takes."""
    if find_spec(package) is None:
        needed(package, what)


def installed_version(package: str) -> str:
    """As its metadata say, without importing it; empty when it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Libraries that print or warn while loading stay silent: standard output belongs to the command.

    Only one thread at a time, because there is one standard output; loading and exporting need that anyway.
    """
    with _ALONE, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
