"""What every page shares: the templates, and the style, script and colours that go inline so that it opens offline."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from likewise.report.formatting import FILTERS
from likewise.report.plots.palette import css_variables

REPORT = "likewise.report"


@cache
def _environment(package: str) -> Environment:
    """Made once: a template is compiled for the first page that it draws."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in dict.fromkeys((package, REPORT))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def render(template: str, package: str = REPORT, **context: Any) -> str:
    """One page as text, from the templates of a package and the report's own; a name that is missing is an error."""
    script = asset("script.js")
    return (
        _environment(package)
        .get_template(template)
        .render(
            style=Markup(asset("style.css")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            colours=list(css_variables().values()),
            **context,
        )
    )


def asset(name: str, package: str = REPORT) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
