"""Secrets in plain text: refused, because files are shared and plans are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaosk.document.nodes import Node, scalars
from chaosk.document.parse import Found

_SECRET = re.compile(r"(^|[._-])(password|secret|pem|passphrase|token)s?$", re.IGNORECASE)
"""Settings that hold a secret, in librdkafka's and similar naming: ``sasl.password``, ``ssl.key.pem``."""


def plain_secrets(root: Node) -> Iterator[Found]:
    """Yield each client or probe setting that holds a secret as text."""
    for path, node in scalars(root):
        in_settings = path[:1] in {("client",), ("probe_client",)} or (path[:1] == ("probes",) and "config" in path)
        if in_settings and _SECRET.search(str(path[-1])):
            where = (
                "write a reference" if path[0] != "probes" else "put it into the inventory's `client:` as a reference"
            )
            yield (
                node.place,
                path,
                f"a secret must not be in a file like this; {where}: {{env: NAME}} or {{file: PATH}}",
            )
