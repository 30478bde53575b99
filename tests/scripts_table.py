"""Generate docs/scripts.md: the paths that each script opens as root on hosts, their owner and their protection.

``python tests/scripts_table.py > docs/scripts.md``. ``tests/opened.py`` declares the paths, and tests trace them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from opened import EVERY, NETWORK, SCRIPTS, SYSTEMD, UNTRACED, Entry, entries, part, parts_of

from chaosk.hosts.scripts import part as text_of

HEAD = """\
# The scripts that run as root

chaosk runs shell scripts as root on the hosts. One rule applies to all of them:

> A script, as root, never opens, follows, copies to or runs a path that an account other than root can make, rename or
> replace. It never enters a namespace that such an account made.

This page lists the paths that each script opens, their owner, and the protection that keeps the owner from leading root
elsewhere. The server's account may own its data directories, the folder of its pid file, its installation of Kafka and
its processes.

Two tests trace the system calls of the scripts. They fail if a process of a script opens, makes, changes or runs a path
that is not declared here.

- `tests/scripts/test_traced.py` runs the scripts on a host of namespaces, where a server's account owns its folders.
- `tests/steps/test_traced_on_lab.py` runs them on a real cluster, while steps are injected and healed.

`python tests/scripts_table.py > docs/scripts.md` generates this page from `tests/opened.py`.

## How to read the tables

- A word in capitals is an argument of the script, such as the data directory FOLDER or the pid file PLACE.
- `KEPT` is `/var/lib/chaosk`, `LEASE` the folder of a lease below it, `PID` a number.
- `*` is any name, `**` is every path below.
- *ask* means to connect to a socket, *change* means to change owner or mode.
- *root if root's alone* means: root owns every part of the path, links included, and no other account may write there.
  Otherwise the account that owns the path acts, through `setpriv`, without any right of root.
- If a path leads through a link, both ends have to be declared. One is enough if the link is root's alone.
- Queries of a path (`stat`, `access`, `readlink`) are not listed, because they open nothing.
- Files that the operator's programs and Kafka's tools open are not listed. These programs run as the account that owns
  them, or as root if they are root's alone.

## All scripts
"""
_BY = {
    "root": "root",
    "root if it is root's alone, else its account": "root if root's alone, otherwise the owner",
    "its account": "the owner",
}


def purpose(name: str) -> str:
    """The first sentence of a script's file, without the words that it is called with."""
    comment = re.match(r"(?:#.*\n)+", text_of(name))
    line = " ".join(each.removeprefix("#").strip() for each in comment[0].splitlines()) if comment is not None else ""
    return re.split(r",? as root(?=[:,]|$)|: +sh -c|; for |\. |:$", line)[0].strip().rstrip(".:")


def owners(name: str) -> str:
    """Whose files a script meets, other than root's and the kernel's."""
    found = {entry.whose for entry in entries(name) if entry not in EVERY.entries}
    return ", ".join(sorted(found - {"root", "the kernel"})) or "root only"


def shared_parts() -> list[str]:
    """The files of which several scripts are made, or which are not called as their script, and that open something."""
    found = dict.fromkeys(each for name in sorted(SCRIPTS) for each in parts_of(name) if each != name)
    return [each for each in found if part(each).entries or part(each).groups]


def table(rows: Iterable[Entry], *, untraced: bool = False) -> Iterator[str]:
    """A table of entries; of ``untraced`` ones it is said elsewhere that they are."""
    yield "| path | operations | run as | owner | protection |"
    yield "|---|---|---|---|---|"
    for entry in rows:
        paths = " ".join(f"`{path}`" for path in entry.paths)
        shut = f"{entry.shut} Not traced: {entry.unseen}." if entry.unseen and not untraced else entry.shut
        yield f"| {paths} | {', '.join(entry.does)} | {_BY[entry.by]} | {entry.whose} | {shut} |"


def _section(title: str, rows: tuple[Entry, ...], *before: str) -> Iterator[str]:
    yield from ("", f"### {title}", "", *before)
    if rows:
        yield from (*([""] if before else []), *table(rows, untraced=title in UNTRACED))


def _as_well(names: Iterable[str]) -> str:
    links = [f"[{name}](#{re.sub(r'[^a-z0-9_ -]', '', name.lower()).replace(' ', '-')})" for name in names]
    return f"Includes {', '.join(links)}." if links else ""


def _groups(name: str) -> list[str]:
    return [group.title for group in part(name).groups]


def page() -> str:
    """The page."""
    lines = [HEAD, "| script | purpose | opens files of | traced |", "|---|---|---|---|"]
    for name in sorted(SCRIPTS):
        traced = "no" if name in UNTRACED else "yes"
        lines.append(f"| [{name}](#{name}) | {purpose(name)} | {owners(name)} | {traced} |")
    lines += ["", "## Shared parts"]
    for group in (EVERY, NETWORK, SYSTEMD):
        lines += _section(group.title, group.entries)
    for name in shared_parts():
        also = _as_well(_groups(name))
        lines += _section(f"{name}.sh", part(name).entries, f"{purpose(name)}.", *([also] if also else []))
    lines += ["", "## Script by script"]
    for name in sorted(SCRIPTS):
        files = [f"{each}.sh" for each in parts_of(name) if each != name and each in shared_parts()]
        also = _as_well((EVERY.title, *files, *_groups(name)))
        told = [f"{purpose(name)}.", "", f"Arguments: `{SCRIPTS[name].removesuffix(' **')}`.", also]
        if name in UNTRACED:
            told += ["", f"No test traces it. {UNTRACED[name]} This table was read from its text."]
        lines += _section(name, part(name).entries, *told)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
