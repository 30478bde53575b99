"""Templates for all pages: values are escaped, and an undefined value is an error."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosk.core.printable import printable


def environment(*packages: str) -> Environment:
    """Return the environment for templates in these packages, which may include those of ``chaosk.report``."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "chaosk.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """Show text without invisible characters and without those that change the writing direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
