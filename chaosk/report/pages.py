"""Templates for all pages: values are escaped, and an undefined value is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosk.core.figures import seconds
from chaosk.core.printable import printable
from chaosk.report.glossary import meaning
from chaosk.report.measures import window_name
from chaosk.report.stalls import named
from chaosk.report.words import anchor, listed, since

_FILTERS: Mapping[str, Callable[..., Any]] = {
    "anchor": anchor,
    "listed": listed,
    "meaning": meaning,
    "named": named,
    "seconds": seconds,
    "since": since,
    "spaced": lambda text: str(text).replace("_", " "),
    "window": window_name,
}


def _shown(value: object) -> object:
    """Show text without invisible characters and without those that change the writing direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment(package: str, finalize: Callable[[object], object] = _shown) -> Environment:
    """Return the environment for a package's templates, which may include those of ``chaosk.report``.

    ``finalize`` prepares each value; what it returns is escaped for HTML, except Markup.
    """
    pages = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (package, "chaosk.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= _FILTERS
    return pages


def rendered(package: str, template: str, values: Mapping[str, object]) -> str:
    """Return a page of a package's templates; every value is escaped."""
    return _of_package(package).get_template(template).render(values)


@cache
def _of_package(package: str) -> Environment:
    return environment(package)
