"""The twelve methods learn; further losses are found by name; what cannot be meant is answered."""

from pathlib import Path

import numpy as np
import pytest

from likewise.errors import LikewiseError
from likewise.training.centers import sparse_centers
from likewise.training.custom_methods import find_method, find_methods
from likewise.training.methods import PAPER_METHODS, PUBLISHED_BEST_VALUES, LossMethod
from likewise.training.plan import make_plan
from likewise.training.trainer import train_fold

from .check_toy import toy_fold_data

PLAN = make_plan("quick", steps=120, evaluate_every=20, patience=1000, lr=1e-3, dim=16)
SOP = 2  # many classes with few images, like the toy


def published(method: LossMethod) -> dict[str, float]:
    values = {name: best[SOP] for name, best in PUBLISHED_BEST_VALUES[method.name].items()}
    return {name: 0.1 if np.isnan(value) else value for name, value in values.items()}


@pytest.mark.parametrize("method", PAPER_METHODS, ids=lambda method: method.name)
def test_every_method_lowers_its_loss_and_beats_the_untrained_head(method: LossMethod) -> None:
    params = published(method)
    assert set(params) == set(method.ranges)
    trained = train_fold(toy_fold_data(), method, params, PLAN, seed=1)
    untrained, first, last = trained.curve[0], trained.curve[1], trained.curve[-1]
    assert first.loss is not None and last.loss is not None
    assert last.loss < first.loss
    assert trained.map_at_r > untrained.map_at_r + 0.1


def test_centres_of_soft_triple_are_regularised_as_by_the_library() -> None:
    torch = pytest.importorskip("torch")
    from pytorch_metric_learning.regularizers import SparseCentersRegularizer

    generator = torch.Generator().manual_seed(0)
    values, gradients = [], []
    for regulariser in (SparseCentersRegularizer(7, 4), sparse_centers(7, 4)):
        weights = torch.randn(28, 5, generator=generator.manual_seed(0))
        value = regulariser(weights.requires_grad_())
        value.backward()
        values.append(value.item())
        gradients.append(weights.grad.numpy())
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-3, atol=1e-6)
    assert np.abs(gradients[1]).max() > 1e-3


def test_published_values_lie_in_the_ranges() -> None:
    for method in PAPER_METHODS:
        for name, values in PUBLISHED_BEST_VALUES[method.name].items():
            low, high = method.ranges[name].low, method.ranges[name].high
            assert all(low <= value <= high for value in values if value == value), (method.name, name)


def test_a_loss_of_the_library_by_name_and_range() -> None:
    method = find_method("CircleLoss?m=0..1&gamma=1..256:log")
    assert method.kind == "embedding" and method.ranges["gamma"].log
    trained = train_fold(toy_fold_data(), method, {"m": 0.4, "gamma": 80.0}, PLAN, seed=1)
    assert trained.map_at_r > trained.curve[0].map_at_r
    proxies = find_method("ProxyAnchorLoss?margin=0.1")
    assert proxies.kind == "classification" and list(proxies.ranges) == ["loss_lr"]


def test_variants_of_one_loss_have_titles_of_their_own() -> None:
    texts = ["CircleLoss?m=0.2", "CircleLoss?m=0.4", "ProxyAnchorLoss", "triplet"]
    titles = [method.title for method in find_methods(texts)]
    assert titles == ["CircleLoss?m=0.2", "CircleLoss?m=0.4", "ProxyAnchorLoss", "Triplet"]


def test_a_users_own_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_losses.py").write_text(
        "import torch\n"
        "def push(strength=1.0):\n"
        "    def loss(embeddings, labels):\n"
        "        same = labels[:, None] == labels[None, :]\n"
        "        return strength * ((embeddings @ embeddings.T - same.float()) ** 2).mean()\n"
        "    return loss\n"
    )
    monkeypatch.chdir(tmp_path)
    method = find_method("my_losses:push?strength=0.1..10:log")
    trained = train_fold(toy_fold_data(), method, {"strength": 1.0}, PLAN, seed=1)
    assert trained.map_at_r > trained.curve[0].map_at_r


def test_names_that_nobody_knows() -> None:
    with pytest.raises(LikewiseError, match="contrastive has the paper's ranges and takes no arguments"):
        find_methods(["contrastive?neg_margin=0.5"])
    with pytest.raises(LikewiseError, match="did you mean 'contrastive'"):
        find_method("contrastiv")
    with pytest.raises(LikewiseError, match="margn"):
        find_methods(["NCALoss?margn=0..1"])
    with pytest.raises(LikewiseError, match="no module 'nowhere'"):
        find_method("nowhere:loss")
    with pytest.raises(LikewiseError, match="no value or range"):
        find_method("CircleLoss?m=often")
    assert len(find_methods(["all", "triplet"])) == 12
