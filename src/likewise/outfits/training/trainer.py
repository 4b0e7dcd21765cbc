"""Train one model: the same seed gives the same weights, also when the run was stopped and went on.

Every epoch draws from a generator seeded by (seed, epoch), so nothing but the file of the last epoch is needed to
go on. The epoch that answers most questions of the validation outfits is the model; all epochs are kept, for
other choices.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from likewise.errors import LikewiseError
from likewise.outfits.models.batch import pad
from likewise.outfits.models.bi_lstm import BANK
from likewise.outfits.models.card import Card, read_card, weights_file, write_arrays, write_card
from likewise.outfits.models.inputs import read_inputs
from likewise.outfits.models.net import OutfitNet
from likewise.outfits.models.sight import Sight, joined_version
from likewise.outfits.models.trained import Trained, look_at, make_net
from likewise.outfits.models.trunk import VECTORS, WORDS, sees_vectors
from likewise.outfits.models.words import guessable, words_of
from likewise.outfits.protocol import Model, Question, chosen
from likewise.outfits.training.claim import claim, learned_from, state_file
from likewise.outfits.training.examples import Examples, blanked, worn_together
from likewise.outfits.training.lessons import Material, lessons
from likewise.outfits.training.listen import OnBatch, OnEpoch
from likewise.outfits.training.negatives import Negatives, most_alike
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.state import (
    add_curves,
    arrays_of,
    load_state,
    read_curves,
    save_state,
)
from likewise.workspace import write_parquet

ACCURACY = "validation accuracy"
CLIP = 5.0
WARM_UP = 0.05
TRUNK_DECAY = 0.01


@dataclass(frozen=True)
class Job:
    """What to train, on what it looks, and how."""

    kind: str
    name: str
    preset: Preset
    encoders: str = ""
    trunk: str = VECTORS
    seed: int = 0


def train(
    job: Job,
    examples: Examples,
    sight: Sight,
    folder: Path,
    *,
    force: bool = False,
    on_epoch: OnEpoch | None = None,
    on_batch: OnBatch | None = None,
) -> Card:
    """Train, or go on training, or find that all is done; the model's folder is complete when its card is there."""
    claim(folder, _describe(job, examples), force=force)
    if (folder / "card.json").exists():
        return read_card(folder)
    card, material, net = _prepare(job, examples, sight)
    optimizer = torch.optim.AdamW(_groups(net, job), job.preset.learning_rate)
    done = load_state(folder, net, optimizer)
    curves = read_curves(folder, done)
    pool = [item for outfit in (*examples.valid, *examples.train) for item in outfit.items]
    questions = blanked(examples.valid, pool, job.seed)
    for epoch in range(done + 1, job.preset.epochs + 1):
        values = _epoch(net, optimizer, material, job, epoch, on_batch)
        values[ACCURACY] = accuracy(Trained(card, net, sight), questions)
        write_arrays(arrays_of(net), weights_file(folder, epoch))
        curves = add_curves(folder, curves, epoch, values)
        save_state(folder, net, optimizer, epoch)
        if on_epoch:
            on_epoch(epoch, job.preset.epochs, values)
    return _finish(folder, card, net, curves, examples, questions)


def _groups(net: OutfitNet, job: Job) -> list[dict[str, Any]]:
    """What is pulled towards nothing: a network that has learned to see hardly at all, or it would forget."""
    sight = list(net.trunk.parameters()) if not sees_vectors(job.trunk) else []
    known = {id(weight) for weight in sight}
    rest = [weight for weight in net.parameters() if id(weight) not in known]
    groups = [{"params": rest, "weight_decay": job.preset.weight_decay}]
    return [*groups, {"params": sight, "weight_decay": TRUNK_DECAY}] if sight else groups


def _describe(job: Job, examples: Examples) -> dict[str, Any]:
    """All that decides the weights; a folder goes on only with the same."""
    return {
        "kind": job.kind,
        "encoders": job.encoders,
        "trunk": job.trunk,
        "seed": job.seed,
        "preset": job.preset.as_dict(),
        **learned_from(examples),
    }


def _prepare(job: Job, examples: Examples, sight: Sight) -> tuple[Card, Material, OutfitNet]:
    """The data as arrays, and a network with fresh weights drawn by the seed."""
    items = examples.known()
    images = sorted(items)
    inputs = read_inputs(sight, job.trunk, job.encoders, images)
    names = ("", *sorted({items[image] for image in images} - {""}))
    number = {name: place for place, name in enumerate(names)}
    types = np.array([number[items[image]] for image in images], dtype=np.int64)
    words = words_of([examples.captions.get(image) for image in images], [items[image] for image in images])
    said = guessable(words) if job.trunk == WORDS else np.zeros((len(images), 0), dtype=np.float32)
    row = {image: place for place, image in enumerate(images)}
    outfits = pad([[row[item.image] for item in outfit.items] for outfit in examples.train], types)
    people = sorted(set(examples.users))
    person = {name: place for place, name in enumerate(people)}
    users = np.array([person[name] for name in examples.users] or [0] * len(outfits), dtype=np.int64)
    card = Card(
        job.name,
        job.kind,
        job.trunk,
        job.encoders,
        joined_version(job.encoders) if sees_vectors(job.trunk) else job.trunk,
        int(inputs.table.shape[1]) if sees_vectors(job.trunk) else 0,
        names,
        max(1, len(people)),
        words.vocabulary,
        said.shape[1],
        words.said,
        {"width": job.preset.width},
        {"seed": job.seed, "preset": job.preset.as_dict()},
    )
    torch.manual_seed(job.seed)
    net = make_net(card)
    net.trunk.settle(inputs.table, torch.from_numpy(said))
    near = None
    if job.preset.near and sees_vectors(job.trunk):
        things = np.unique([examples.item_of.get(image, image) for image in images], return_inverse=True)[1]
        near = most_alike(net.trunk(inputs.table).numpy(), types, things)
    negatives = Negatives(types, names, near, job.preset.near)
    negatives.check(outfits)
    net.learn_types(torch.from_numpy(worn_together(outfits.types, outfits.there, len(names))))
    return card, Material(inputs.table, types, words.numbers, outfits, users, negatives), net


def _epoch(
    net: OutfitNet,
    optimizer: torch.optim.Optimizer,
    material: Material,
    job: Job,
    epoch: int,
    on_batch: OnBatch | None,
) -> dict[str, float]:
    """Go through all outfits once; the mean of every loss term."""
    preset, n = job.preset, len(material.outfits)
    rng = np.random.default_rng([job.seed, 1, epoch])
    torch.manual_seed(int(rng.integers(2**62)))
    steps = math.ceil(n / preset.batch)
    sums: dict[str, float] = {}
    net.train()
    for step, lesson in enumerate(_batches(net, material, preset, rng, epoch, steps)):
        rate = learning_rate(preset, ((epoch - 1) * steps + step) / (steps * preset.epochs))
        for group in optimizer.param_groups:
            group["lr"] = rate
        terms = net.loss(lesson)
        total = torch.stack(list(terms.values())).sum()
        if not bool(torch.isfinite(total)):
            raise LikewiseError(f"the loss of {job.name} is no longer a number in epoch {epoch}: try a smaller --rate.")
        optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        optimizer.step()
        for name, value in {**terms, "loss": total}.items():
            sums[name] = sums.get(name, 0.0) + value.item() / steps
        if on_batch:
            on_batch((epoch - 1) * steps + step + 1, steps * preset.epochs)
    net.eval()
    with torch.inference_mode():
        some = np.sort(rng.permutation(len(material.types))[:BANK])
        net.after_epoch(look_at(net, material.inputs[torch.from_numpy(some)], material.types[some]))
    return sums


def _batches(
    net: OutfitNet, material: Material, preset: Preset, rng: np.random.Generator, epoch: int, steps: int
) -> Any:
    for step, lesson in enumerate(lessons(net, material, preset.batch, preset.others, rng)):
        net.progress = ((epoch - 1) * steps + step) / (steps * preset.epochs)
        yield lesson


def learning_rate(preset: Preset, progress: float) -> float:
    """Rises over the first twentieth, then falls along a cosine to a hundredth."""
    if progress < WARM_UP:
        return preset.learning_rate * (0.1 + 0.9 * progress / WARM_UP)
    falling = 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))
    return preset.learning_rate * (0.01 + 0.99 * falling)


def accuracy(model: Model, questions: list[Question]) -> float:
    """The share of questions whose right choice is picked; tied choices share the credit."""
    picked = chosen(model.answer(questions))
    right = np.array([question.right for question in questions])
    credit = picked[np.arange(len(right)), right] / picked.sum(axis=1)
    return float(credit.mean())


def _finish(
    folder: Path, card: Card, net: OutfitNet, curves: pl.DataFrame, examples: Examples, questions: list[Question]
) -> Card:
    """Choose the epoch, write what belongs to the model, the card last."""
    scores = curves.filter(pl.col("name") == ACCURACY).sort("value", "epoch", descending=[True, False])
    epoch, value = int(scores["epoch"][0]), float(scores["value"][0])
    weights_file(folder).write_bytes(weights_file(folder, epoch).read_bytes())
    seen = examples.seen()
    write_parquet(seen, folder / "seen.parquet")
    trained = card.trained | {
        "n_outfits": len(examples.train),
        "n_left_out": examples.n_left_out,
        "n_validation": len(questions),
        "n_items": seen["item"].n_unique(),
        "n_users": len(set(examples.users)),
        "epoch": epoch,
        "validation_accuracy": value,
        "n_weights": sum(weight.numel() for weight in net.parameters()),
    }
    done = replace(card, trained=trained, notes=net.settings())
    write_card(done, folder)
    state_file(folder).unlink(missing_ok=True)
    return done
