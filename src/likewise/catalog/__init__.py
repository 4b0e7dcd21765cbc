"""What we look at: the catalog (one row per image), the pictures themselves, and ways to make a catalog."""

from likewise.catalog.images import load_image, write_picture
from likewise.catalog.make import NewCatalog, make_catalog
from likewise.catalog.table import catalog_fingerprint, items_fingerprint, items_of, read_catalog, select_catalog_rows

__all__ = [
    "NewCatalog",
    "catalog_fingerprint",
    "items_fingerprint",
    "items_of",
    "load_image",
    "make_catalog",
    "read_catalog",
    "select_catalog_rows",
    "write_picture",
]
