"""``report.html``: one file that opens offline, runs no script and fetches nothing."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from chaosk.figures import seconds
from chaosk.report.content import Content
from chaosk.report.glossary import meaning
from chaosk.report.measures import window_name
from chaosk.report.pages import environment
from chaosk.report.stalls import LATE, named
from chaosk.report.words import listed, since


def html(content: Content) -> str:
    """The page. Every value is escaped; the drawing alone goes in as it is, escaped by matplotlib."""
    values = {field.name: getattr(content, field.name) for field in fields(content)}
    return _environment().get_template("report.html.j2").render({**values, "svg": Markup(content.svg)})  # noqa: S704


@cache
def _environment() -> Environment:
    pages = environment()
    pages.globals["late"] = LATE
    pages.filters |= {
        "listed": listed,
        "meaning": meaning,
        "named": named,
        "seconds": seconds,
        "since": since,
        "spaced": lambda text: str(text).replace("_", " "),
        "window": window_name,
    }
    return pages
