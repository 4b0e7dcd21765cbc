"""Settings of a pool that an expert labels in so many hours: how many queries, and how many random pairs."""

from dataclasses import replace

from likewise.discovery.engines import SearchEngine
from likewise.discovery.step import LABELS_PER_QUERY, PoolSettings, make_pool
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

DEFAULT_HOURS = 1.0  # where nothing says how many pairs
N_QUERIES = 100  # at most, unless more are asked for
SHARE_OF_RANDOM_PAIRS = 5  # at most one pair in so many is drawn at random
PILOT_QUERIES = 20  # enough to see how many pairs a query brings


def queries_an_hour(pairs_per_query: float, seconds_per_pair: float) -> int:
    """How many queries an hour is enough for, with its share of random pairs."""
    n_pairs = int(3600 / seconds_per_pair)
    return int((n_pairs - n_pairs // SHARE_OF_RANDOM_PAIRS) / pairs_per_query)


def settings_within(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    hours: float,
    seconds_per_pair: float,
    on_progress: ProgressCallback | None = None,
    engine: SearchEngine | None = None,
) -> PoolSettings:
    """As many queries as one expert can label in these hours, at most those that the settings ask for."""
    n_pairs = int(hours * 3600 / seconds_per_pair) if hours > 0 and seconds_per_pair > 0 else 0
    if n_pairs < LABELS_PER_QUERY:
        unit_of_time = "hour" if hours == 1 else "hours"
        raise LikewiseError(
            f"{hours:g} {unit_of_time} at {seconds_per_pair:g} s a pair are {n_pairs} pairs, too few for a benchmark: "
            f"give at least {LABELS_PER_QUERY * seconds_per_pair / 3600:.2g} hours (--hours)."
        )
    if settings.design != "eds":
        n_queries = min(settings.n_queries, n_pairs // LABELS_PER_QUERY)
        return replace(settings, n_queries=n_queries, n_labels=n_pairs)
    settings = replace(settings, n_random=min(settings.n_random, n_pairs // SHARE_OF_RANDOM_PAIRS))

    def pairs_and_queries(n_queries: int) -> tuple[int, int]:
        pool = make_pool(workspace, replace(settings, n_queries=n_queries), on_progress, engine)
        return pool.rows.select("query", "candidate").n_unique(), len(pool.query_gallery.queries)

    n_found, n_asked = pairs_and_queries(min(settings.n_queries, PILOT_QUERIES))
    per_query = max(n_found - settings.n_random, 1) / n_asked
    n_queries = max(1, min(settings.n_queries, int((n_pairs - settings.n_random) / per_query)))
    while n_queries > 1 and (n_over := pairs_and_queries(n_queries)[0] - n_pairs) > 0:
        n_queries = max(1, n_queries - max(1, int(n_over / per_query)))
    return replace(settings, n_queries=n_queries)
