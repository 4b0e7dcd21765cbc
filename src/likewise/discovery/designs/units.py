"""What a design counts candidates by: items, of which the best image stands for all, or single images."""

from dataclasses import dataclass

import numpy as np

from likewise.discovery.designs.drawing import Ints
from likewise.discovery.pool import QueryGallery


@dataclass(frozen=True)
class CatalogUnits:
    """The units of a gallery: which one each image belongs to, and the item that each unit and each query shows.

    A pair of a query and a unit is admissible if they show different items. Where units are items, an item scores as
    the best of its images does, and the label of one image is taken as the item's.
    """

    unit_of_image: Ints
    unit_items: Ints
    query_items: Ints

    @property
    def n_units(self) -> int:
        return len(self.unit_items)

    @property
    def n_queries(self) -> int:
        return len(self.query_items)

    @property
    def n_admissible(self) -> Ints:
        """Of each query, how many units it can be paired with."""
        own = np.bincount(self.unit_items, minlength=int(self.query_items.max()) + 1)[self.query_items]
        return np.asarray(self.n_units - own, dtype=np.int64)

    @property
    def n_pairs(self) -> int:
        return int(self.n_admissible.sum())


def catalog_units(query_gallery: QueryGallery, one_per_item: bool) -> CatalogUnits:
    """Items as units, or every image as its own."""
    gallery_items = query_gallery.gallery_items
    if not one_per_item:
        return CatalogUnits(np.arange(len(gallery_items)), gallery_items, query_gallery.query_items)
    items, unit = np.unique(gallery_items, return_inverse=True)
    return CatalogUnits(unit.astype(np.int64), items, query_gallery.query_items)
