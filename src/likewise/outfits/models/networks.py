"""The trained networks by name; importing this module imports torch."""

from collections.abc import Callable
from functools import partial

from likewise.outfits.models.bi_lstm import BiLstm
from likewise.outfits.models.fhn import FashionHash
from likewise.outfits.models.net import OutfitNet
from likewise.outfits.models.ngnn import NodeGraph
from likewise.outfits.models.sce_net import SceNet
from likewise.outfits.models.set_transformer import SetTransformer
from likewise.outfits.models.type_aware import TypeAware

NETWORKS: dict[str, Callable[..., OutfitNet]] = {
    "bi-lstm": BiLstm,
    "type-aware": TypeAware,
    "sce-net": SceNet,
    "fhn": FashionHash,
    "ngnn": NodeGraph,
    "ngnn-agreement": partial(NodeGraph, agreement=True),
    "set-transformer": SetTransformer,
}
