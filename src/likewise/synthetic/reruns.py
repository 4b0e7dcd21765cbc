"""Reruns of losses with known variance components, to see how often a test is right."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def draw_reruns(
    rng: np.random.Generator,
    n_reruns: int,
    n_classes: int,
    sd_reruns: Sequence[float],
    sd_interaction: float,
    sd_noise: float = 0.3,
) -> list[NDArray[np.float64]]:
    """Class means (reruns x classes) of methods with the same true mean, one for each standard deviation of reruns.

    Classes differ by 1, a method's lead differs over classes by `sd_interaction`, and what is left by `sd_noise`.
    """
    classes = rng.standard_normal(n_classes)
    return [
        classes
        + sd_interaction * rng.standard_normal(n_classes)
        + sd * rng.standard_normal((n_reruns, 1))
        + sd_noise * rng.standard_normal((n_reruns, n_classes))
        for sd in sd_reruns
    ]
