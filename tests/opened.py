"""What each script that runs as root opens: whose that is, and how its owner is kept from leading root elsewhere.

docs/scripts.md shows it, and tests hold it against the system calls of the scripts. Each file of
``chaosk/hosts/scripts`` has its entries, and a script has those of its files. A path is written as in the comments of
the scripts: a word of capitals is one that the script is given. ``KEPT`` is /var/lib/chaosk, ``LEASE`` the folder of a
lease in it, ``PID`` a number. ``*`` is any name, ``**`` all below. A look, which opens nothing, is not told of.
"""

from __future__ import annotations

import itertools
import os.path
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tracing import Touch

from chaosk.hosts.scripts import PARTS

Whose = Literal["root", "the kernel", "the server's account", "the operator", "the caller"]
By = Literal["root", "root if it is root's alone, else its account", "its account"]

KEPT = "/var/lib/chaosk"
GATE = "/usr/local/sbin/chaosk-gate"
DOES = ("read", "write", "make", "change", "rename", "remove", "list", "enter", "mount", "ask", "run")
"""All that can be done to a path: `ask` is to connect to a socket, `change` is of owner and mode."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Paths that are alike, and what is done there."""

    paths: tuple[str, ...]
    does: tuple[str, ...]
    whose: Whose
    shut: str
    by: By = "root"
    unseen: str = ""
    """Why no test on a host of namespaces sees it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that several scripts have."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one file of a script opens."""

    entries: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()


def _of(whose: Whose, paths: str, does: str, shut: str, by: By = "root", unseen: str = "") -> Entry:
    return Entry(tuple(paths.split()), tuple(does.split()), whose, shut, by, unseen)


ALONE: By = "root if it is root's alone, else its account"
ACCOUNT: By = "its account"
_ROOTS = "Only root can write there."
_MADE_BY_KERNEL = "The kernel makes it. Parts that an account chooses, such as a name, are read as plain text."
_OURS = "The folder is root's, and closed to all others."
_NOTED = "enter list make read rename remove"
_AS_ACCOUNT = "The account that owns it opens it, so a link leads only where that account may go."
_GONE_IN = (
    "Root enters it, then asks the kernel for its path. If a link led elsewhere, the script fails. A later rename of a "
    "folder has no effect."
)
_WHOSE = (
    "Root enters it to find an owner. Behind a link that is not root's, the owner is the account that could put the "
    "link there."
)
_DESCRIPTORS = "The kernel names the file of each descriptor. None of them is opened."
_OWN_KERNEL = "it needs a kernel that belongs to the host alone"


def _kernel(paths: str, does: str = "read", shut: str = _MADE_BY_KERNEL, unseen: str = "") -> Entry:
    return _of("the kernel", paths, does, shut, unseen=unseen)


def _kept(folder: str, unseen: str = "") -> Entry:
    """Notes in a folder of their own, each of which is brought to the disk and then takes its place."""
    return _of("root", f"KEPT/{folder} KEPT/{folder}/* KEPT /var /var/lib", _NOTED, _OURS, unseen=unseen)


EVERY = Group(
    "What every program opens",
    (
        _of(
            "root",
            "/etc/ld.so.cache /etc/ld.so.preload /lib/** /lib64/** /usr/lib/** /usr/lib64/** /usr/share/** "
            "/usr/local/lib/** /usr/local/share/**",
            "read list", _ROOTS,
        ),
        _of("root", "/bin/* /sbin/* /usr/bin/* /usr/sbin/* /usr/local/bin/* /usr/local/sbin/*", "run read",
            "`PATH` has only folders of root, and no variable comes from the caller."),
        _of(
            "root",
            "/etc/passwd /etc/group /etc/nsswitch.conf /etc/locale.alias /etc/localtime /etc/userdb/* /run/userdb/* "
            "/run/host/userdb/* /etc/selinux/* /run/systemd/userdb",
            "read list", _ROOTS,
        ),
        _of("root", "/var/run/nscd/socket /run/nscd/socket /run/systemd/userdb/*", "ask", _ROOTS),
        _kernel("/dev/null /dev/tty", "read write make"),
        _kernel("/proc/self/** /proc/filesystems /proc/mounts /proc/sys/kernel/** /proc/sys/vm/* "
                "/sys/devices/system/cpu/**", "read list"),
        _of("the caller", "CWD", "read list", "`find` and others keep it open to return. Nothing in it is opened."),
    ),
)  # fmt: skip
"""To start, to find others, and to name accounts. ``CWD`` is the folder in which a script is started."""

NETWORK = Group(
    "ip, ss, tc, nft and iptables",
    (
        _of("root",
            "/etc/iproute2/* /etc/connlabel.conf /etc/protocols /etc/services /etc/ethertypes /etc/xtables.conf",
            "read", _ROOTS),
        _of("root", "/run/xtables.lock /etc/modprobe.d /run/modprobe.d /etc/modprobe.d/* /run/modprobe.d/*",
            "make list read", _ROOTS, unseen="only legacy iptables does it"),
        _kernel("/proc/net/** /proc/sys/net/** /sys/class/net/** /sys/module/**", "read list"),
    ),
)  # fmt: skip
SYSTEMD = Group(
    "systemctl and systemd-run",
    (
        _of("root", "/run/systemd/private /run/dbus/system_bus_socket /var/run/dbus/system_bus_socket", "ask",
            "systemd answers there. The unit's name comes from the inventory.", unseen="namespaces have no systemd"),
    ),
)  # fmt: skip

_PARTS: Mapping[str, Part] = {
    "address": Part((_kept("address"),), (NETWORK,)),
    "boot": Part(
        (
            _kernel("/proc/sysrq-trigger", "make",
                    "The kernel is ended only if it is the host's alone, and under a lease.", _OWN_KERNEL),
            _kernel("/sys/kernel/kexec_crash_loaded", unseen=_OWN_KERNEL),
            _of("root", "KEPT/leases/ID/boot", "read", _OURS, unseen=_OWN_KERNEL),
        ),
        (SYSTEMD,),
    ),
    "certificate": Part((
        _of("root", f"{KEPT}-certificates {KEPT}-certificates/* /var /var/lib", f"{_NOTED} change",
            "The folder is root's. Others may read its files: no client trusts that key."),
        _of("the server's account", "CONFIG", "read",
            "The owner of the tool reads it. If the tool is root's, the file has to be root's alone.", ALONE),
    )),
    "clock": Part((
        _kernel("/proc", "list", unseen=_OWN_KERNEL),
        _kernel("/proc/PID/comm /proc/uptime", unseen=_OWN_KERNEL),
        _kept("clocks", _OWN_KERNEL),
    )),
    "corrupt": Part((
        _of("the server's account", "FOLDER", "enter", _GONE_IN),
        _of("the server's account", "FOLDER FOLDER/LOG", "list read", _AS_ACCOUNT, ACCOUNT),
        _of("the server's account", "FOLDER/LOG/*.log", "read make", _AS_ACCOUNT, ACCOUNT),
        _kept("corrupted"),
    )),
    "cut": Part((_kernel("/proc", "list"), _kernel("/proc/PID/comm /proc/uptime")), (SYSTEMD,)),
    "cut_nft": Part((_of("root", "LEASE/renewed", "make", _OURS),)),
    "discover": Part(
        (
            _kernel("/proc/PID/cmdline /proc/PID/status /proc/PID/comm /proc/PID/cgroup /proc/PID/net/tcp "
                    "/proc/PID/net/tcp6"),
            _kernel("/proc /proc/PID/fd", "list", _DESCRIPTORS),
            _of("root", "/etc/os-release", "read", _ROOTS),
            _of("the server's account", "/**", "read list",
                "The account of the server's process opens it: the configuration that its command line names, `myid`, "
                "pid files, and programs that name them. It reads what it may read anyway.", ACCOUNT),
        ),
        (NETWORK, SYSTEMD),
    ),
    "disk": Part((
        _of("the server's account", "FILE/..", "enter read", _GONE_IN),
        _of("the server's account", "FILE", "make remove",
            "It is made only if no file exists. It is written through a descriptor, after the kernel confirms an empty "
            "file of root's with one name."),
        _of("root", "KEPT /var/lib /var /", "read", "`df` opens it, to find the file system of the leases."),
        _kernel("/dev/zero /proc/self/fd/8", "read make", "It is the descriptor that was checked."),
    )),
    "dump": Part((
        _of("the server's account", "DATA", "enter", _WHOSE),
        _of("the server's account", "DATA/LOG", "list", _AS_ACCOUNT, ALONE),
    )),
    "examine": Part(
        (_of("the server's account", "WHAT/..", "enter", f"{_WHOSE} Free space is read without opening a file."),),
        (NETWORK, SYSTEMD),
    ),
    "gate": Part((
        _of("root", GATE, "read", "sudo runs exactly the file whose digest is in sudoers."),
    )),
    "identity": Part((
        _of("the server's account", "CONFIG FOLDER/meta.properties", "read",
            "The account of the server's process opens it, for five seconds at most.", ACCOUNT),
        _kernel("/proc/PID/net/tcp /proc/PID/net/tcp6"),
        _kernel("/proc/PID/fd", "list", _DESCRIPTORS),
    )),
    "jar": Part((_kernel("/proc/PID/fd", "list", _DESCRIPTORS),)),
    "kept": Part((
        _of("root", "KEPT /var /var/lib", "enter list make read", "It is made root's, and closed to all others."),
        _kernel("/proc/uptime"),
    )),
    "lease": Part(
        (
            _of("root", "KEPT/leases KEPT/leases/** KEPT/halted KEPT/halted/*", f"{_NOTED} change",
                "The folder is root's, and closed to all others. chaosk stored the scripts in it as root; a sudo gate "
                "accepts only its own calls in them."),
            _kernel("/proc/PID/cmdline"),
            _kernel("/proc/self/oom_score_adj /proc/PID/oom_score_adj", "make", "Its own."),
        ),
        (NETWORK, SYSTEMD),
    ),
    "load": Part((
        _kernel("/proc/meminfo /proc/PID/status /proc/PID/stat /dev/zero"),
        _kernel("/proc/self/oom_score_adj /proc/PID/oom_score_adj", "make", "Its own."),
    )),
    "lock": Part((_of("root", "KEPT/lock KEPT/lock.new KEPT/halted/*", "make read rename remove", _OURS),)),
    "mapper": Part(
        (
            _kernel("/sys/dev/block/*/dm/name /proc/uptime", unseen=_OWN_KERNEL),
            _kernel("/dev/mapper/* /dev/dm-*", "read write mount",
                    "The kernel gives the name. Only a disk without other users gets another table.",
                    _OWN_KERNEL),
            _kernel("/proc/PID/fd", "list", _DESCRIPTORS, _OWN_KERNEL),
            _of("root", "WHERE", "mount remove",
                "It is the mount point of FOLDER, as the kernel names it. To be mounted again it has to be in a folder "
                "that is root's alone.", unseen=_OWN_KERNEL),
            _kept("mapper", _OWN_KERNEL),
        ),
        (SYSTEMD,),
    ),
    "marked": Part((
        _kernel("/proc", "list"),
        _kernel("/proc/PID/environ", "read",
                "An account that marks its process gets it killed, as it could do itself."),
    )),
    "oom": Part((
        _kernel("/proc", "list", unseen=_OWN_KERNEL),
        _kernel("/proc/PID/oom_score_adj /proc/PID/oom_score", "read make",
                "Of the server's process, which is recognized by its start time.", _OWN_KERNEL),
        _kernel("/proc/sysrq-trigger", "make", "The kernel kills only if it is the host's alone, and under a lease.",
                _OWN_KERNEL),
        _kernel("/dev/kmsg", unseen=_OWN_KERNEL),
        _of("root", "KEPT/leases/ID/oom", "make read", _OURS, unseen=_OWN_KERNEL),
    )),
    "owner": Part((
        _of("the server's account", "FOLDER/..", "enter read", _GONE_IN),
        _of("the server's account", "FOLDER FOLDER/**", "list change",
            "`find` and `chown -R -h` follow no link, and change only what belongs to the former owner."),
        _kept("owners"),
    )),
    "parent": Part((
        _of("root", "LEASE/around LEASE/around.new", "make read rename", _OURS),
        _kernel("/proc/PID/comm"),
    )),
    "power": Part((
        _of("the operator", "STATE OFF ON", "run",
            "They are commands of the inventory. The account that runs chaosk executes them, on its own machine.",
            unseen="a shell runs it"),
        _kernel("/proc/uptime"),
    )),
    "process": Part(
        (
            _of("the server's account", "PLACE", "read",
                "Root opens it only if it is root's alone; otherwise the owner of its folder does, for five seconds at "
                "most. Then a number in it counts only for a process of that account.", ALONE),
            _kernel("/proc/PID/stat /proc/PID/status /proc/PID/cmdline /proc/uptime"),
            _kernel("/proc", "list"),
            _of("root", "LEASE/leaving", "make", _OURS),
        ),
        (SYSTEMD,),
    ),
    "program": Part((
        _of("the server's account", "HOME/bin", "enter", _WHOSE),
        _of("the server's account", "HOME/bin/*", "run",
            "Root runs it only if it, and all files that it loads from `bin`, `libs` and `config`, are root's alone. "
            "Otherwise the account that owns it does.", ALONE),
        _of("root", "HOME/bin HOME/libs HOME/config HOME/bin/** HOME/libs/** HOME/config/**", "list",
            "Root lists it only if it is root's alone, to check that every file in it is too.", ALONE),
        _of("root", "/", "enter read", _ROOTS),
    )),
    "readonly": Part((
        _of("the server's account", "FOLDER", "enter mount",
            "Root enters it, asks the kernel for its path, then mounts and unmounts `.`: links and other names have no "
            "effect."),
        _kernel("/proc/PID/ns/*", "read",
                "A namespace is entered only if root made it and it has the host's root directory. The kernel is asked "
                "before it is opened and afterwards."),
        _of("root", "/run/mount /run/mount/*", "make read write rename remove", _ROOTS),
        _kept("readonly"),
    )),
    "reset": Part((), (NETWORK,)),
    "rules": Part(
        (_of("root", "/etc/hosts /etc/host.conf /etc/resolv.conf /etc/gai.conf", "read", _ROOTS),), (NETWORK,)
    ),
    "service": Part((
        _kernel("/proc/PID/cgroup /proc/PID/comm /proc/PID/task/*/status /proc/net/tcp /proc/net/tcp6"),
        _kernel("/proc/PID/task", "list"),
        _of("root", "KEPT/leases KEPT/leases/*/leaving KEPT/leases/*/around", "list read", _OURS),
        _of("the operator", "ARGV/..", "enter", _WHOSE),
        _of("the operator", "ARGV", "run",
            "It is a program of the inventory. Root runs it only if it is root's alone; otherwise the account that "
            "owns it does.", ALONE),
    )),
    "shape": Part((_kept("queues"),)),
    "state": Part(
        (
            _of("the server's account", "PLACE PLACE/..", "list read",
                "Root opens it only if it is root's alone; otherwise the account that owns it does.", ALONE),
            _of("the server's account", "PLACE/..", "enter", _WHOSE),
            _of("root", "KEPT/*", "list", _OURS),
            _kernel("/proc", "list"),
            _kernel("/proc/PID/environ /proc/PID/stat"),
        ),
        (NETWORK, SYSTEMD),
    ),
    "supervisor": Part(
        (
            _of("root",
                "/run /run/systemd /run/systemd/system /run/systemd/system/*.d /run/systemd/system/*.d/zz-chaosk-*",
                _NOTED,
                "The folder is root's. The unit's name comes from systemd, and its characters are checked."),
        ),
        (SYSTEMD,),
    ),
    "version": Part((
        _of("the server's account", "LINK/..", "enter", _GONE_IN),
        _of("the server's account", "LINK LINK.chaosk", "make rename remove",
            "Root makes it if the folder is root's alone; otherwise the account that owns the folder does.", ALONE),
        _of("root", "LINK.chaosk", "change",
            "Only if the folder is root's alone. The new link gets the owner of the former one.", ALONE),
        _of("the server's account", "FOLDER/..", "enter", _WHOSE),
        _of("the server's account", "FOLDER FOLDER/**", "list",
            "The account that owns it lists it, because links in it are followed.", ALONE),
        _kept("versions"),
    )),
    "wipe": Part((
        _of("the server's account", "FOLDER/..", "enter list read", _GONE_IN),
        _of("the server's account", "FOLDER", "rename",
            "A rename follows no link. The result is checked where only root reaches it."),
        _of("the server's account", "FOLDER FOLDER/**", "list",
            "`du` and `find` follow no link. They print sizes, and whether a file exists."),
        _of("root", "FOLDER.chaosk-ID FOLDER.chaosk-ID/new FOLDER.chaosk-ID/new/**", f"{_NOTED} change",
            "It is root's alone, recognized by inode and birth time. No other account reaches its files."),
        _of("the server's account", "FOLDER.chaosk-ID/old FOLDER.chaosk-ID/old/**", "enter rename list remove",
            "It lies where only root reaches it. `rm -rf` follows no link."),
        _of("the server's account", "FOLDER.chaosk-ID/old/meta.properties", "read", _AS_ACCOUNT, ACCOUNT),
        _of("the server's account", "FOLDER.kept-ID", "rename", "A rename follows no link, and no file is replaced."),
        _kept("wiped"),
    )),
}  # fmt: skip

SCRIPTS: Mapping[str, str] = {
    "address": "ACTION ID ADDRESS PORT*",
    "boot": "ACTION BOOT ID HOW",
    "certificate": "ACTION HOME CONFIG SERVER BROKER ID SETTING*",
    "clock": "ACTION ID BOOT BY",
    "corrupt": "ACTION ID FOLDER KIND PLACE CONFIG LOG",
    "cut": "ACTION CHAIN COMMENT FLAVOUR",
    "discover": "",
    "disk": "ACTION FILE HOW BYTES",
    "dump": "ACTION HOME DATA LOG*",
    "examine": "KIND WHAT **",
    "gate": "EDITION CONNECTION SECONDS NAME ARGUMENT*",
    "identity": "ACTION KIND PLACE CONFIG NUMBER PORTS FOLDER*",
    "lease": "ACTION ID ARGUMENT*",
    "load": "ACTION KIND ID MUCH",
    "lock": "ACTION RUN SECONDS ABOUT",
    "mapper": "ACTION BOOT ID FOLDER KIND PLACE CONFIG HOW READ WRITE",
    "oom": "ACTION BOOT ID KIND PLACE CONFIG",
    "owner": "ACTION FOLDER ID OWNER",
    "parent": "ACTION KIND PLACE CONFIG ID",
    "power": "ACTION ADDRESS PORT STATE OFF ON GRACE WITHIN",
    "readonly": "ACTION ID FOLDER KIND PLACE CONFIG",
    "reset": "ACTION",
    "service": "ACTION KIND PLACE CONFIG ARGV*",
    "settings": "ACTION HOME CONFIG ARGUMENT*",
    "shape": "ACTION ID HOW",
    "state": "KIND PLACE **",
    "supervisor": "ACTION UNIT ID",
    "topic": "ACTION HOME CONFIG ARGUMENT*",
    "version": "ACTION LINK KIND PLACE CONFIG VERSION FOLDER SPAN",
    "wipe": "ACTION ID FOLDER KIND PLACE CONFIG",
}
"""By script what it is given, by name; what ends with ``*`` takes all that is left, ``**`` begins again."""

UNTRACED: Mapping[str, str] = {
    "boot": "It ends a kernel, which must be the host's alone.",
    "clock": "It sets a clock, which must be the host's alone.",
    "mapper": "It replaces a disk's table, in a kernel that must be the host's alone.",
    "oom": "It makes a kernel kill, which must be the host's alone.",
}
"""Scripts whose system calls no test watches, and why. What is said of them is read from their text."""


def parts_of(script: str) -> tuple[str, ...]:
    """The files that a script is made of; a gate is a program."""
    return PARTS.get(script, (script,))


def part(name: str) -> Part:
    """What a file of a script opens by itself."""
    return _PARTS.get(name, Part())


def entries(script: str) -> Iterator[Entry]:
    """All that a script may open: what each of its files does, and what every program does."""
    yield from EVERY.entries
    for name in parts_of(script):
        yield from part(name).entries
        for group in part(name).groups:
            yield from group.entries


_WILD = {"**": "\ue000", "*": "\ue001", "PID": "\ue002"}
_SHAPES = {"\ue000": ".+", "\ue001": "[^/]+", "\ue002": "[0-9]+"}


def given(script: str, words: tuple[str, ...], began_in: str) -> dict[str, list[str]]:
    """By name the words that a script was given."""
    names, found = SCRIPTS[script].split(), dict[str, list[str]]()
    again = names[-1:] == ["**"]
    names = names[: -1 if again else None]
    for number, word in enumerate(words):
        name = names[number % len(names) if again else min(number, len(names) - 1)].rstrip("*")
        found.setdefault(name, []).extend(word.split(",") if name == "DATA" else [word])
    found["LOG"] = [log.partition(":")[0] for log in found.get("LOG", [])]
    return {**found, "CWD": [began_in], "KEPT": [KEPT], "LEASE": [f"{KEPT}/leases/{_WILD['*']}"]}


@cache
def _shapes(script: str, words: tuple[str, ...], began_in: str) -> tuple[tuple[Entry, re.Pattern[str]], ...]:
    """The entries of a script with the paths that they have where it is given these words."""
    values = given(script, words, began_in)
    return tuple(
        (entry, _shape([spelt for path in entry.paths for spelt in _spelt(path, values)])) for entry in entries(script)
    )


def _shape(paths: Iterable[str]) -> re.Pattern[str]:
    text = "|".join(map(re.escape, paths)) or r"(?!)"
    return re.compile("".join(_SHAPES.get(letter, letter) for letter in text))


def _spelt(path: str, values: Mapping[str, list[str]]) -> Iterator[str]:
    """A path of an entry with each value that its words have."""
    template = re.sub(r"\*\*|\*|PID", lambda found: _WILD[found[0]], path)
    names = [name for name in dict.fromkeys(re.findall(r"[A-Z]+", template)) if name in values]
    for chosen in itertools.product(*(values[name] for name in names)):
        value = dict(zip(names, chosen, strict=True))
        pieces: list[str] = re.split(r"([A-Z]+)", template)
        yield os.path.normpath("".join(value.get(piece, piece) for piece in pieces))


def declared(touch: Touch, alone: Callable[[str], bool]) -> Iterator[Entry]:
    """The entries that allow it; ``alone``: whether a path is root's alone.

    Where a link leads to counts, unless nobody but root could have put it there, or it is not root who is led.
    """
    for entry, shape in _shapes(touch.script, touch.words, touch.began_in):
        path = shape.fullmatch(touch.path) or (shape.fullmatch(touch.named) and (touch.uid or alone(touch.named)))
        if touch.what in entry.does and path and _may(touch, entry, alone):
            yield entry


def _may(touch: Touch, entry: Entry, alone: Callable[[str], bool]) -> bool:
    return touch.uid != 0 or entry.by == "root" or (entry.by == ALONE and alone(touch.path))


def undeclared(touches: Iterable[Touch], alone: Callable[[str], bool]) -> list[str]:
    """What scripts did that no entry allows, a line each."""
    return sorted({str(touch) for touch in touches if not any(declared(touch, alone))})


def leaves(touch: Touch) -> bool:
    """Whether what runs there is the operator's own program, or Kafka's: what that opens is not the script's."""
    values = given(touch.script, touch.words, touch.began_in) if touch.what == "run" else {}
    if touch.script == "service":
        return touch.path in values.get("ARGV", [])
    if touch.script == "power":
        return list(touch.argv[2:3]) in [values[name] for name in ("STATE", "OFF", "ON")]
    return any(touch.path.startswith(f"{home}/bin/") for home in values.get("HOME", []))
