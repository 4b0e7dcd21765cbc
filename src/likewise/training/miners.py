"""Miners of pytorch-metric-learning by their names: `BatchHardMiner`, `TripletMarginMiner?margin=0.2`.

A method takes one behind a plus sign (`triplet+BatchHardMiner`), and `train check --miner` gives one to every embedding
loss that has none.
"""

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from likewise.errors import LikewiseError

BEHIND_PLUS = re.compile(r"(?P<loss>.+)\+(?P<miner>[A-Za-z]+Miner(\?.*)?)$")


def split_miner(method: str) -> tuple[str, str]:
    """The loss and the miner of a method's text; no miner is an empty one."""
    found = BEHIND_PLUS.match(method)
    return (found["loss"], found["miner"]) if found else (method, "")


def miner_names() -> list[str]:
    """Those of the library that choose pairs or triplets of a batch."""
    from pytorch_metric_learning import miners

    return [name for name in dir(miners) if name.endswith("Miner") and not name.startswith("Base")]


def make_miner(text: str) -> Callable[..., Any]:
    """A miner with the values that are written behind its name."""
    from pytorch_metric_learning import miners

    name, _, query = text.partition("?")
    if name not in miner_names():
        close = get_close_matches(name, miner_names(), n=1, cutoff=0.5)
        meant = f", did you mean {close[0]!r}?" if close else ":"
        raise LikewiseError(f"there is no miner {name!r}{meant} known are {', '.join(miner_names())}.")
    kind = getattr(miners, name)
    try:
        made: Callable[..., Any] = kind(**{key: _value(value) for key, value in _parts(query)})
    except (TypeError, ValueError, AssertionError) as error:
        arguments = ", ".join(each for each in inspect.signature(kind).parameters if each != "kwargs")
        raise LikewiseError(f"{text} cannot be made ({error}): it has {arguments}.") from error
    return made


def _parts(query: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in filter(None, query.split("&"))]
    return [(name, value) for name, _, value in parts]


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
