"""What scripts that run as root do to files: strace's word for it, process by process.

A script is told by its text in the words of the shell that runs it, and all that this shell starts belongs to it, until
one of those runs another script. So scripts that run others, as leases do, and commands that are handed on by sudo or
a gate, are each told what is theirs.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

CALLED = {
    **dict.fromkeys(("chmod", "chown", "lchown", "truncate", "utime", "utimes"), ("change", (0,))),
    **dict.fromkeys(("setxattr", "lsetxattr"), ("change", (0,))),
    **dict.fromkeys(("fchmodat", "fchmodat2", "fchownat", "utimensat", "futimesat"), ("change", (1,))),
    "mkdir": ("make", (0,)), "mkdirat": ("make", (1,)), "mknod": ("make", (0,)), "mknodat": ("make", (1,)),
    "symlink": ("make", (1,)), "symlinkat": ("make", (2,)), "creat": ("make", (0,)),
    "link": ("make", (0, 1)), "linkat": ("make", (1, 3)),
    "unlink": ("remove", (0,)), "unlinkat": ("remove", (1,)), "rmdir": ("remove", (0,)),
    "rename": ("rename", (0, 1)), "renameat": ("rename", (1, 3)), "renameat2": ("rename", (1, 3)),
    "mount": ("mount", (1,)), "umount2": ("mount", (0,)), "move_mount": ("mount", (1, 3)), "open_tree": ("mount", (1,)),
    "pivot_root": ("mount", (0, 1)), "swapon": ("mount", (0,)),
    "chdir": ("enter", (0,)), "chroot": ("enter", (0,)),
    "execve": ("run", (0,)), "execveat": ("run", (1,)),
}  # fmt: skip
"""By call what it does to the paths among its words, and which those are; the word before one is its folder."""
OPENS = ("open", "openat", "openat2")
BEGETS = ("clone", "clone3", "fork", "vfork")
IDS = ("setuid", "setreuid", "setresuid", "setfsuid")
CALLS = (*CALLED, *OPENS, *BEGETS, *IDS, "geteuid", "connect", "fchdir")
STRACE = (
    *("strace", "-ff", "-y", "-s", "131072", "-e", f"trace={','.join(f'?{name}' for name in CALLS)}"),
    *("-e", "signal=none", "-o"),
)
"""What begins a command that is traced; then comes the beginning of the names of files, one for each process."""
QUICK = ("strace", "-f", "--seccomp-bpf", *STRACE[1:])
"""The same, of which all but these calls feel nothing; but nothing that is started can gain rights, as by sudo."""
LEASE = re.compile(r".*/leases/[^/]+/lease")
"""The script lease.sh, as a lease keeps it on a host."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What a process of a script has done to a path."""

    script: str
    words: tuple[str, ...]
    """The script's own: what comes after ``chaosk``."""
    began_in: str
    """Where the script was started."""
    what: str
    path: str
    program: str
    """What the process runs."""
    uid: int
    """As whom; 0 is root."""
    argv: tuple[str, ...] = ()
    """The words of what is run."""
    named: str = ""
    """By which other path a link has led there."""

    def __str__(self) -> str:
        """One line for whoever has to look into it."""
        words = " ".join(word if word and word.isprintable() else "''" for word in self.words)
        return f"{self.script}: {self.program}: {self.what} {self.path} as {self.uid} (in `{words[:160]}`)"


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    script: str = ""
    words: tuple[str, ...] = ()
    began_in: str = "/"
    program: str = ""
    uid: int = 0
    cwd: str = "/"

    def did(self, what: str, path: str, argv: tuple[str, ...] = (), named: str = "") -> Touch:
        own = re.sub(rf"^/proc/({self.pid}|thread-self)(?=/|$)", "/proc/self", path)
        return Touch(self.script, self.words, self.began_in, what, own, self.program, self.uid, argv, named)


@dataclass(frozen=True, slots=True)
class Known:
    """What has to be known to read a trace."""

    texts: Mapping[str, str]
    """By text, without its last line break, the scripts that ``sh -c`` is given."""
    leaves: Callable[[Touch], bool]
    """Whether what runs there is no part of the script any more."""
    gate: str = ""
    """The path of a gate."""


def traced(folder: Path, known: Known) -> tuple[Touch, ...]:
    """What the scripts of one command have done, by the files that strace has written of it."""
    calls = {int(path.name.rpartition(".")[2]): [*_calls(path)] for path in folder.iterdir()}
    begotten = {child for lines in calls.values() for call in lines for child in _child(call)}
    begin = [_Process(first, cwd=_at_first(calls[first])) for first in sorted(calls.keys() - begotten)]
    return tuple(touch for process in begin for touch in _life(process, calls, known))


def _at_first(calls: Iterable[_Call]) -> str:
    """Where a process was when it began, which is told by the first call that goes from there."""
    return next((cwd for call in calls if (cwd := call.cwd) is not None), "/")


def _life(process: _Process, calls: Mapping[int, list[_Call]], known: Known) -> Iterator[Touch]:
    """What a process does, and whatever it starts."""
    for call in calls.get(process.pid, ()):
        ran = call.ok and bool(call.argv)
        if ran:
            process = _as_script(call.argv, process, known)
        touches = [*_touches(call, process)] if process.script else []
        yield from touches
        if ran and any(map(known.leaves, touches)):
            return
        if ran:
            process = replace(process, program=call.path(0 if call.name == "execve" else 1, process.cwd) or "")
        process = _as_told(call, process)
        for child in _child(call):
            yield from _life(replace(process, pid=child), calls, known)


def _as_script(argv: tuple[str, ...], process: _Process, known: Known) -> _Process:
    """The process, which is another script's if these words run one."""
    if len(argv) > 2 and LEASE.fullmatch(argv[1]):
        return replace(process, script="lease", words=argv[2:], began_in=process.cwd)
    if known.gate and known.gate in argv[:2]:
        return replace(process, script="gate", words=argv[argv.index(known.gate) + 1 :], began_in=process.cwd)
    for at, word in enumerate(argv[:4]):
        if word == "-c" and argv[at + 2 : at + 3] == ("chaosk",) and argv[at + 1].rstrip() in known.texts:
            name = known.texts[argv[at + 1].rstrip()]
            return replace(process, script=name, words=argv[at + 3 :], began_in=process.cwd)
    return process


def _as_told(call: _Call, process: _Process) -> _Process:
    """Where a process is, and as whom, as far as a call tells it."""
    if call.name == "geteuid":
        return replace(process, uid=int(call.result))
    if call.name in IDS and call.ok:
        effective = call.words[1 if call.name in {"setreuid", "setresuid"} else 0]
        return process if effective == "-1" else replace(process, uid=int(effective))
    if call.name in {"chdir", "fchdir"} and call.ok:
        there = call.path(0, process.cwd) if call.name == "chdir" else _led(call.words[0])
        return replace(process, cwd=there or process.cwd)
    return process if call.cwd is None else replace(process, cwd=call.cwd)


def _touches(call: _Call, process: _Process) -> Iterator[Touch]:
    if call.name in OPENS:
        place = 0 if call.name == "open" else 1
        if (what := _opens(call.words[place + 1])) is not None and (path := call.path(place, process.cwd)) is not None:
            yield process.did(what, path)
            if (there := _led(call.result)) not in {None, path}:
                yield process.did(what, str(there), named=path)
    elif call.name == "connect":
        if (name := re.search(r'sun_path="((?:[^"\\]|\\.)+)"', call.words[1])) is not None:
            yield process.did("ask", _unquoted(name[1]))
    elif call.name in CALLED:
        what, places = CALLED[call.name]
        paths = (call.path(place, process.cwd) for place in places)
        yield from (process.did(what, path, call.argv) for path in paths if path is not None)


def _opens(flags: str) -> str | None:
    """What is done to a path that is opened so; None if it is only looked at."""
    if "O_PATH" in flags:
        return None
    if "O_CREAT" in flags:
        return "make"
    if "O_WRONLY" in flags or "O_RDWR" in flags:
        return "write"
    return "list" if "O_DIRECTORY" in flags else "read"


def _led(descriptor: str) -> str | None:
    """Where a descriptor leads, as strace writes it; None for what has no path."""
    found = re.fullmatch(r"\d+<(/.*)>", descriptor)
    return _unquoted(found[1]) if found is not None else None


def _child(call: _Call) -> Iterable[int]:
    found = re.match(r"\d+", call.result) if call.name in BEGETS else None
    return () if found is None else (int(found[0]),)


@dataclass(frozen=True, slots=True)
class _Call:
    """A line of strace's."""

    name: str
    words: tuple[str, ...]
    result: str

    @property
    def ok(self) -> bool:
        return not self.result.startswith(("-1", "?"))

    @property
    def argv(self) -> tuple[str, ...]:
        """The words of what is run; none for another call."""
        place = {"execve": 1, "execveat": 2}.get(self.name)
        return () if place is None else self.strings(self.words[place])

    @property
    def cwd(self) -> str | None:
        """Where the process is, as far as the call tells it."""
        told = next((word for word in self.words if word.startswith("AT_FDCWD<")), None)
        return None if told is None else _unquoted(told[len("AT_FDCWD<") : -1])

    def path(self, place: int, cwd: str) -> str | None:
        """The path that a word is, from the root on; None for none."""
        if place >= len(self.words) or not self.words[place].startswith('"'):
            return None
        (path,) = self.strings(self.words[place])
        of = re.fullmatch(r"(?:\d+|AT_FDCWD)<(.*)>", self.words[place - 1]) if place else None
        folder = cwd if of is None else _unquoted(of[1])
        return os.path.normpath(os.path.join(folder, path)) if path else None  # noqa: PTH118 - a text

    def strings(self, word: str) -> tuple[str, ...]:
        """The quoted texts in a word."""
        return tuple(_unquoted(text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', word))


def _calls(path: Path) -> Iterator[_Call]:
    for line in path.read_text("ascii").splitlines():
        head = re.match(r"(\w+)\(", line)
        if head is not None and not line.endswith("<unfinished ...>"):  # else it tells of a signal, or of an end
            words, rest = _words(line, head.end())
            yield _Call(head[1], words, rest.partition("= ")[2].partition(" (")[0].strip())


_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|<[^>]*>|[][{}(),]')


def _words(line: str, at: int) -> tuple[tuple[str, ...], str]:
    """The words of a call, which begin there, and what comes after them."""
    words, begin, depth = list[str](), at, 0
    for piece in _PIECES.finditer(line, at):
        if piece[0] in "[{(":
            depth += 1
        elif piece[0] in "]})" and depth:
            depth -= 1
        elif piece[0] in ",)" and not depth:
            words.append(line[begin : piece.start()].strip())
            begin = piece.end()
            if piece[0] == ")":
                break
    return tuple(words), line[begin:]


def _unquoted(text: str) -> str:
    return text.encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
