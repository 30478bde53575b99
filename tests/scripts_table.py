"""Makes docs/scripts.md: every script that runs as root on hosts, what it opens, and how nobody leads it elsewhere.

``python tests/scripts_table.py > docs/scripts.md``. What it says is declared in ``tests/opened.py``, and traced.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from opened import EVERY, NETWORK, SCRIPTS, SYSTEMD, UNTRACED, Entry, entries, part, parts_of

from chaosk.scripts import part as text_of

HEAD = """\
# The scripts that run as root

On a host chaosk runs shell scripts of its own as root. Each of them keeps to one rule:

> It never opens, follows, copies to or runs what an account other than root can make, rename or replace, and never
> enters a namespace that such an account made.

This page says of every script what it opens, whose that is, and how the owner is kept from leading root elsewhere. It
is made by `python tests/scripts_table.py > docs/scripts.md` from `tests/opened.py`. `tests/scripts/test_traced.py` runs
the scripts on a host of namespaces, where a server's account owns its folders, and watches their system calls. It fails
if a process of a script opens, makes, changes or runs a path that is not declared here.
`tests/steps/test_traced_on_lab.py` does the same on a real cluster, while steps are injected and healed.

## How to read it

- A word of capitals is what the script is given: the data directory FOLDER, the pid file PLACE.
- `KEPT` is `/var/lib/chaosk`, `LEASE` the folder of a lease below it, `PID` a number. `*` is any name, `**` is all
  below.
- *root if it is root's alone* means: only if root owns every part of the path, links included, and nobody else may
  write there. Else the account that owns it does it, by `setpriv`, with no right of root's left.
- Where a path leads through a link, both ends have to be declared; one is enough if the link is root's alone.
- A look at a path (`stat`, `access`, `readlink`) is not listed, as it opens nothing.
- What the operator's own programs and Kafka's tools open is not listed either. They are run as the account that owns
  them, or as root if they are root's alone.

The server's account may own its data directories, its pid file's folder, its installation of Kafka and its processes.

## All of them
"""
_BY = {
    "root": "root",
    "root if it is root's alone, else its account": "root if it is root's alone, else its account",
    "its account": "the account that owns it",
}


def purpose(name: str) -> str:
    """The first sentence of a script's file, without the words that it is called with."""
    comment = re.match(r"(?:#.*\n)+", text_of(name))
    line = " ".join(each.removeprefix("#").strip() for each in comment[0].splitlines()) if comment is not None else ""
    return re.split(r",? as root(?=[:,]|$)|: +sh -c|; for |\. |:$", line)[0].strip().rstrip(".:")


def owners(name: str) -> str:
    """Whose files a script meets, other than root's and the kernel's."""
    found = {entry.whose for entry in entries(name) if entry not in EVERY.entries}
    return ", ".join(sorted(found - {"root", "the kernel"})) or "nobody's but root's"


def shared_parts() -> list[str]:
    """The files of which several scripts are made, or which are not called as their script, and that open something."""
    found = dict.fromkeys(each for name in sorted(SCRIPTS) for each in parts_of(name) if each != name)
    return [each for each in found if part(each).entries or part(each).groups]


def table(rows: Iterable[Entry], *, untraced: bool = False) -> Iterator[str]:
    """A table of entries; of ``untraced`` ones it is said elsewhere that they are."""
    yield "| path | what is done | as whom | whose it is | how that is shut |"
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
    return f"As well: {', '.join(links)}." if links else ""


def _groups(name: str) -> list[str]:
    return [group.title for group in part(name).groups]


def page() -> str:
    """The page."""
    lines = [HEAD, "| script | what it is for | whose files it meets | traced |", "|---|---|---|---|"]
    for name in sorted(SCRIPTS):
        traced = "no" if name in UNTRACED else "yes"
        lines.append(f"| [{name}](#{name}) | {purpose(name)} | {owners(name)} | {traced} |")
    lines += ["", "## What several of them open"]
    for group in (EVERY, NETWORK, SYSTEMD):
        lines += _section(group.title, group.entries)
    for name in shared_parts():
        also = _as_well(_groups(name))
        lines += _section(f"{name}.sh", part(name).entries, f"{purpose(name)}.", *([also] if also else []))
    lines += ["", "## Script by script"]
    for name in sorted(SCRIPTS):
        files = [f"{each}.sh" for each in parts_of(name) if each != name and each in shared_parts()]
        also = _as_well((EVERY.title, *files, *_groups(name)))
        told = [f"{purpose(name)}.", "", f"Given: `{SCRIPTS[name].removesuffix(' **')}`.", also]
        if name in UNTRACED:
            told += ["", f"No test watches its system calls. {UNTRACED[name]} What is said here is read from its text."]
        lines += _section(name, part(name).entries, *told)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
