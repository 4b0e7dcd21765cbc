"""What all pages of a running site share."""

from dataclasses import dataclass

from sqlalchemy import Engine

from likewise.catalog import read_catalog
from likewise.labeling.pool import take_pool
from likewise.labeling.store.deal import deal_all
from likewise.labeling.store.engine import open_votes
from likewise.labeling.store.scribe import Scribe
from likewise.web.security import Patience
from likewise.web.settings import SiteSettings
from likewise.web.thumbnails import Thumbnails


@dataclass(frozen=True)
class Site:
    settings: SiteSettings
    engine: Engine
    scribe: Scribe
    thumbnails: Thumbnails
    patience: Patience  # with wrong passwords
    newcomers: Patience  # guests of a public questionnaire, by address


def open_site(settings: SiteSettings) -> Site:
    """Open the database, put the pool's pairs into it, and deal what is not dealt yet."""
    workspace = settings.workspace
    catalog = read_catalog(workspace)
    engine = open_votes(settings.database or workspace, serving=True)
    take_pool(engine, workspace)
    deal_all(engine)
    thumbnails = Thumbnails(workspace, frozenset(catalog["image"]))
    patience = Patience(settings.login_attempts, settings.login_wait_seconds)
    return Site(settings, engine, Scribe(engine), thumbnails, patience, Patience(settings.guests_per_hour, 3600.0))
