"""What all pages of a running site share."""

from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from sqlalchemy import Engine

from likewise.errors import LikewiseError
from likewise.labeling.pool import follow_workspace
from likewise.labeling.rounds import deal_next_round
from likewise.labeling.store import open_votes
from likewise.labeling.store.batches import BatchWorker
from likewise.labeling.store.engine import StoreError, write_transaction
from likewise.labeling.store.experts import Visitor, read_visitors
from likewise.labeling.store.location import remember_database
from likewise.labeling.store.project import add_log_entry
from likewise.labeling.store.vote_writer import VoteWriter
from likewise.web.monitoring import RequestCounts
from likewise.web.security import RateLimiter
from likewise.web.settings import SiteSettings
from likewise.web.thumbnails import Thumbnails
from likewise.web.watch import WorkspaceWatch


@dataclass(frozen=True)
class Site:
    settings: SiteSettings
    engine: Engine
    vote_writer: VoteWriter
    visitors: BatchWorker[str, Visitor | None]  # by the token of their session
    thumbnails: Thumbnails
    watch: WorkspaceWatch
    login_limiter: RateLimiter  # wrong passwords
    guest_limiter: RateLimiter  # guests of a public questionnaire, by address
    requests: RequestCounts = field(default_factory=RequestCounts)
    dealing: Lock = field(default_factory=Lock)

    def deal_next_round(self) -> bool:
        """Deal the next round of an adaptive design, where the last one is answered; one request at a time draws."""
        with self.dealing:
            return deal_next_round(self.engine, self.settings.workspace)

    def follow_workspace(self) -> None:
        """Ask what the workspace says now, where somebody replaced its catalog or its pool since the last request."""
        if not self.watch.has_changed():
            return
        with self.dealing:
            if not self.watch.has_changed():
                return
            self.watch.seen = self.watch.now()
            try:
                follow_workspace(self.engine, self.settings.workspace)
                self.thumbnails.read_catalog()
            except StoreError:
                raise
            except LikewiseError as error:  # such as a catalog that is not there any more: the owner reads why
                with write_transaction(self.engine) as connection:
                    add_log_entry(connection, f"The workspace was changed, and the site cannot follow: {error}")


def open_site(settings: SiteSettings) -> Site:
    """Open the database, add the pool's pairs, and assign what is not assigned yet."""
    workspace = settings.workspace
    engine = open_votes(settings.database or workspace, serving=True)
    if settings.database is not None:
        remember_database(workspace, settings.database)
    watch = WorkspaceWatch(workspace)
    thumbnails = Thumbnails(workspace)
    follow_workspace(engine, workspace)
    login_limiter = RateLimiter(settings.login_attempts, settings.login_wait_seconds)
    guest_limiter = RateLimiter(settings.guests_per_hour, 3600.0)
    visitors = BatchWorker("visitors", partial(read_visitors, engine))
    return Site(settings, engine, VoteWriter(engine), visitors, thumbnails, watch, login_limiter, guest_limiter)
