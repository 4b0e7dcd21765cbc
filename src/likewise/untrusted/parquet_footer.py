"""What a Parquet file becomes, counted before anything is unpacked.

A run of equal values takes some bytes however long it is, and a list of them is one row: neither the size of a file nor
its number of rows says what it becomes. The footer names the columns and the head of every page says how many values
and bytes it holds; both are structs in Thrift's compact protocol (the Parquet format's `parquet.thrift`). A footer that
says less than its pages is not believed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import Any

MAGIC = b"PAR1"
ROW_GROUPS, COLUMNS, METADATA = 4, 1, 3  # fields of FileMetaData, RowGroup, ColumnChunk
CHUNK_VALUES, CHUNK_BYTES, DATA_OFFSET, DICTIONARY_OFFSET = 5, 7, 9, 11  # of ColumnMetaData
UNPACKED_BYTES, PAGE_BYTES, PAGE_HEADERS = 2, 3, (5, 7, 8)  # of PageHeader
PAGE_VALUES = 1  # of each of its headers: of data, of a dictionary, and the second version's of data
STOP, TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, MAP, STRUCT = 0, 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
MAX_DEPTH = 32


@dataclass(frozen=True)
class UnpackedSize:
    """How many values all columns have together, and the bytes of their pages."""

    n_values: int
    n_bytes: int


def unpacked_size(content: bytes | mmap) -> UnpackedSize:
    """Raises a ValueError where this is no Parquet file."""
    length = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != MAGIC or length > len(content) - 8:
        raise ValueError("no complete Parquet file")
    n_values = n_bytes = 0
    try:
        groups = _Reader(content, len(content) - 8 - length).struct().get(ROW_GROUPS, [])
        for chunk in [column[METADATA] for group in groups for column in group[COLUMNS]]:
            pages = list(_pages(content, chunk))
            n_values += max(int(chunk[CHUNK_VALUES]), sum(size.n_values for size in pages))
            n_bytes += sum(size.n_bytes for size in pages)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("the footer cannot be read") from error
    return UnpackedSize(n_values, n_bytes)


def _pages(content: bytes | mmap, chunk: dict[int, Any]) -> Iterator[UnpackedSize]:
    """Every page of one column's chunk, its dictionary too."""
    at = min(chunk[DATA_OFFSET], chunk.get(DICTIONARY_OFFSET) or chunk[DATA_OFFSET])
    end = at + chunk[CHUNK_BYTES]
    while 0 <= at < end:
        reader = _Reader(content, at)
        page = reader.struct()
        yield UnpackedSize(
            sum(abs(page[name][PAGE_VALUES]) for name in PAGE_HEADERS if name in page), abs(page[UNPACKED_BYTES])
        )
        at = reader.at + max(0, page[PAGE_BYTES])


class _Reader:
    """Values of the compact protocol, from one place of a file on."""

    def __init__(self, content: bytes | mmap, at: int) -> None:
        self.content, self.at, self.depth = content, at, 0

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number of the footer is too long")

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def skip(self, n_bytes: int) -> None:
        self.at += n_bytes
        if self.at > len(self.content):
            raise ValueError("the footer is not complete")

    def struct(self) -> dict[int, Any]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError("the footer is nested too deeply")
        fields, number = dict[int, Any](), 0
        while (head := self.byte()) != STOP:
            number = number + (head >> 4) if head >> 4 else self.integer()
            kind = head & 0x0F
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind)
        self.depth -= 1
        return fields

    def value(self, kind: int) -> Any:
        """What is not a number, a list or a struct is passed over."""
        if kind in INTEGERS:
            return self.integer()
        if kind == STRUCT:
            return self.struct()
        if kind in LISTS:
            head = self.byte()
            size = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 0x0F) for _ in range(size)]
        if kind == MAP:
            kinds = self.byte() if (size := self.varint()) else 0
            for _ in range(size):
                self.value(kinds >> 4)
                self.value(kinds & 0x0F)
        elif kind == BINARY:
            self.skip(self.varint())
        elif kind in (TRUE, FALSE, BYTE, DOUBLE):
            self.skip(8 if kind == DOUBLE else 1)
        else:
            raise ValueError("the footer cannot be read")
        return None
