"""A pool by hours: it fits, and no more would."""

import pytest

from likewise.discovery.hours import settings_within
from likewise.discovery.step import PoolSettings, make_pool
from likewise.encoders import encode_catalog
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


def pairs_within(workspace: WorkspaceFolder, hours: float, n_queries: int) -> tuple[int, PoolSettings]:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    asked = PoolSettings(("colour", "shape"), k=3, n_queries=n_queries)
    settings = settings_within(workspace, asked, hours, seconds_per_pair=15.0)
    return make_pool(workspace, settings).rows.select("query", "candidate").n_unique(), settings


def test_a_pool_fits_into_the_hours_of_an_expert_and_fills_them(workspace: WorkspaceFolder) -> None:
    n_pairs, settings = pairs_within(workspace, 0.2, 20)
    assert 0.75 * 48 <= n_pairs <= 48
    assert settings.n_queries < 20 and settings.n_random == 9


def test_many_hours_leave_the_settings_as_they_are(workspace: WorkspaceFolder) -> None:
    n_pairs, settings = pairs_within(workspace, 20.0, 20)
    assert n_pairs <= 4800
    assert (settings.n_queries, settings.n_random) == (20, 500)


def test_too_few_hours_are_refused(workspace: WorkspaceFolder) -> None:
    with pytest.raises(LikewiseError, match="too few for a benchmark"):
        settings_within(workspace, PoolSettings(("colour",)), 0.05, 15.0)
