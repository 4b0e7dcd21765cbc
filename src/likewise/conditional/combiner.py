"""The Combiner (Baldrati et al. 2022, GeneCIS section 5): one query vector from a reference and a condition.

    h = [dropout relu W_t e ; dropout relu W_i x]         e, x: unscaled text and image features, 4 x their width
    o = W_o dropout relu W_h h                            8 x the width inside
    g = sigmoid(V_2 dropout relu V_1 h)                   the gate between the two sides
    q = (o + g e + (1 - g) x) / |...|

With o = 0 and the gate at 1 or 0 this is "text only" or "image only"; training starts from there and learns the rest.

A linear one keeps more of what it learned on pictures of another kind:

    q = (x' + A x' + w e' + B e') / |...|        x' = x/|x|, e' = e/|e|; w = 1, A = B = 0 at first: image + text

A conjunctive one (`conjunction.py`) makes two query vectors, of which the worse cosine counts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.conditional.composers import cosines_with_candidates
from likewise.conditional.conjunction import conjunctive_module
from likewise.conditional.protocol import Features, Floats, QueryBatch
from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.lineage.files import lineage_file, read_model_lineage, write_lineage
from likewise.lineage.record import NOTHING_LEARNED, Lineage
from likewise.optional_dependencies import import_optional
from likewise.untrusted import check_shape
from likewise.workspace import discard_result, read_json, write_atomically, write_json

if TYPE_CHECKING:
    from torch import nn

FORMAT = 1
SETTINGS, WEIGHTS = "combiner.json", "combiner.safetensors"
ROWS_PER_BATCH = 1024
KINDS = GATED, LINEAR, CONJUNCTIVE = "gated", "linear", "conjunctive"
NAME = "combiner"


@dataclass(frozen=True)
class CombinerShape:
    """Widths and dropout; the paper's are 4 x, 8 x and .5.  Only a gated one has widths."""

    dim: int
    projection: int = 4
    hidden: int = 8
    dropout: float = 0.5
    kind: str = GATED


def combiner_module(shape: CombinerShape) -> "nn.Module":
    """The network; `forward(image, text)` gives rows of length one, a conjunctive one two for every question."""
    if shape.kind == CONJUNCTIVE:
        return conjunctive_module(shape.dim)
    return _linear(shape) if shape.kind == LINEAR else _gated(shape)


def _linear(shape: CombinerShape) -> "nn.Module":
    """Image + text, and a matrix for each side that is learned beside it."""
    torch = import_optional("torch", "the Combiner")

    class LinearCombiner(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.text_weight = torch.nn.Parameter(torch.ones(()))
            self.text = torch.nn.Linear(shape.dim, shape.dim, bias=False)
            self.image = torch.nn.Linear(shape.dim, shape.dim, bias=False)
            torch.nn.init.zeros_(self.text.weight)
            torch.nn.init.zeros_(self.image.weight)

        def forward(self, image: Any, text: Any) -> Any:
            normalize = torch.nn.functional.normalize
            image, text = normalize(image), normalize(text)
            return normalize(image + self.image(image) + self.text_weight * text + self.text(text))

    module: nn.Module = LinearCombiner()
    return module


def _gated(shape: CombinerShape) -> "nn.Module":
    torch = import_optional("torch", "the Combiner")
    inner, outer = shape.projection * shape.dim, shape.hidden * shape.dim

    class Combiner(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.text = torch.nn.Linear(shape.dim, inner)
            self.image = torch.nn.Linear(shape.dim, inner)
            self.hidden = torch.nn.Linear(2 * inner, outer)
            self.output = torch.nn.Linear(outer, shape.dim)
            self.gate_hidden = torch.nn.Linear(2 * inner, outer)
            self.gate = torch.nn.Linear(outer, 1)
            self.dropout = torch.nn.Dropout(shape.dropout)
            torch.nn.init.zeros_(self.output.weight)  # starts as a mix of the two sides, and learns what to add
            torch.nn.init.zeros_(self.output.bias)

        def forward(self, image: Any, text: Any) -> Any:
            relu = torch.nn.functional.relu
            projected = torch.cat([self.dropout(relu(self.text(text))), self.dropout(relu(self.image(image)))], dim=1)
            output = self.output(self.dropout(relu(self.hidden(projected))))
            gate = torch.sigmoid(self.gate(self.dropout(relu(self.gate_hidden(projected)))))
            return torch.nn.functional.normalize(output + gate * text + (1 - gate) * image)

    module: nn.Module = Combiner()
    return module


@dataclass(frozen=True)
class TrainedCombiner:
    """A composer that `likewise condition train` made for one two-tower encoder."""

    module: "nn.Module"
    shape: CombinerShape
    tower: str
    """The spec of the encoder whose features it reads."""
    name: str = NAME
    about: dict[str, Any] = field(default_factory=dict)
    lineage: Lineage = NOTHING_LEARNED
    """What it learned from, its encoder's lessons among it."""

    def compose(self, reference: Features, condition: Features) -> Features:
        """One query vector; of a conjunctive one that which comes nearest to its scores."""
        queries = self._queries(reference, condition)
        torch = import_optional("torch", "the Combiner")
        if self.shape.kind != CONJUNCTIVE:
            return np.asarray(queries[0], np.float32)
        module: Any = self.module
        with torch.inference_mode():
            return to_numpy(module.as_one(to_device(queries)))

    def scores(self, batch: QueryBatch) -> Floats:
        """The cosine of the query vector with every candidate, or what a conjunctive one makes of its two."""
        queries = self._queries(batch.reference, batch.condition)
        cosines = np.stack([cosines_with_candidates(query, batch) for query in queries])
        if self.shape.kind != CONJUNCTIVE:
            return np.asarray(cosines[0], np.float64)
        torch = import_optional("torch", "the Combiner")
        module: Any = self.module
        with torch.inference_mode():
            joined = module.join(to_device(cosines), to_device(np.ones(cosines.shape[1:], bool)))
            return np.asarray(to_numpy(joined), np.float64)

    def _queries(self, reference: Features, condition: Features) -> Features:
        """(1 or 2, n, dim)"""
        torch = import_optional("torch", "the Combiner")
        if reference.shape[1] != self.shape.dim:
            raise LikewiseError(
                f"the Combiner reads features of {self.tower} with {self.shape.dim} numbers, these have "
                f"{reference.shape[1]}: train one for this encoder."
            )
        rows = [np.empty((2 if self.shape.kind == CONJUNCTIVE else 1, 0, self.shape.dim), np.float32)]
        module = move_to_device(self.module.eval())
        with torch.inference_mode():
            for start in range(0, len(reference), ROWS_PER_BATCH):
                part = slice(start, start + ROWS_PER_BATCH)
                found = module(to_device(reference[part]), to_device(condition[part]))
                rows.append(to_numpy(found.float()).reshape(len(rows[0]), -1, self.shape.dim))
        return np.concatenate(rows, axis=1)


def write_combiner(folder: Path, combiner: TrainedCombiner) -> None:
    """Weights, lineage and description, into a folder where they wait for what belongs to them."""
    from safetensors.numpy import save

    state = {name: to_numpy(value) for name, value in combiner.module.state_dict().items()}
    write_atomically(folder / WEIGHTS, lambda file: discard_result(file.write(save(state))))
    write_lineage(combiner.lineage, lineage_file(folder))
    values = {"format": FORMAT, "tower": combiner.tower, "shape": asdict(combiner.shape), "about": combiner.about}
    write_json(values, folder / SETTINGS)


def read_combiner(folder: Path, name: str | None = None) -> TrainedCombiner:
    """The Combiner in a folder."""
    finish_writing(folder)
    path = folder / SETTINGS
    if not path.is_file() or not (folder / WEIGHTS).is_file():
        raise LikewiseError(f"{folder} holds no Combiner (no {SETTINGS}): train one with `likewise condition train`.")
    values = read_json(path)
    if values.get("format") != FORMAT:
        raise LikewiseError(f"{path} is of a format this version does not read: train the Combiner again.")
    torch = import_optional("torch", "the Combiner")
    from safetensors.numpy import load_file

    check_shape(values, {"tower": str, "shape": {}, "about": {}}, str(path))
    check_stored_spec(values["tower"], path)
    shape = CombinerShape(**values["shape"])
    module = combiner_module(shape)
    weights: Mapping[str, NDArray[Any]] = load_file(folder / WEIGHTS)
    module.load_state_dict({key: torch.from_numpy(value.copy()) for key, value in weights.items()})
    lineage = read_model_lineage(folder, folder.name)
    return TrainedCombiner(module.eval(), shape, values["tower"], name or NAME, values["about"], lineage)
