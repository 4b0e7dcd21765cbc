"""ID, CAT, ID+C (VSD, sec. 6.1): new linear heads and their backbone trained together, by cross-entropy with Adam."""

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.networks.device import FittingBatches, mixed_precision, move_to_device, to_device
from likewise.encoders.networks.recipe import Tensor
from likewise.evaluation.auc import Ints
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.training.finetune.epochs import EpochMeans
from likewise.training.finetune.targets import ClassTargets
from likewise.training.image_dataset import ImageDataset

if TYPE_CHECKING:
    from torch import nn


class SupervisedLearner:
    """One backbone, one head per target; the loss is the sum of the heads' cross-entropies."""

    def __init__(
        self,
        trunk: "nn.Module",
        dim: int,
        targets: ClassTargets,
        dataset: ImageDataset,
        *,
        rate: float,
        weight_decay: float,
        batch: int,
    ) -> None:
        self.torch = import_optional("torch", "training")
        self.trunk = move_to_device(trunk)
        heads = {head: self.torch.nn.Linear(dim, n) for head, n in targets.n_classes.items()}
        self.heads = move_to_device(self.torch.nn.ModuleDict(heads))
        self.classes = targets.classes
        self.batches = FittingBatches()
        self.dataset, self.batch = dataset, batch
        self.weights = [*self.trunk.parameters(), *self.heads.parameters()]
        self.optimiser = self.torch.optim.Adam(self.weights, lr=rate, weight_decay=weight_decay)

    @property
    def n_batches(self) -> int:
        return -(-len(self.dataset.images) // self.batch)

    def state(self) -> dict[str, Any]:
        parts = {"trunk": self.trunk, "heads": self.heads, "optimiser": self.optimiser}
        return {name: part.state_dict() for name, part in parts.items()}

    def load(self, state: dict[str, Any]) -> None:
        self.trunk.load_state_dict(state["trunk"])
        self.heads.load_state_dict(state["heads"])
        self.optimiser.load_state_dict(state["optimiser"])

    def train_epoch(self, number: int, rng: np.random.Generator, on_progress: ProgressCallback) -> EpochMeans:
        self.trunk.train()
        order = rng.permutation(len(self.dataset.images))
        sums = dict.fromkeys(["loss", *(f"accuracy_{head}" for head in self.heads)], 0.0)
        batches = [order[start : start + self.batch] for start in range(0, len(order), self.batch)]
        for done, rows in enumerate(self.dataset.reader.ahead(batches)):
            for name, value in self.step(self.dataset.train_inputs(rows.tolist(), rng), rows).items():
                sums[name] += value
            on_progress("training", done + 1, self.n_batches)
        return {name: value / len(order) for name, value in sums.items()}

    def step(self, inputs: Tensor, rows: Ints) -> EpochMeans:
        """Learn from one batch, in parts where the device has no memory for all of it; sums over its images."""

        def learn(part: slice) -> EpochMeans:
            sums, losses = {}, []
            with mixed_precision():
                features = self.trunk(to_device(inputs[part]))
                for head, layer in self.heads.items():
                    logits, wanted = layer(features), to_device(self.classes[head][rows[part]])
                    losses.append(self.torch.nn.functional.cross_entropy(logits, wanted, reduction="sum"))
                    sums[f"accuracy_{head}"] = float((logits.argmax(1) == wanted).sum())
            loss = self.torch.stack(losses).sum() / len(rows)
            loss.backward()
            return sums | {"loss": float(loss.detach()) * len(rows)}

        self.optimiser.zero_grad()
        parts = self.batches.run(learn, len(rows), restart=self.optimiser.zero_grad)
        self.optimiser.step()
        return {name: sum(part[name] for part in parts) for name in parts[0]}
