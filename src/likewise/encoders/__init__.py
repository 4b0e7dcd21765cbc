"""Image to vector: one small protocol, one module per family of encoders, and the vectors on disk."""

from likewise.encoders.listing import EncoderInfo, list_encoders
from likewise.encoders.model_cards import BUILT_IN, DEFAULT_ENCODERS
from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.storage.files import EncodingResult
from likewise.encoders.storage.importing import import_vectors
from likewise.encoders.storage.reading import common_images, encoded_images, left_out_images, read_vectors
from likewise.encoders.text import encode_text

__all__ = [
    "BUILT_IN",
    "DEFAULT_ENCODERS",
    "Encoder",
    "EncoderInfo",
    "EncodingResult",
    "common_images",
    "encode_catalog",
    "encode_text",
    "encoded_images",
    "get_encoder",
    "import_vectors",
    "left_out_images",
    "list_encoders",
    "read_vectors",
]
