"""Templates for all pages: values are escaped, and an undefined value is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

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


def rendered(package: str, template: str, values: Mapping[str, object]) -> str:
    """Return a page of a package's templates; every value is escaped."""
    return _of_package(package).get_template(template).render(values)


@cache
def _of_package(package: str) -> Environment:
    return environment(package)


def _shown(value: object) -> object:
    """Show text without invisible characters and without those that change the writing direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
