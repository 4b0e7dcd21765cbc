"""What training changed: paired differences to the network before it."""

import numpy as np
import pytest

from likewise.evaluation.measures import ROC_AUC, Recall_cap
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.training_gains import DISCOVERY, IDENTIFICATION, TrainedFromBase, trained_table


def test_gains_are_paired_and_a_network_that_stayed_the_same_gained_nothing() -> None:
    rng = np.random.default_rng(0)
    before = rng.uniform(0.2, 0.9, 60)
    better = np.clip(before + 0.05 + 0.02 * rng.normal(size=60), 0.0, 1.0)
    better[3] = before[3] = np.nan
    sums = {
        name: QuerySums.mean_of(values) for name, values in (("base", before), ("same", before), ("better", better))
    }
    came_from = [TrainedFromBase("same", "base", "dino"), TrainedFromBase("better", "base", "id")]
    questions = {DISCOVERY: (ROC_AUC, sums), IDENTIFICATION: (Recall_cap @ 5, sums)}
    table = trained_table(came_from, questions)
    same, gained, *_ = table.to_dicts()
    assert (same["gain"], same["p_holm"]) == (0.0, 1.0)
    assert same["low"] == -same["high"] == pytest.approx(0.025 ** (1 / 59) - 1)  # queries that 59 cannot exclude
    assert gained["gain"] == pytest.approx(np.nanmean(better) - np.nanmean(before))
    spread = gained["high"] - gained["low"]
    assert gained["low"] < gained["gain"] < gained["high"] and spread < 0.02  # unpaired it would be about 0.1
    assert gained["p_holm"] < 0.01 and gained["n_queries"] == 59
    assert table["question"].to_list() == [DISCOVERY, DISCOVERY, IDENTIFICATION, IDENTIFICATION]
    assert trained_table([], questions).is_empty()
