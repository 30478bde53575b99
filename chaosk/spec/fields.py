"""Field types of an inventory: names, ports, addresses, paths, ids."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$")]
"""Lower-case letters, digits, ``-``, ``_`` and ``.``: safe in file names and on command lines."""

Port = Annotated[int, Field(ge=1, le=65535)]
Address = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9:]([A-Za-z0-9.:-]{0,252}[A-Za-z0-9:])?$")]
"""An IPv4 or IPv6 address or a host name."""


def _ip(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return str(ip_address(value))
    except ValueError:
        raise ValueError(f"{value[:80]!r} is no IP address; write one, like 192.0.2.99") from None


Ip = Annotated[str, BeforeValidator(_ip), WithJsonSchema({"type": "string", "pattern": r"^[0-9A-Fa-f.:]+$"})]
"""An IPv4 or IPv6 address in its shortest spelling."""

Path = Annotated[str, StringConstraints(pattern=r"^/[^\x00-\x1f]*$")]
"""An absolute path on a host."""

Version = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9._-]{0,62}$")]
"""A version of Kafka as in the names of its jars, like ``3.9.2``."""

User = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@\\+-]{0,127}\$?$")]
"""An account, also of a domain, like ``CORP\\nina``; always a single word."""

UnitName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9@_.:-]{1,200}\.service$")]
Argv = Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
"""A command as a list of words; no shell reads it."""


Firewall = Literal["auto", "nft", "iptables"]
"""The tool that cuts a host's network; ``auto`` is ``nft`` if it is installed and the kernel supports it, else
``iptables``."""


def _number(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"0|[1-9][0-9]{0,8}", value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"{value!r} is no id; write a whole number from 0 up, like 1")


Id = Annotated[int, BeforeValidator(_number), WithJsonSchema({"type": "string", "pattern": r"^(0|[1-9][0-9]{0,8})$"})]
"""The id of a broker, a controller or a ZooKeeper node; it is a key, and therefore text in JSON."""
