"""``gate.html``: one file that opens offline, runs no script and fetches nothing; beside it lie the runs' own."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from chaosk.release.content import Content
from chaosk.report.words import printable


def html(content: Content) -> str:
    """The page; every value is escaped."""
    return _environment().get_template("gate.html.j2").render(asdict(content))


@cache
def _environment() -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader("chaosk.release"), PackageLoader("chaosk.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if isinstance(value, str) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
