"""One training step of the check against a bare PyTorch loop with the same loss, on the same rows.

A head of 128 dimensions over vectors of 1,280, batches of 8 classes x 4 images, RMSprop: what `likewise train check`
with a frozen trunk does. The bare loop is what one would write by hand: the same sampler, network, loss and optimiser,
and nothing else (no validation in either). Then one step of a network that is trained whole, with its pictures and
weights in memory as they come and channels last (as `place` and `to_device` have them).
"""

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.timing import medians, print_beside
from likewise.encoders.networks.device import move_to_device, to_device
from likewise.training.methods import METHODS_BY_NAME, PUBLISHED_BEST_VALUES, LossMethod
from likewise.training.network import build_embedder, load_trunk, set_training_mode, trunk_recipe
from likewise.training.plan import TrainingPlan, make_plan
from likewise.training.trainer import TrainingLoop, fixed_seed, sample_batches

CLASSES, PER_CLASS, DIM = 600, 4, 1280
STEPS, ROUNDS = 300, 11
METHODS = ("contrastive", "ms", "arcface")
SOP = 2


def rows() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    vectors = np.random.default_rng(0).standard_normal((CLASSES * PER_CLASS, DIM), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.repeat(np.arange(CLASSES), PER_CLASS)


def params_of(method: LossMethod) -> dict[str, float]:
    return {name: best[SOP] for name, best in PUBLISHED_BEST_VALUES[method.name].items()}


def ours(vectors: NDArray[np.float32], labels: NDArray[np.int64], method: LossMethod, plan: TrainingPlan) -> None:
    with fixed_seed(torch, 0):
        network = build_embedder(None, DIM, plan.dim)
        loop = TrainingLoop(torch, network, method, params_of(method), plan, CLASSES)
        set_training_mode(network)
        for places in sample_batches(labels, labels, method, plan, 0):
            loop.step(torch.from_numpy(vectors[places]), torch.from_numpy(labels[places]))


def bare(vectors: NDArray[np.float32], labels: NDArray[np.int64], method: LossMethod, plan: TrainingPlan) -> None:
    from pytorch_metric_learning.samplers import MPerClassSampler

    torch.manual_seed(0)
    params = params_of(method)
    loss_and_miner = method.make_loss(params, CLASSES, plan.dim)
    head = torch.nn.Linear(DIM, plan.dim)
    settings: dict[str, Any] = {"weight_decay": plan.weight_decay, "momentum": plan.momentum}
    optimisers = [torch.optim.RMSprop(head.parameters(), lr=plan.learning_rate, **settings)]
    if "loss_lr" in params:
        optimisers.append(torch.optim.RMSprop(loss_and_miner.loss.parameters(), lr=params["loss_lr"], **settings))
    inputs, targets = torch.from_numpy(vectors), torch.from_numpy(labels)
    sampler = MPerClassSampler(labels, method.images_per_class, plan.batch, plan.batch * plan.max_steps)
    order = list(sampler)
    for start in range(0, len(order), plan.batch):
        places = order[start : start + plan.batch]
        loss = loss_and_miner.loss(torch.nn.functional.normalize(head(inputs[places] * DIM**0.5)), targets[places])
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser in optimisers:
            optimiser.step()


def network_step(network: torch.nn.Module, pixels: torch.Tensor) -> None:
    """Forwards, backwards, and a step of the optimiser."""
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4)
    loss = network(pixels).square().mean()
    loss.backward()
    optimiser.step()


def compare_memory_formats(encoder: str, batch: int) -> None:
    side = trunk_recipe(encoder).side
    pixels = torch.from_numpy(np.random.default_rng(0).normal(size=(batch, 3, *side)).astype(np.float32))
    plain, placed = (load_trunk(encoder)[0].train().requires_grad_(True) for _ in range(2))
    seconds = medians(
        {
            "as they come": partial(network_step, plain, pixels),
            "channels last": partial(network_step, move_to_device(placed), to_device(pixels.numpy())),
        },
        ROUNDS,
    )
    print_beside(f"training: one step of {encoder}, {batch} pictures", seconds, "as they come")


def main() -> None:
    torch.set_num_threads(1)
    compare_memory_formats("small", 32)
    compare_memory_formats("efficientnet-lite0?size=96", 32)
    vectors, labels = rows()
    plan = make_plan("quick", steps=STEPS)
    for name in METHODS:
        method = METHODS_BY_NAME[name]
        seconds = medians(
            {
                "bare PyTorch loop": partial(bare, vectors, labels, method, plan),
                "likewise": partial(ours, vectors, labels, method, plan),
            },
            ROUNDS,
        )
        per_step = {way: value / STEPS for way, value in seconds.items()}
        print_beside(f"training: one step, {name} (medians of {ROUNDS} x {STEPS} steps)", per_step, "bare PyTorch loop")


if __name__ == "__main__":
    main()
