"""Further methods by name: any loss of pytorch-metric-learning, or a function of the user.

    CircleLoss                                     the library's defaults, nothing searched
    CircleLoss?m=0..1&gamma=1..256:log             searched in these ranges
    TripletMarginLoss?margin=0.2                   a fixed value
    my_losses:focal?alpha=0..1                     `focal(alpha=..., num_classes=..., embedding_size=...)`
    triplet+BatchHardMiner                         any of them with a miner of the library (`miners.py`)

A user's function gets the values, and the number of classes and dimensions if it has such arguments; it returns a loss
of (embeddings, labels).  Losses that take the number of classes are trained as classification losses.
"""

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError
from likewise.training.methods import (
    LOSS_LR,
    LOSS_LR_RANGE,
    METHODS_BY_NAME,
    PAPER_METHODS,
    LossAndMiner,
    LossKind,
    LossMethod,
    Params,
    SearchRange,
)
from likewise.training.miners import make_miner, split_miner

CLASS_ARGUMENTS = ("num_classes", "embedding_size")


def find_methods(texts: Sequence[str]) -> list[LossMethod]:
    """The methods of a list of names, `all` being the paper's twelve; each once."""
    found: dict[str, LossMethod] = {}
    for text in texts:
        for method in PAPER_METHODS if text == "all" else (find_method(text),):
            found[method.name] = method
    if not found:
        raise LikewiseError("no method is named: use --methods all, or some of " + ", ".join(METHODS_BY_NAME) + ".")
    for method in found.values():
        if method.name not in METHODS_BY_NAME:
            _check_arguments(method)
    return _distinct_titles(list(found.values()))


def _distinct_titles(methods: list[LossMethod]) -> list[LossMethod]:
    """Variants of one loss go by all that was written of them, the others by their short title."""
    n_of_title = Counter(method.title for method in methods)
    return [replace(each, title=each.name) if n_of_title[each.title] > 1 else each for each in methods]


def _check_arguments(method: LossMethod) -> None:
    """Make the loss once, so that a wrong argument is said before anything is trained."""
    middle = {name: (each.low + each.high) / 2 for name, each in method.ranges.items()}
    try:
        method.make_loss(middle, 4, 8)
    except Exception as error:  # of the library or of the user's function
        raise LikewiseError(f"{method.name} cannot be made ({error}): correct its arguments.") from error


def find_method(text: str) -> LossMethod:
    """One of the twelve, a loss of the library, or a user's function."""
    if text in METHODS_BY_NAME:
        return METHODS_BY_NAME[text]
    loss, miner = split_miner(text)
    if miner:
        return _with_miner(find_method(loss), miner)
    name, _, query = text.partition("?")
    if name in METHODS_BY_NAME:
        raise LikewiseError(
            f"{name} has the paper's ranges and takes no arguments: write a loss of pytorch-metric-learning with them, "
            "such as ContrastiveLoss?pos_margin=0&neg_margin=0.5."
        )
    constructor = _user_loss(name) if ":" in name else _library_loss(name)
    fixed, ranges = _parse_arguments(query, text)
    parameters = inspect.signature(constructor).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    class_arguments = [each for each in CLASS_ARGUMENTS if each in parameters]
    unknown = [each for each in (*fixed, *ranges) if each not in parameters and not takes_any and each != LOSS_LR]
    if unknown:
        raise LikewiseError(f"{name} has no argument {unknown[0]!r}: it has {', '.join(parameters)}.")
    kind: LossKind = "classification" if class_arguments else "embedding"

    def make_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
        sizes = {"num_classes": n_classes, "embedding_size": dim}
        given = {each: value for each, value in (fixed | dict(params)).items() if each != LOSS_LR}
        return LossAndMiner(constructor(**given, **{each: sizes[each] for each in class_arguments}))

    if class_arguments and LOSS_LR not in fixed:
        ranges = LOSS_LR_RANGE | ranges
    return LossMethod(text, name.rpartition(":")[2], kind, ranges, make_loss)


def _with_miner(method: LossMethod, miner: str) -> LossMethod:
    """A method whose loss sees what a miner of the library chose."""
    if method.kind != "embedding":
        raise LikewiseError(f"{method.name} compares images with classes: a miner chooses among images, leave it out.")
    make_miner(miner)

    def make_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
        return replace(method.make_loss(params, n_classes, dim), miner=make_miner(miner))

    name = f"{method.name}+{miner}"
    return replace(method, name=name, title=f"{method.title}+{miner.partition('?')[0]}", make_loss=make_loss, year=None)


def _library_loss(name: str) -> Callable[..., Any]:
    from pytorch_metric_learning import losses

    known = [each for each in dir(losses) if each.endswith("Loss")]
    if name not in known:
        close = get_close_matches(name, [*METHODS_BY_NAME, *known], n=1, cutoff=0.5)
        meant = f", did you mean {close[0]!r}?" if close else ":"
        raise LikewiseError(
            f"there is no method {name!r}{meant} known are {', '.join(METHODS_BY_NAME)}, every loss of "
            "pytorch-metric-learning such as CircleLoss, and MODULE:FUNCTION."
        )
    found: Callable[..., Any] = getattr(losses, name)
    return found


def _user_loss(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        found: Callable[..., Any] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise LikewiseError(f"{name!r}: there is no module {error.name!r} here or installed.") from error
    except AttributeError as error:
        raise LikewiseError(f"{name!r}: the module {module} has no {attribute!r}.") from error
    return found


def _parse_arguments(query: str, text: str) -> tuple[dict[str, float], dict[str, SearchRange]]:
    fixed: dict[str, float] = {}
    ranges: dict[str, SearchRange] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        low, dots, high = value.removesuffix(":log").partition("..")
        try:
            if not equals:
                raise ValueError
            if dots:
                ranges[name] = SearchRange(float(low), float(high), log=value.endswith(":log"))
            else:
                fixed[name] = float(low)
        except ValueError:
            raise LikewiseError(
                f"{part!r} in {text!r} is no value or range: write NAME=0.5, NAME=0..1 or NAME=1..256:log."
            ) from None
    return fixed, ranges
