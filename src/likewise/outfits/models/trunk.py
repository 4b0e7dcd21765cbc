"""The first layer: stored vectors brought to one scale, or read as words, or a torch encoder that is trained along."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError

VECTORS = "vectors"
WORDS = "words"
N_COMPONENTS = 256
POWER_ITERATIONS = 3  # of the power iteration that finds the directions
RIDGE_PENALTY = 1e-4  # of the regression on words, as a share of the total variance of the inputs
MIN_STD = 0.1  # the spread of a direction, in units of a component's, below which it is noise


class FeatureTrunk(nn.Module):
    """Inputs of items (m, ...) to features (m, n_features)."""

    n_features: int

    def fit(self, inputs: Tensor, word_targets: Tensor) -> None:
        """Called once before training with the inputs of training items, and which words their captions say."""


class WhiteningTrunk(FeatureTrunk):
    """Vectors with mean 0 and spread 1 per component, as measured on the training items; long ones are then turned to
    their principal directions, the first N_COMPONENTS of them, each with spread 1 again.

    A cue that few components show (a ribbon, a row of buttons) counts as much as a colour that hundreds repeat.
    """

    mean: Tensor
    spread: Tensor
    turn: Tensor

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.n_features = min(n_inputs, N_COMPONENTS)
        self.register_buffer("mean", torch.zeros(n_inputs))
        self.register_buffer("spread", torch.ones(n_inputs))
        self.register_buffer("turn", torch.zeros(n_inputs, self.n_features))

    def fit(self, inputs: Tensor, word_targets: Tensor) -> None:
        self.mean.copy_(inputs.mean(dim=0))
        self.spread.copy_(component_std(inputs))
        if self.n_features < inputs.shape[1]:
            scaled = (inputs - self.mean) / self.spread
            n_found = min(self.n_features, len(inputs))
            _, size, directions = torch.svd_lowrank(scaled, q=n_found, niter=POWER_ITERATIONS)
            own = size / len(inputs) ** 0.5
            self.turn[:, :n_found] = directions / own.clamp(min=MIN_STD)

    def forward(self, inputs: Tensor) -> Tensor:
        scaled = (inputs - self.mean) / self.spread
        return scaled @ self.turn if self.n_features < inputs.shape[1] else scaled


class CaptionWordTrunk(FeatureTrunk):
    """What would be said of an item: the words of captions, guessed from its vector by ridge regression on the training
    items, each guess with spread 1, the guesses of an item brought to one length.

    A vector has thousands of components, most of them about what nobody dresses by; captions name what people see. For
    an unusual item all guesses are faint, or all strong: the length says how unusual it is, not what it is.
    """

    mean: Tensor
    spread: Tensor
    guess: Tensor

    def __init__(self, n_inputs: int, n_caption_words: int) -> None:
        super().__init__()
        self.n_features = n_caption_words
        self.register_buffer("mean", torch.zeros(n_inputs))
        self.register_buffer("spread", torch.ones(n_inputs))
        self.register_buffer("guess", torch.zeros(n_inputs, n_caption_words))

    def fit(self, inputs: Tensor, word_targets: Tensor) -> None:
        self.mean.copy_(inputs.mean(dim=0))
        self.spread.copy_(component_std(inputs))
        scaled = (inputs - self.mean) / self.spread
        wanted = (word_targets - word_targets.mean(dim=0)) / word_targets.std(dim=0, correction=0).clamp(min=1e-6)
        products = scaled.T @ scaled / len(scaled)
        stiff = products + RIDGE_PENALTY * products.trace() * torch.eye(len(products))
        found = torch.linalg.solve(stiff, scaled.T @ wanted / len(scaled))
        self.guess.copy_(found / (scaled @ found).std(dim=0, correction=0).clamp(min=1e-6))

    def forward(self, inputs: Tensor) -> Tensor:
        guessed: Tensor = (inputs - self.mean) / self.spread @ self.guess
        return functional.normalize(guessed, dim=1) * math.sqrt(self.n_features)


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
    if kind == WORDS:
        return CaptionWordTrunk(n_inputs, n_caption_words)
    return WhiteningTrunk(n_inputs) if kind == VECTORS else EncoderTrunk(trainable_encoder(kind).model)
