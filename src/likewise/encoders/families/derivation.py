"""Which vectors follow from others: several encoders side by side, principal components, a trained adapter."""

from dataclasses import dataclass, field
from pathlib import Path

from likewise.encoders.families.run_files import TrainedRun, read_run
from likewise.encoders.spec import FITTED_OPTIONS, JOINED, Spec, parse_spec
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class Derivation:
    """How vectors follow from those of other encoders."""

    name: str
    parts: tuple[str, ...]
    weights: tuple[float, ...]
    components: int | None = None
    whiten: bool = False
    fitted_on: str | None = None
    dtype: str = "float32"
    run: TrainedRun | None = field(default=None, repr=False)


def derivation_of(spec: str) -> Derivation | None:
    """How a spec is made from others, None for an encoder that looks at pictures."""
    parts = parse_spec(spec)
    if len(parts) > 1:
        stored = tuple(part.without("weight").text for part in parts)
        weights = tuple(part.weight for part in parts)
        dtype = "float16" if all(part.get("dtype") == "float16" for part in parts) else "float32"
        return Derivation("+".join(part.name for part in parts), stored, weights, dtype=dtype)
    [part] = parts
    if part.family == JOINED and not part.options:
        return derivation_of(part.target)
    if not any(part.get(option) for option in FITTED_OPTIONS):
        return _adapted(part) if part.family == "run" else None
    pca, whiten = part.positive_int("pca"), part.positive_int("whiten")
    if (pca is None) == (whiten is None):
        raise LikewiseError(f"{spec!r} must have either pca=N or whiten=N.")
    fitted_on = part.get("on")
    if fitted_on is None:
        raise LikewiseError(
            f"{spec!r} must say which images {'pca' if pca else 'whiten'} is fitted on: "
            "add on=split:train (a column of the catalog and its value) or on=all."
        )
    without = part.without(*FITTED_OPTIONS, "name", "dtype", "weight")
    inner = without.target if without.family == JOINED else without.text
    return Derivation(
        part.name, (inner,), (1.0,), pca or whiten, whiten is not None, fitted_on, part.get("dtype") or "float32"
    )


def _adapted(part: Spec) -> Derivation | None:
    """A trained adapter; None for a trained network, which looks at pictures."""
    run = read_run(Path(part.target))
    if run.kind != "adapter":
        return None
    return Derivation(part.name, run.bases, (), dtype=part.get("dtype") or "float32", run=run)
