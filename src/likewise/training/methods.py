"""The Reality Check's twelve methods (its Table 6) with the ranges that were searched, by pytorch-metric-learning.

A method says what to search and how to make its loss, and miner, from one point of that range.  Embedding losses
see 8 classes x 4 images a batch, classification losses 32 x 1; losses with weights of their own have a learning rate
of their own, `loss_lr`, which is searched too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import nn

LossKind = Literal["embedding", "classification"]
Params = Mapping[str, float]

MANY_CLASSES = 200  # beyond this SoftTriple is as published for SOP: two centres a class, without their regulariser


@dataclass(frozen=True)
class SearchRange:
    """Where one hyper-parameter may lie."""

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __str__(self) -> str:
        return f"{'log ' if self.log else ''}[{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class LossAndMiner:
    """A loss of (embeddings, labels) or, with a miner, of (embeddings, labels, mined indices)."""

    loss: "nn.Module"
    miner: "Callable[..., Any] | None" = None


LossFactory = Callable[[Params, int, int], LossAndMiner]


@dataclass(frozen=True)
class LossMethod:
    """One way to learn an embedding; `make_loss` gets a point of `ranges`, the number of classes and the dimension."""

    name: str
    title: str
    kind: LossKind
    ranges: Mapping[str, SearchRange]
    make_loss: LossFactory
    year: int | None = None

    @property
    def images_per_class(self) -> int:
        """Of a batch."""
        return 4 if self.kind == "embedding" else 1


LOSS_LR = "loss_lr"
LOSS_LR_RANGE = {LOSS_LR: SearchRange(1e-6, 1.0, log=True)}
MARGIN_RANGE = SearchRange(-0.2, 2.0)
UNIT_RANGE = SearchRange(0.0, 1.0)
MULTI_SIMILARITY_RANGES = {
    "alpha": SearchRange(0.01, 100.0, log=True),
    "beta": SearchRange(0.01, 200.0, log=True),
    "base": UNIT_RANGE,
}
"""Beta to 200, the paper's range for SOP, where MS+Miner's best is 156.6; elsewhere it stopped at 100."""


def without_loss_lr(params: Params) -> dict[str, float]:
    return {name: value for name, value in params.items() if name != LOSS_LR}


def embedding_loss(name: str) -> LossFactory:
    """A loss of the library whose arguments are the searched ones."""

    def make_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
        from pytorch_metric_learning import losses

        return LossAndMiner(getattr(losses, name)(**without_loss_lr(params)))

    return make_loss


def classification_loss(name: str) -> LossFactory:
    """The same for losses that hold weights per class."""

    def make_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
        from pytorch_metric_learning import losses

        return LossAndMiner(getattr(losses, name)(num_classes=n_classes, embedding_size=dim, **without_loss_lr(params)))

    return make_loss


def margin_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
    """Beta starts at the searched value and is learned."""
    from pytorch_metric_learning import losses

    return LossAndMiner(losses.MarginLoss(margin=params["margin"], beta=params["beta"], learn_beta=True))


def signal_to_noise_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
    from pytorch_metric_learning import losses, regularizers

    return LossAndMiner(
        losses.SignalToNoiseRatioContrastiveLoss(
            pos_margin=params["pos_margin"],
            neg_margin=params["neg_margin"],
            embedding_regularizer=regularizers.ZeroMeanRegularizer(),
            embedding_reg_weight=params["reg"],
        )
    )


def multi_similarity_with_miner(params: Params, n_classes: int, dim: int) -> LossAndMiner:
    from pytorch_metric_learning import losses, miners

    loss = losses.MultiSimilarityLoss(alpha=params["alpha"], beta=params["beta"], base=params["base"])
    return LossAndMiner(loss, miners.MultiSimilarityMiner(epsilon=params["epsilon"]))


def soft_triple_loss(params: Params, n_classes: int, dim: int) -> LossAndMiner:
    """Ten centres a class and their regulariser; with many classes two centres and none, as published for SOP."""
    from pytorch_metric_learning import losses

    from likewise.training.centers import sparse_centers

    centers = 10 if n_classes <= MANY_CLASSES else 2
    values = without_loss_lr(params)
    reg = values.pop("reg")
    extra: dict[str, Any] = {}
    if n_classes <= MANY_CLASSES:
        extra = {"weight_regularizer": sparse_centers(n_classes, centers), "weight_reg_weight": reg}
    loss = losses.SoftTripleLoss(
        num_classes=n_classes, embedding_size=dim, centers_per_class=centers, **values, **extra
    )
    return LossAndMiner(loss)


SEARCH_RANGES: Mapping[str, Mapping[str, SearchRange]] = {
    "contrastive": {"pos_margin": MARGIN_RANGE, "neg_margin": MARGIN_RANGE},
    "triplet": {"margin": MARGIN_RANGE},
    "proxy-nca": LOSS_LR_RANGE | {"softmax_scale": SearchRange(0.01, 100.0)},
    "margin": LOSS_LR_RANGE | {"margin": MARGIN_RANGE, "beta": MARGIN_RANGE},
    "normalized-softmax": LOSS_LR_RANGE | {"temperature": SearchRange(0.01, 100.0, log=True)},
    "cosface": LOSS_LR_RANGE | {"margin": UNIT_RANGE, "scale": SearchRange(0.01, 200.0)},
    "arcface": LOSS_LR_RANGE | {"margin": SearchRange(0.0, 90.0), "scale": SearchRange(0.01, 300.0)},
    "fastap": {"num_bins": SearchRange(2, 32, integer=True)},
    "snr": {"pos_margin": SearchRange(0.0, 2.0), "neg_margin": SearchRange(0.0, 2.0), "reg": UNIT_RANGE},
    "ms": MULTI_SIMILARITY_RANGES,
    "ms-miner": MULTI_SIMILARITY_RANGES | {"epsilon": UNIT_RANGE},
    "soft-triple": LOSS_LR_RANGE
    | {"la": SearchRange(0.01, 200.0), "gamma": SearchRange(0.01, 100.0), "reg": UNIT_RANGE, "margin": UNIT_RANGE},
}


def _paper_method(name: str, title: str, kind: LossKind, make_loss: LossFactory, year: int) -> LossMethod:
    return LossMethod(name, title, kind, SEARCH_RANGES[name], make_loss, year)


PAPER_METHODS = (
    _paper_method("contrastive", "Contrastive", "embedding", embedding_loss("ContrastiveLoss"), 2006),
    _paper_method("triplet", "Triplet", "embedding", embedding_loss("TripletMarginLoss"), 2006),
    _paper_method("proxy-nca", "ProxyNCA", "classification", classification_loss("ProxyNCALoss"), 2017),
    _paper_method("margin", "Margin", "embedding", margin_loss, 2017),
    _paper_method(
        "normalized-softmax", "N. Softmax", "classification", classification_loss("NormalizedSoftmaxLoss"), 2017
    ),
    _paper_method("cosface", "CosFace", "classification", classification_loss("CosFaceLoss"), 2018),
    _paper_method("arcface", "ArcFace", "classification", classification_loss("ArcFaceLoss"), 2019),
    _paper_method("fastap", "FastAP", "embedding", embedding_loss("FastAPLoss"), 2019),
    _paper_method("snr", "SNR", "embedding", signal_to_noise_loss, 2019),
    _paper_method("ms", "MS", "embedding", embedding_loss("MultiSimilarityLoss"), 2019),
    _paper_method("ms-miner", "MS+Miner", "embedding", multi_similarity_with_miner, 2019),
    _paper_method("soft-triple", "SoftTriple", "classification", soft_triple_loss, 2019),
)
METHODS_BY_NAME = {method.name: method for method in PAPER_METHODS}

PUBLISHED_BEST_VALUES: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "contrastive": {"pos_margin": (-0.2, 0.265, 0.285), "neg_margin": (0.384, 0.541, 0.513)},
    "triplet": {"margin": (0.096, 0.119, 0.045)},
    "proxy-nca": {LOSS_LR: (6.04e-3, 4.43e-3, 5.28e-4), "softmax_scale": (13.98, 7.97, 10.73)},
    "margin": {LOSS_LR: (1.31e-3, 1.11e-4, 1.82e-3), "margin": (0.088, 0.078, 0.092), "beta": (0.784, 1.316, 1.107)},
    "normalized-softmax": {LOSS_LR: (4.46e-3, 1.10e-2, 5.46e-4), "temperature": (0.109, 0.089, 0.063)},
    "cosface": {LOSS_LR: (2.53e-3, 7.41e-3, 2.16e-3), "margin": (0.618, 0.432, 0.336), "scale": (100, 161.5, 100)},
    "arcface": {LOSS_LR: (5.13e-3, 7.39e-6, 2.01e-3), "margin": (23.2, 20.5, 18.6), "scale": (100, 49.5, 220)},
    "fastap": {"num_bins": (17, 27, 16)},
    "snr": {"pos_margin": (0.326, 0.167, 0.376), "neg_margin": (0.845, 0.934, 1.083), "reg": (0.138, 0, 0)},
    "ms": {"alpha": (0.01, 14.35, 8.49), "beta": (50.6, 75.8, 57.4), "base": (0.56, 0.66, 0.41)},
    "ms-miner": {
        "alpha": (17.97, 7.49, 15.9),
        "beta": (75.7, 48, 156.6),
        "base": (0.77, 0.63, 0.72),
        "epsilon": (0.39, 0.72, 0.34),
    },
    "soft-triple": {
        LOSS_LR: (5.37e-5, 1.4e-4, 8.68e-5),
        "la": (78, 17.7, 100),
        "gamma": (58.95, 19.2, 47.9),
        "reg": (0.375, 0.067, float("nan")),
        "margin": (0.431, 0.359, 0.315),
    },
}
"""The paper's best values on CUB200, Cars196 and SOP, to stand beside those found here."""
