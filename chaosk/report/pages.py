"""What every page is made by: templates whose values are escaped, and in which what is missing is an error."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosk.core.printable import printable


def environment(*packages: str) -> Environment:
    """Of the templates in these packages and, behind them, in that of reports, from which they may include."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "chaosk.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """Text without characters that are not seen, or that turn the direction of what follows."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
