"""What every page shares: the templates, and the style, script and colours that go inline so that it opens offline."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from likewise.report.numbers import FILTERS
from likewise.report.plots.palette import variables


def render(template: str, **context: Any) -> str:
    """One page as text; names that a template misses are an error."""
    environment = Environment(
        loader=PackageLoader("likewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    script = asset("script.js")
    return environment.get_template(template).render(
        style=Markup(asset("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        colours=list(variables().values()),
        **context,
    )


def asset(name: str) -> str:
    return files("likewise.report").joinpath("templates", name).read_text(encoding="utf-8")
