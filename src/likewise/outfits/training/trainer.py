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

from likewise.encoders.lineage import picture_lineage
from likewise.encoders.networks.device import FittingBatches, mixed_precision, move_to_device, repeatable_kernels
from likewise.errors import LikewiseError
from likewise.files import locked, written_together
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage
from likewise.outfits.models.batch import PADDING, Indices, PaddedOutfits, StoredOutfits
from likewise.outfits.models.bi_lstm import BANK_SIZE
from likewise.outfits.models.card import (
    OutfitModelCard,
    OutfitTrainingSummary,
    read_model_card,
    weights_file,
    write_arrays,
    write_model_card,
)
from likewise.outfits.models.feature_source import FeatureSource, joined_version
from likewise.outfits.models.inputs import read_inputs
from likewise.outfits.models.net import OutfitNet
from likewise.outfits.models.trained_model import TrainedOutfitModel, embed_in_batches, make_outfit_net
from likewise.outfits.models.trunk import VECTORS, WORDS, WornPairs, uses_vectors
from likewise.outfits.models.words import caption_word_targets, extract_words
from likewise.outfits.outfit_list import worn_items
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.training.batches import OutfitArrays, make_batch, shuffled_lines
from likewise.outfits.training.callbacks import EpochCallback
from likewise.outfits.training.examples import OutfitExamples, count_type_pairs, make_fitb_questions
from likewise.outfits.training.negatives import NegativeSampler, nearest_of_type
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.run_folder import claim_folder, fingerprint_examples, settings_fingerprint, state_file
from likewise.outfits.training.state import (
    add_curves,
    load_state,
    read_curves,
    save_state,
    state_arrays,
)
from likewise.outfits.training.triplets import TripletExamples, TripletNegatives
from likewise.outfits.training.validation import ACCURACY, LOSS, fitb_accuracy, validation_arrays, validation_loss
from likewise.progress import ProgressCallback
from likewise.workspace import discard_result, write_atomically

GRADIENT_CLIP = 5.0
WARM_UP = 0.05
TRUNK_DECAY = 0.01
MAX_FITTED_ITEMS = 50_000  # to fit the first layer to; of more items a sample, by outfits
MAX_FITTED_OUTFITS = 200_000  # of that sample: their pairs are held at once
TRUNK_BLOCK = 4096  # items at a time


@dataclass(frozen=True)
class TrainingJob:
    """What to train, on which features, and how."""

    kind: str
    name: str
    preset: Preset
    encoders: str = ""
    trunk: str = VECTORS
    seed: int = 0


def train_model(
    job: TrainingJob,
    examples: OutfitExamples,
    features: FeatureSource,
    folder: Path,
    *,
    force: bool = False,
    on_epoch: EpochCallback | None = None,
    on_progress: ProgressCallback | None = None,
) -> OutfitModelCard:
    """Train, or go on training, or find that all is done; the model's folder is complete when its card is there."""
    busy = f"another process trains {folder}: wait until it is done."
    with locked(folder / "training", busy), repeatable_kernels():
        return _train(job, examples, features, folder, force=force, on_epoch=on_epoch, on_progress=on_progress)


def _train(
    job: TrainingJob,
    examples: OutfitExamples,
    features: FeatureSource,
    folder: Path,
    *,
    force: bool,
    on_epoch: EpochCallback | None,
    on_progress: ProgressCallback | None,
) -> OutfitModelCard:
    claim_folder(folder, _job_settings(job, examples), force=force)
    if (folder / "card.json").exists():
        return read_model_card(folder)
    card, arrays, net = _prepare(job, examples, features)
    optimizer = make_optimizer(net, job.preset)
    start = StartingWeights(net, job)
    done = load_state(folder, net, optimizer)
    curves = read_curves(folder, done)
    questions = _validation_questions(examples, job.seed)
    unseen = validation_arrays(card, examples, features)
    fitting = FittingBatches()
    for epoch in range(done + 1, job.preset.epochs + 1):
        values = _epoch(net, optimizer, start, arrays, job, epoch, fitting, on_progress)
        values[ACCURACY] = fitb_accuracy(TrainedOutfitModel(card, net, features), questions)
        if unseen is not None:
            values[LOSS] = validation_loss(net, unseen, job.preset, job.seed)
        write_arrays(state_arrays(net), weights_file(folder, epoch))
        curves = add_curves(folder, curves, epoch, values)
        save_state(folder, net, optimizer, epoch)
        if on_epoch:
            on_epoch(epoch, job.preset.epochs, values)
    below = features.lineage(job.encoders) if uses_vectors(job.trunk) else picture_lineage(job.trunk)
    return _finish(folder, card, net, curves, examples, questions, below)


def _validation_questions(examples: OutfitExamples, seed: int) -> list[OutfitQuestion]:
    if isinstance(examples, TripletExamples):
        return examples.questions()
    shown = worn_items(examples.train)
    return make_fitb_questions(examples.valid, [*worn_items(examples.valid), *shown], seed, shown=shown)


def make_optimizer(net: OutfitNet, preset: Preset) -> torch.optim.Optimizer:
    """Without weight decay of its own: see `StartingWeights`."""
    if preset.optimizer == "sgd":
        return torch.optim.SGD(net.parameters(), preset.learning_rate, preset.momentum)
    return torch.optim.AdamW(net.parameters(), preset.learning_rate, weight_decay=0.0)


class StartingWeights:
    """Weight decay towards where the network began, which is a good place (`AgreementTrunk`), instead of towards 0."""

    def __init__(self, net: OutfitNet, job: TrainingJob) -> None:
        encoder = {id(weight) for weight in net.trunk.parameters()}  # a pretrained encoder hardly decays
        self.known = [
            (weight, weight.detach().clone(), TRUNK_DECAY if id(weight) in encoder else job.preset.weight_decay)
            for weight in net.parameters()
        ]

    @torch.no_grad()
    def decay(self, rate: float) -> None:
        """One step back, as long as AdamW's."""
        for weight, start, decay in self.known:
            weight.lerp_(start, min(1.0, rate * decay))


def _job_settings(job: TrainingJob, examples: OutfitExamples) -> dict[str, Any]:
    """All that decides the weights; a folder goes on only with the same."""
    return {
        "kind": job.kind,
        "encoders": job.encoders,
        "trunk": job.trunk,
        "seed": job.seed,
        "preset": job.preset.as_dict(),
        **fingerprint_examples(examples),
        **(
            {"triplets": settings_fingerprint(sorted(examples.answers))}
            if isinstance(examples, TripletExamples)
            else {}
        ),
    }


def _prepare(
    job: TrainingJob, examples: OutfitExamples, features: FeatureSource
) -> tuple[OutfitModelCard, OutfitArrays, OutfitNet]:
    """The data as arrays, and a network with fresh weights drawn by the seed."""
    items = examples.categories_by_image()
    images = sorted(items)
    inputs = read_inputs(features, job.trunk, job.encoders, images)
    names = ("", *sorted({items[image] for image in images} - {""}))
    number = {name: place for place, name in enumerate(names)}
    types = np.array([number[items[image]] for image in images], dtype=np.int64)
    words = extract_words([examples.captions.get(image) for image in images], [items[image] for image in images])
    word_targets = caption_word_targets(words) if job.trunk == WORDS else np.zeros((len(images), 0), dtype=np.float32)
    row = {image: place for place, image in enumerate(images)}
    outfits = StoredOutfits.from_outfits(examples.train, row, types)
    people = sorted(set(examples.users))
    person = {name: place for place, name in enumerate(people)}
    users = np.array([person[name] for name in examples.users] or [0] * len(outfits), dtype=np.int64)
    card = OutfitModelCard(
        job.name,
        job.kind,
        job.trunk,
        job.encoders,
        joined_version(job.encoders) if uses_vectors(job.trunk) else job.trunk,
        inputs.dim,
        names,
        max(1, len(people)),
        words.vocabulary,
        word_targets.shape[1],
        words.source,
        {"width": job.preset.width},
        OutfitTrainingSummary(job.seed, job.preset),
    )
    torch.manual_seed(job.seed)
    net = make_outfit_net(card)
    rows, fitted = sample_for_trunk(outfits, len(images), job.seed)
    net.trunk.fit(inputs.select(rows).vectors, torch.from_numpy(word_targets[rows]), WornPairs.from_outfits(fitted))
    near = None
    if job.preset.near_share and uses_vectors(job.trunk) and not isinstance(examples, TripletExamples):
        item_ids = np.unique([examples.item_by_image.get(image, image) for image in images], return_inverse=True)[1]
        blocks = range(0, len(inputs), TRUNK_BLOCK)
        turned = [net.trunk(torch.as_tensor(inputs.read(slice(at, at + TRUNK_BLOCK)))).numpy() for at in blocks]
        near = nearest_of_type(np.concatenate(turned), types, item_ids)
    if isinstance(examples, TripletExamples):
        assert examples.far_by_pair is not None
        far = {(row[a], row[b]): np.array([row[image] for image in c]) for (a, b), c in examples.far_by_pair.items()}
        negatives: NegativeSampler | TripletNegatives = TripletNegatives(far)
    else:
        negatives = NegativeSampler(types, names, near, job.preset.near_share)
        negatives.check_outfits(outfits)
    net.fit_type_cooccurrence(torch.from_numpy(count_type_pairs(outfits, len(names))))
    return card, OutfitArrays(inputs, types, words.word_ids, outfits, users, negatives), move_to_device(net)


def sample_for_trunk(outfits: StoredOutfits, n_items: int, seed: int) -> tuple[Indices, PaddedOutfits]:
    """The items that the first layer is fitted to, and outfits of them alone: all, or of very many a sample."""
    every = np.arange(len(outfits))
    if n_items <= MAX_FITTED_ITEMS and len(outfits) <= MAX_FITTED_OUTFITS:
        return np.arange(n_items), outfits.select(every)
    order = np.random.default_rng([seed, 3]).permutation(len(outfits))
    if n_items <= MAX_FITTED_ITEMS:
        return np.arange(n_items), outfits.select(np.sort(order[:MAX_FITTED_OUTFITS]))
    lines = order[: max(1, MAX_FITTED_ITEMS // int(np.diff(outfits.starts).max(initial=1)))]
    some = outfits.select(lines)
    rows, places = np.unique(some.indices[some.mask], return_inverse=True)
    indices = np.full(some.indices.shape, PADDING, dtype=np.int64)
    indices[some.mask] = places
    return rows, PaddedOutfits(indices, some.types)


def _epoch(
    net: OutfitNet,
    optimizer: torch.optim.Optimizer,
    start: StartingWeights,
    arrays: OutfitArrays,
    job: TrainingJob,
    epoch: int,
    fitting: FittingBatches,
    on_progress: ProgressCallback | None,
) -> dict[str, float]:
    """Go through all outfits once; the mean of every loss term."""
    preset, n = job.preset, len(arrays.outfits)
    rng = np.random.default_rng([job.seed, 1, epoch])
    torch.manual_seed(int(rng.integers(2**62)))
    steps = math.ceil(n / preset.batch_size)
    sums: dict[str, float] = {}
    net.train()
    for step, lines in enumerate(shuffled_lines(arrays, preset.batch_size, rng)):
        net.training_progress = ((epoch - 1) * steps + step) / (steps * preset.epochs)
        rate = learning_rate(preset, net.training_progress)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        terms = backward(net, arrays, lines, preset.n_negatives, rng, fitting)
        if not math.isfinite(terms["loss"]):
            raise LikewiseError(f"the loss of {job.name} is no longer a number in epoch {epoch}: try a smaller --lr.")
        torch.nn.utils.clip_grad_norm_(net.parameters(), GRADIENT_CLIP)
        optimizer.step()
        start.decay(rate)
        for name, value in terms.items():
            sums[name] = sums.get(name, 0.0) + value / steps
        if on_progress:
            on_progress(job.name, (epoch - 1) * steps + step + 1, steps * preset.epochs)
    net.eval()
    with torch.inference_mode():
        some = np.sort(rng.permutation(len(arrays.types))[:BANK_SIZE])
        net.on_epoch_end(embed_in_batches(net, arrays.inputs.select(some), arrays.types[some]))
    return sums


def backward(
    net: OutfitNet,
    arrays: OutfitArrays,
    lines: Indices,
    n_negatives: int,
    rng: np.random.Generator,
    fitting: FittingBatches,
) -> dict[str, float]:
    """The gradients of one batch, in parts where the device has no memory for all of it; the mean of its terms.

    A part has the negatives that are drawn for it; a loss that compares the outfits of a batch sees those of its part.
    """
    drawn = rng.bit_generator.state

    def learn(part: slice) -> dict[str, float]:
        some = lines[part]
        with mixed_precision():
            terms = net.loss(make_batch(net, arrays, some, n_negatives, rng))
        total = torch.stack([term.float() for term in terms.values()]).sum()
        share = len(some) / len(lines)
        (total * share).backward()  # type: ignore[no-untyped-call]
        return {name: value.item() * share for name, value in {**terms, "loss": total}.items()}

    def restart() -> None:
        net.zero_grad()
        rng.bit_generator.state = drawn

    parts = fitting.run(learn, len(lines), restart)
    return {name: sum(part.get(name, 0.0) for part in parts) for name in parts[0]}


def learning_rate(preset: Preset, progress: float) -> float:
    """Rises over the first twentieth, then falls along a cosine to a hundredth."""
    if progress < WARM_UP:
        return preset.learning_rate * (0.1 + 0.9 * progress / WARM_UP)
    falling = 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))
    return preset.learning_rate * (0.01 + 0.99 * falling)


def _finish(
    folder: Path,
    card: OutfitModelCard,
    net: OutfitNet,
    curves: pl.DataFrame,
    examples: OutfitExamples,
    questions: list[OutfitQuestion],
    lineage: Lineage,
) -> OutfitModelCard:
    """Choose the epoch, and write what belongs to the model together."""
    scores = curves.filter(pl.col("name") == ACCURACY).sort("value", "epoch", descending=[True, False])
    epoch, value = int(scores["epoch"][0]), float(scores["value"][0])
    weights, lesson = weights_file(folder, epoch).read_bytes(), examples.lesson()
    training = replace(
        card.training,
        n_outfits=len(examples.train),
        n_left_out=examples.n_left_out,
        n_validation=len(questions),
        n_items=lesson.examples.images["item"].n_unique(),
        n_users=len(set(examples.users)),
        epoch=epoch,
        validation_accuracy=value,
        n_weights=sum(weight.numel() for weight in net.parameters()),
    )
    done = replace(card, training=training, notes=net.card_notes())
    with written_together(folder) as staged:
        write_atomically(weights_file(staged.staging), lambda file: discard_result(file.write(weights)))
        write_lineage(lineage.with_lesson(lesson), lineage_file(staged.staging))
        write_model_card(done, staged.staging)
        staged.remove(state_file(folder))
    return done
