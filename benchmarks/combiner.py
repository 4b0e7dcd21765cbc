"""One training step of the Combiner against a bare loop that does the same arithmetic and nothing else.

python -m benchmarks.combiner [--dim 128] [--batch 256] [--steps 40]
"""

import argparse
import json
import time

import numpy as np
import polars as pl
import torch

from likewise.conditional.combiner import CombinerShape, combiner_module
from likewise.conditional.training import TrainingArrays, TrainingSettings, contrastive_loss

NEGATIVES = 14


def drawn(n_images: int, n_triplets: int, dim: int) -> TrainingArrays:
    """Random features and triplets."""
    rng = np.random.default_rng(0)
    return TrainingArrays(
        rng.integers(0, n_images, n_triplets),
        rng.integers(0, n_images, n_triplets),
        rng.integers(0, n_images, (n_triplets, NEGATIVES)),
        rng.integers(0, 200, n_triplets),
        [],
        [],
        rng.normal(size=(n_images, dim)).astype(np.float32),
        rng.normal(size=(200, dim)).astype(np.float32),
    )


def bare(
    run: TrainingArrays, module: torch.nn.Module, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> torch.Tensor:
    """The loss as one would write it down first."""
    features, texts = torch.from_numpy(run.features), torch.from_numpy(run.text_features)
    query = module(features[run.reference[chosen]], texts[run.text[chosen]])
    target = torch.nn.functional.normalize(features[run.target[chosen]])
    negatives = torch.nn.functional.normalize(features[run.negatives[chosen]], dim=-1)
    logits = torch.cat([query @ target.T, torch.einsum("bd,bgd->bg", query, negatives)], dim=1)
    return torch.nn.functional.cross_entropy(logits / 0.01, torch.arange(len(chosen)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    run = drawn(4000, 20_000, asked.dim)
    settings = TrainingSettings(batch=asked.batch)
    rng = np.random.default_rng(1)
    module = combiner_module(CombinerShape(asked.dim))
    optimiser = torch.optim.AdamW(module.parameters(), lr=1e-4)
    spent = {"likewise": [0.0] * asked.steps, "bare": [0.0] * asked.steps}
    for step in range(asked.steps):  # in turns, so that both meet the same machine
        chosen = rng.integers(0, len(run.reference), asked.batch)
        for name, seconds in spent.items():
            started = time.process_time()
            loss = (
                contrastive_loss(run, module, chosen, settings, rng)
                if name == "likewise"
                else bare(run, module, chosen)
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            seconds[step] = time.process_time() - started
    table = pl.DataFrame(spent).select(pl.all().median())
    ratio = table["likewise"][0] / table["bare"][0]
    print(json.dumps({"cpu_ms_per_step": {n: round(1000 * table[n][0], 1) for n in spent}, "ratio": round(ratio, 2)}))


if __name__ == "__main__":
    main()
