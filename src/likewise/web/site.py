"""What all pages of a running site share."""

from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from sqlalchemy import Engine

from likewise.catalog import read_catalog
from likewise.labeling.pool import add_pool_pairs
from likewise.labeling.rounds import deal_next_round
from likewise.labeling.store import open_votes
from likewise.labeling.store.assignment import assign_all_pairs
from likewise.labeling.store.batches import BatchWorker
from likewise.labeling.store.experts import Visitor, read_visitors
from likewise.labeling.store.location import remember_database
from likewise.labeling.store.vote_writer import VoteWriter
from likewise.web.monitoring import RequestCounts
from likewise.web.security import RateLimiter
from likewise.web.settings import SiteSettings
from likewise.web.thumbnails import Thumbnails


@dataclass(frozen=True)
class Site:
    settings: SiteSettings
    engine: Engine
    vote_writer: VoteWriter
    visitors: BatchWorker[str, Visitor | None]  # by the token of their session
    thumbnails: Thumbnails
    login_limiter: RateLimiter  # wrong passwords
    guest_limiter: RateLimiter  # guests of a public questionnaire, by address
    requests: RequestCounts = field(default_factory=RequestCounts)
    dealing: Lock = field(default_factory=Lock)

    def deal_next_round(self) -> bool:
        """Deal the next round of an adaptive design, where the last one is answered; one request at a time draws."""
        with self.dealing:
            return deal_next_round(self.engine, self.settings.workspace)


def open_site(settings: SiteSettings) -> Site:
    """Open the database, add the pool's pairs, and assign what is not assigned yet."""
    workspace = settings.workspace
    catalog = read_catalog(workspace)
    engine = open_votes(settings.database or workspace, serving=True)
    if settings.database is not None:
        remember_database(workspace, settings.database)
    add_pool_pairs(engine, workspace)
    assign_all_pairs(engine)
    thumbnails = Thumbnails(workspace, frozenset(catalog["image"]))
    login_limiter = RateLimiter(settings.login_attempts, settings.login_wait_seconds)
    guest_limiter = RateLimiter(settings.guests_per_hour, 3600.0)
    visitors = BatchWorker("visitors", partial(read_visitors, engine))
    return Site(settings, engine, VoteWriter(engine), visitors, thumbnails, login_limiter, guest_limiter)
