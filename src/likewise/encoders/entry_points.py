"""Encoders of other installed packages, by entry point:

    [project.entry-points."likewise.encoders"]
    my-encoder = "my_package:MyEncoder"

The object is called without arguments and returns an `Encoder` whose name is that of the entry point.  Packages are
looked through only when somebody asks for a name that `likewise` itself does not have, or for the list of encoders.
"""

from importlib.metadata import EntryPoint, entry_points

from likewise.encoders.protocol import Encoder
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError

GROUP = "likewise.encoders"


def external_encoders() -> dict[str, EntryPoint]:
    """Entry points by name, in alphabetical order."""
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def open_external(part: Spec) -> Encoder:
    """The encoder of an entry point."""
    entry = external_encoders()[part.target]
    for option, _ in part.options:
        if option not in ("dtype", "weight"):
            raise LikewiseError(f"{part.text!r}: {entry.name} prepares pictures itself; leave {option}= out.")
    try:
        encoder: Encoder = entry.load()()
    except Exception as error:  # whatever a package of somebody else raises
        first = next(iter(str(error).strip().split("\n")), "") or type(error).__name__
        raise LikewiseError(
            f"the encoder {entry.name} of {source_package(entry)} cannot be opened ({first}): "
            "update or uninstall that package."
        ) from error
    if not hasattr(encoder, "prepare") or not hasattr(encoder, "encode") or encoder.name != entry.name:
        raise LikewiseError(
            f"the entry point {entry.name} of {source_package(entry)} does not give an encoder named {entry.name!r}: "
            "its `name` must be that of the entry point, and it needs `prepare` and `encode`."
        )
    return encoder


def source_package(entry: EntryPoint) -> str:
    """The package that brings an entry point, as pip names it."""
    return entry.dist.name if entry.dist else entry.value.partition(":")[0]
