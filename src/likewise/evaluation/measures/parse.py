"""From text to measures and back: `parse_measure(str(measure)) == measure`."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import cast

from likewise.errors import LikewiseError
from likewise.evaluation.measures.base import AreaMeasure, AreaParameters, CutoffMeasure, Measure
from likewise.evaluation.measures.own import PYTHON, python_function
from likewise.evaluation.measures.registry import KNOWN, OWN, register_measure

ELSEWHERE = {
    "hr": "P",
    "rr": "MRR",
    "pr-auc": "AP",
    "pr_auc": "AP",
    "map": "AP",
    "cmc": "Success",
    "rprec": "R_Precision",
}
TOKEN = re.compile(r"[^\s,()]+(?:\([^)]*\))?(?:@[^\s,()]+)?")
PARTS = re.compile(r"(?P<name>[^@()]+)(?P<brackets>\((?P<parameters>.*)\))?(?:@(?P<k>.+))?")
PARAMETER = re.compile(r"""\s*(?P<name>\w+)\s*=\s*(?P<quote>["']?)(?P<value>\w+)(?P=quote)\s*""")


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Measures separated by spaces or commas, each once: `P@5 nDCG@10 ROC_AUC(average="micro")`."""
    found = [parse_measure(token) for token in TOKEN.findall(text)]
    if TOKEN.sub("", text).strip(" ,\t\n"):
        raise LikewiseError(f"{text!r} is not a list of measures: separate names such as P@5 and ROC_AUC by spaces.")
    if not found:
        raise LikewiseError(f"there is no measure in {text!r}: known are {_listed()}.")
    return tuple(dict.fromkeys(found))


def parse_measure(text: str) -> Measure:
    """The measure of a name; text that names none is an error that lists the known ones and the nearest match."""
    text = text.strip()
    if (whole := OWN.get(text) or KNOWN.get(text)) is not None:
        return whole
    if text.startswith(PYTHON):
        return register_measure(python_function(text), name=text)
    parts = PARTS.fullmatch(text)
    measure = KNOWN.get(parts["name"]) if parts else None
    if parts is None or measure is None:
        raise _unknown(text, parts["name"] if parts else text)
    if parts["brackets"]:
        if not isinstance(measure, AreaMeasure):
            raise LikewiseError(f"{text!r}: {measure} takes no parameters.")
        measure = measure(**_parameters(text, parts["parameters"]))
    if parts["k"] is not None:
        if not isinstance(measure, CutoffMeasure) or not re.fullmatch("[0-9]+", parts["k"]):
            why = "a cutoff is a whole number" if isinstance(measure, CutoffMeasure) else f"{measure} has no cutoff"
            raise LikewiseError(f"{text!r}: {why}.")
        measure = measure @ int(parts["k"])
    return measure


def heading(text: str) -> tuple[str, str]:
    """Title and subtitle of a column of results; a measure that is not registered here is its own title."""
    try:
        measure = OWN.get(text) or (None if text.startswith(PYTHON) else parse_measure(text))
    except LikewiseError:
        measure = None
    return (text.rpartition(":")[2], "") if measure is None else (measure.title, measure.subtitle)


def cutoff_of(text: str) -> int | None:
    """The list length in the name of a measure; None where it looks at judged pairs."""
    k = re.search(r"@([0-9]+)$", text)
    return int(k[1]) if k else None


def is_sampled(text: str) -> bool:
    """Whether a measure's name says that its negatives are sampled."""
    return 'negatives="sampled"' in text


def cutoffs(measures: Iterable[Measure]) -> list[int]:
    """The list lengths that measures look at, smallest first."""
    return sorted({measure.cutoff for measure in measures if isinstance(measure, CutoffMeasure)})


def _parameters(text: str, inside: str) -> AreaParameters:
    found = [PARAMETER.fullmatch(part) for part in inside.split(",")] if inside.strip() else []
    given = {one["name"]: one["value"] for one in found if one}
    if len(given) < len(found) or not set(given) <= {"average", "negatives"}:
        raise LikewiseError(
            f'{text!r}: parameters are average="macro" or "micro", and negatives="annotated", "gallery" or "sampled".'
        )
    return cast(AreaParameters, given)


def _unknown(text: str, name: str) -> LikewiseError:
    names = [*KNOWN, *OWN]
    folded = {each.lower(): each for each in names}
    near = ELSEWHERE.get(name.lower())
    if near is None and (close := get_close_matches(name.lower().replace("-", "_"), folded, n=1, cutoff=0.5)):
        near = folded[close[0]]
    hint = f"did you mean {near}? Known are" if near else "known are"
    return LikewiseError(f"there is no measure {text!r}: {hint} {_listed()}.")


def _listed() -> str:
    names = [f"{name}@k" if isinstance(one, CutoffMeasure) else name for name, one in KNOWN.items()]
    return ", ".join([*names, *OWN, "python:module:function"])
