"""The first layer: stored vectors brought to one scale, or read as words, or a torch encoder that is trained along."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.outfits.models.batch import PaddedOutfits

VECTORS = "vectors"
WORDS = "words"
N_COMPONENTS = 256
N_DIRECTIONS = 64
POWER_ITERATIONS = 3  # of the power iteration that finds the components
RIDGE_PENALTY = 1e-3  # of the regression on words, as a share of the total variance of the inputs
SHRINKAGE = 1.0  # of the items' covariance, towards its mean variance
LEAST_STRENGTH = 0.05  # of a direction, as a share of the strongest: layers above may still need it
PAIR_BLOCK = 65_536


@dataclass(frozen=True)
class WornPairs:
    """Rows of items that one outfit holds both of, each pair once per outfit, and how much it counts."""

    first: Tensor
    second: Tensor
    weight: Tensor

    @staticmethod
    def from_outfits(outfits: PaddedOutfits) -> "WornPairs":
        """All pairs. A pair counts 1 / sqrt(how often the one is worn * how often the other is): a shoe that goes with
        everything would otherwise outvote a hundred others."""
        left, right = np.triu_indices(outfits.indices.shape[1], 1)
        both = outfits.mask[:, left] & outfits.mask[:, right]
        first, second = outfits.indices[:, left][both], outfits.indices[:, right][both]
        worn = np.bincount(np.concatenate([first, second])).astype(np.float64)
        weight = 1.0 / np.sqrt(worn[first] * worn[second])
        return WornPairs(torch.from_numpy(first), torch.from_numpy(second), torch.from_numpy(weight).float())


class FeatureTrunk(nn.Module):
    """Inputs of items (m, ...) to features (m, n_features)."""

    n_features: int

    def fit(self, inputs: Tensor, word_targets: Tensor, pairs: WornPairs) -> None:
        """Called once before training with the inputs of training items, which words are said of them, and which are
        worn together."""


class AgreementTrunk(FeatureTrunk):
    """Vectors turned to the directions in which items that are worn together agree, and brought to one length.

    Components are brought to mean 0 and spread 1 (or, with words, to guesses of what is said of an item, by ridge
    regression on the training items). Then, with S the covariance of the training items, shrunk, and C that of items
    worn together, the features are the leading eigenvectors of S^-1/2 C S^-1/2 by the root of their eigenvalues: the
    product of two items' features is the log-odds of being worn together in a Gaussian model (as in PLDA), and the
    network starts from there. Learned from random layers, 2,000 real outfits teach which items they hold, not what
    goes together: docs/outfits.md.
    """

    mean: Tensor
    spread: Tensor
    turn: Tensor

    def __init__(self, n_inputs: int, n_caption_words: int = 0) -> None:
        super().__init__()
        self.n_features = min(n_caption_words or n_inputs, N_DIRECTIONS)
        self.register_buffer("mean", torch.zeros(n_inputs))
        self.register_buffer("spread", torch.ones(n_inputs))
        self.register_buffer("turn", torch.eye(n_inputs, self.n_features))

    def fit(self, inputs: Tensor, word_targets: Tensor, pairs: WornPairs) -> None:
        if not bool(torch.isfinite(inputs).all()):
            raise LikewiseError("some vectors hold values that are no numbers: encode the catalog again.")
        self.mean.copy_(inputs.mean(dim=0))
        self.spread.copy_(component_std(inputs))
        scaled = (inputs - self.mean) / self.spread
        if word_targets.shape[1]:
            reduced = guess_words(scaled, word_targets)
        else:
            n_found = min(N_COMPONENTS, *scaled.shape)
            reduced = torch.svd_lowrank(scaled, q=n_found, niter=POWER_ITERATIONS)[2]
        directions = agreement_directions(scaled @ reduced, pairs, self.n_features)
        self.turn.zero_()
        self.turn[:, : directions.shape[1]] = reduced @ directions

    def forward(self, inputs: Tensor) -> Tensor:
        turned: Tensor = (inputs - self.mean) / self.spread @ self.turn
        return functional.normalize(turned, dim=1) * math.sqrt(self.n_features)


def guess_words(scaled: Tensor, word_targets: Tensor) -> Tensor:
    """(n_inputs, n_words): the ridge regression of words on vectors, each guess with spread 1."""
    wanted = (word_targets - word_targets.mean(dim=0)) / word_targets.std(dim=0, correction=0).clamp(min=1e-6)
    products = scaled.T @ scaled / len(scaled)
    stiff = products + RIDGE_PENALTY * products.trace() * torch.eye(len(products))
    found = torch.linalg.solve(stiff, scaled.T @ wanted / len(scaled))
    return torch.as_tensor(found / (scaled @ found).std(dim=0, correction=0).clamp(min=1e-6))


def agreement_directions(features: Tensor, pairs: WornPairs, n_wanted: int) -> Tensor:
    """(n_features, n_wanted or fewer): see `AgreementTrunk`."""
    centred = (features - features.mean(dim=0)).double()
    own = centred.T @ centred / len(centred)
    own += SHRINKAGE * own.trace() / len(own) * torch.eye(len(own), dtype=own.dtype)
    together = torch.zeros_like(own)
    for start in range(0, len(pairs.first), PAIR_BLOCK):
        block = slice(start, start + PAIR_BLOCK)
        weighted = centred[pairs.first[block]] * pairs.weight[block, None].double()
        together += weighted.T @ centred[pairs.second[block]]
    together = (together + together.T) / (2.0 * pairs.weight.sum().clamp(min=1e-12))
    size, basis = torch.linalg.eigh(own)
    root = basis @ torch.diag(size.clamp(min=1e-12).rsqrt()) @ basis.T
    agreement, directions = torch.linalg.eigh(root @ together @ root)
    leading = torch.argsort(agreement, descending=True)[:n_wanted]
    strength = agreement[leading].clamp(min=0.0) + LEAST_STRENGTH * agreement.max().clamp(min=1e-6)
    turned: Tensor = root @ directions[:, leading] * strength.sqrt()
    return turned.to(features.dtype)


def component_std(inputs: Tensor) -> Tensor:
    """Of every component; one that hardly moves stays small."""
    spread = inputs.std(dim=0, correction=0)
    return spread.clamp(min=0.1 * float(spread.median()) + 1e-6)


class EncoderTrunk(FeatureTrunk):
    """A torch encoder with all its weights, over pictures as its own preparation leaves them (bytes)."""

    scale: Tensor
    offset: Tensor

    def __init__(self, model: NetworkModel) -> None:
        super().__init__()
        assert model.load is not None
        self.network = model.load()
        self.n_features = model.find_dim()
        std = torch.tensor(model.recipe.std)[:, None, None]
        self.register_buffer("scale", model.recipe.scale / std, persistent=False)
        self.register_buffer("offset", torch.tensor(model.recipe.mean)[:, None, None] / std, persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        features: Tensor = self.network(inputs.float() * self.scale - self.offset)
        return features


def trainable_encoder(trunk: str) -> Network:
    """The encoder that is trained along; only a torch network can be."""
    encoder = get_encoder(trunk)
    if not isinstance(encoder, Network) or encoder.model.load is None:
        raise LikewiseError(f"{trunk} cannot be trained: name a torch encoder, such as small or efficientnet-lite0.")
    return encoder


def uses_vectors(kind: str) -> bool:
    """Whether a first layer takes stored vectors, not pictures."""
    return kind in (VECTORS, WORDS)


def make_trunk(kind: str, n_inputs: int, n_caption_words: int = 0) -> FeatureTrunk:
    """`vectors` of a length, the `words` said of them, or the torch encoder of that name."""
    if uses_vectors(kind):
        return AgreementTrunk(n_inputs, n_caption_words if kind == WORDS else 0)
    return EncoderTrunk(trainable_encoder(kind).model)
