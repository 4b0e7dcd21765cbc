"""Specs that stand in files: the code that one names is run only where whoever runs likewise said so."""

import os
import re

from likewise.errors import LikewiseError

TRUST = "LIKEWISE_TRUST_CODE"
CODE = re.compile(r"python:([^:?+]*)")


def check_stored_spec(spec: str, where: object) -> str:
    """The spec, unless it names a Python function whose module nobody has called trustworthy."""
    trusted = {module.strip() for module in os.environ.get(TRUST, "").split(",")}
    for module in CODE.findall(spec):
        if module not in trusted:
            raise LikewiseError(
                f"{where} names {spec!r}, which would run the code of the module {module!r}: if you trust it, set "
                f"{TRUST}={module}."
            )
    return spec
