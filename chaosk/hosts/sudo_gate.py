"""The sudo gate: a program on a host that runs only chaosk's own scripts as root. Pure.

It is for operators who do not want to allow ``NOPASSWD: ALL``. ``chaosk sudoers`` prints this program, made for one
cluster, and a sudoers line that allows it alone, by its digest. Commands are the same with and without a gate. With
one, a script's text in a command is replaced by the script's name, and the gate supplies the text.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import get_args

from chaosk.core.errors import StepError, UsageError
from chaosk.hosts import fingerprint
from chaosk.hosts.commands import brokertool, looks, reversible, service, supervisor, topictool, versions
from chaosk.hosts.commands.dump import batches, markers
from chaosk.hosts.scripts import PARTS, part, script
from chaosk.spec import principal
from chaosk.spec.command import Command
from chaosk.spec.dynamic_config import BrokerSetting, Limit
from chaosk.spec.inventory import Inventory, KafkaProcess, ScriptService, ServerProcess

PLACE = "/usr/local/sbin/chaosk-gate"
"""Default path of the gate on hosts."""
_END = "CHAOSK-SCRIPT"
_WIDE = re.compile(r"[A-Z][A-Z0-9_]*")
"""A name that sudoers reads as an alias (sudoers(5), User_Alias), or as ``ALL``."""


@cache
def texts() -> dict[str, str]:
    """Map each name to its script, for all scripts of a gate."""
    return {name: script(name) for name in PARTS}


@cache
def edition() -> str:
    """Return a digest of all scripts. A gate refuses a chaosk of another edition: arguments may mean other things."""
    every = "\0".join((part("gate"), *(text for _, text in sorted(texts().items()))))
    return hashlib.sha256(every.encode()).hexdigest()[:12]


def through(command: Command, gate: str) -> Command:
    """Rewrite a command for a gate: script names in place of texts. Raises StepError if no gate would run it."""
    words = tuple(_named(command.argv, gate))
    if words[:2] != (gate, "inner"):
        raise StepError(
            f"{command.host}: `{command.brief}` is none of chaosk's own scripts, and its gate {gate} runs no other; "
            "leave `gate` out of the inventory and allow the account more, or leave the step out"
        )
    stdin = command.stdin
    if stdin is not None and words[2:4] == ("lease", "arm"):
        stdin = _bundle(stdin, gate)
    return command.model_copy(update={"argv": words[2:], "stdin": stdin})


def program(inventory: Inventory, place: str = PLACE) -> str:
    """Return the gate for a cluster; its list covers the services of all hosts, so all hosts have the same gate."""
    functions = "".join(f"{name}) cat <<'{_END}' ;;\n{_ended(text)}{_END}\n" for name, text in texts().items())
    return (
        "#!/bin/sh\n"
        f"gate={shlex.quote(place)}\nedition={edition()}\n\n"
        f"script_text() {{\ncase $1 in\n{functions}esac\n}}\n\n"
        f"listed() {{\ncat <<'{_END}'\n{''.join(sorted(set(_list(inventory))))}{_END}\n}}\n\n"
        f"{part('gate')}"
    )


def sudoers(users: Collection[str], text: str, place: str = PLACE, asked: Collection[str] = ()) -> str:
    """Return the sudoers lines that allow ``users`` exactly this gate, by its digest, and ``asked`` with a password.

    Raises UsageError for a name that sudoers would take for more than one account.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()
    if wide := sorted(user for user in users if _WIDE.fullmatch(user)):
        raise UsageError(
            f"user: {wide[0]}: sudoers reads a name of capital letters as an alias, and ALL as all accounts; "
            "name the one account that chaosk logs in as"
        )
    free, known = sorted(set(users) - set(asked)), sorted(set(users) & set(asked))
    rules = "".join(
        f"{', '.join(map(_escaped, names))} ALL = (root) {tag}: sha256:{digest} {place}\n"
        for tag, names in (("NOPASSWD", free), ("PASSWD", known))
        if names
    )
    return f"Defaults!{place} env_reset\n{rules}"


def _escaped(user: str) -> str:
    return user.replace("\\", "\\\\").replace("@", "\\@")


def installer(inventory: Inventory) -> str:
    """Return a shell script that installs the gate and its sudoers lines; to be run as root on each host."""
    place = next((host.gate for host in inventory.hosts.values() if host.gate), PLACE)
    text = program(inventory, place)
    users = [host.user for host in inventory.hosts.values() if host.sudo]
    free = {host.user for host in inventory.hosts.values() if host.sudo and host.ssh.sudo_password is None}
    return f"""\
# As root on {", ".join(inventory.hosts)}: what chaosk may do there, and no more.
# Then write `gate: {place}` for these hosts in the inventory.
set -eu
umask 022
mkdir -p {shlex.quote(place.rpartition("/")[0] or "/")}
cat >{shlex.quote(place)}.new <<'CHAOSK-GATE'
{text}CHAOSK-GATE
chmod 755 {shlex.quote(place)}.new
cat >/etc/sudoers.d/chaosk.new <<'CHAOSK-GATE'
# made by `chaosk sudoers` for the cluster {inventory.name}
{sudoers(users, text, place, set(users) - free)}CHAOSK-GATE
chmod 440 /etc/sudoers.d/chaosk.new
visudo -c -q -f /etc/sudoers.d/chaosk.new
mv {shlex.quote(place)}.new {shlex.quote(place)}
mv /etc/sudoers.d/chaosk.new /etc/sudoers.d/chaosk
here=
set -- {" ".join(shlex.quote(user) for user in sorted(set(users)))}
for user; do
  id -u "$user" >/dev/null 2>&1 || continue
  here=yes
  LC_ALL=C sudo -l -U "$user" 2>&1 | grep -qF {shlex.quote(place)} && continue
  echo "sudo does not allow $user the gate all the same: does /etc/sudoers end with '@includedir /etc/sudoers.d'?" >&2
  exit 1
done
if [ -z "$here" ]; then
  echo "none of the inventory's accounts is on this host; make it, then run this again" >&2
  exit 1
fi
"""


def _list(inventory: Inventory) -> Iterator[str]:
    """Yield the allowed commands on services and checks of hosts, a line each; a tab ends a word."""
    own_kernels = any(host.own_kernel or host.power is not None for host in inventory.hosts.values())
    for process in inventory.every_process():
        yield from _lines("service", _on(process))
        yield from _on_supervisor(process)
        yield from _on_identity(inventory, process)
    for server in (*inventory.brokers.values(), *inventory.controllers.values()):
        yield from _on_versions(server)
    for broker in inventory.brokers.values():
        if broker.data:
            yield from _lines("dump", (ask(inventory.kafka, broker, ()) for ask in (markers, batches)))
        for folder in broker.data:
            yield from _on_folder(broker, folder)
            disk = reversible.mapped(broker, folder, "BOOT", "ID", ())
            yield from _lines("mapper", disk) if own_kernels else ()
        yield from _lines("oom", reversible.oom_kill(broker, "BOOT", "NAME")) if own_kernels else ()
    yield from _on_settings(inventory)
    yield from _on_certificates(inventory) if brokertool.refused(inventory) is None else ()
    if own_kernels:
        yield from (f"boot\t{action}\tBOOT\t\n" for action in ("own", "returns", "changed", "end"))
    for host in inventory.hosts:
        yield _line("state", fingerprint.ask(inventory, host))


def _on(process: ServerProcess) -> Iterator[Command]:
    for ask in (service.is_running, service.is_gone, service.is_frozen, service.is_awake):
        yield ask(process)
    yield from (service.kill(process), service.signal(process, "STOP"), service.resume(process))
    yield from (service.is_ended(process, "NAME"), service.is_returned(process, "NAME"))
    yield from (service.start(process), service.stop(process))


def _on_supervisor(process: ServerProcess) -> Iterator[str]:
    """Yield all commands on the supervisor of a process, without ids."""
    name = "parent" if isinstance(process.service, ScriptService) else "supervisor"
    yield from _lines(name, supervisor.held(process, "NAME"))
    if (noted := supervisor.note(process, "NAME")) is not None:
        yield _line(name, noted)


def _on_identity(inventory: Inventory, process: ServerProcess) -> Iterator[str]:
    """Yield the identity checks of a process: one without data directories, and one with each of them."""
    numbered = {**inventory.brokers, **inventory.controllers}
    number = next((each for each, one in numbered.items() if one is process), None)
    for folders in ((), *((folder,) for folder in process.data)):
        yield _line("identity", looks.is_server(process, number, *folders))


def _on_versions(process: KafkaProcess) -> Iterator[str]:
    """Yield all commands on the link that a server is started through."""
    if process.installation is None:
        return
    for version in process.installation.versions:
        for span in get_args(versions.Span):
            yield _line("version", versions.fits(process, version, span))
        yield from _lines("version", (ask(process, version) for ask in (versions.point, versions.is_switched)))
        yield _line("service", versions.leave(process, version))
    yield from _lines("version", (ask(process) for ask in (versions.is_away, versions.back, versions.is_back)))


def _on_folder(broker: ServerProcess, folder: str) -> Iterator[str]:
    """Yield all commands on a data directory, without ids."""
    for action in ("fits", "fill", "filled", "empty", "gone"):
        yield _listed(broker.host, "disk", action, f"{folder.rstrip('/')}/")
    for account in get_args(reversible.Owner):
        yield from _lines("owner", reversible.owned_by(broker.host, folder, "ID", account))
    yield from _lines("readonly", reversible.read_only(broker, folder, "ID"))
    yield from _lines("wipe", reversible.wipe(broker, folder, "ID"))
    yield from _lines("wipe", (reversible.discard(broker, folder, "ID", keep=keep) for keep in (False, True)))
    yield from _lines("corrupt", reversible.corrupt(broker, folder, "ID", "LOG"))


def _on_settings(inventory: Inventory) -> Iterator[str]:
    """Yield the tools that change settings, rights and topics, and the settings and principals allowed for them."""
    host = next(iter(inventory.hosts))
    yield _line("settings", brokertool.fits(inventory, host))
    yield _line("topic", topictool.fits(inventory, host))
    if brokertool.refused(inventory) is None:
        yield from (_listed(host, "topic", action, *brokertool.place(inventory)) for action in ("make", "there"))
        yield _listed(host, "settings", "change", *brokertool.place(inventory))
    if (probes := principal.of_probes(inventory)) is not None:
        yield _listed(host, "settings", "deny", probes)
        yield _listed(host, "settings", "allow", principal.EVERYBODY)
    for of, names in (("broker", BrokerSetting), ("clients", Limit)):
        yield from (_listed(host, "settings", of, name) for name in get_args(names))


def _on_certificates(inventory: Inventory) -> Iterator[str]:
    """Yield the brokers and listeners whose certificates can be swapped."""
    home, config, _ = brokertool.place(inventory)
    host = next(iter(inventory.hosts))
    for broker, (address, port) in inventory.client_addresses().items():
        yield _listed(host, "certificate", home, config, f"{address}:{port}", str(broker))
        for name in inventory.brokers[broker].listeners:
            yield _listed(host, "certificate", brokertool.keystore(name))


def _lines(name: str, commands: Iterable[Command]) -> Iterator[str]:
    return (_line(name, command) for command in commands)


def _line(name: str, command: Command) -> str:
    """Return a command's words as a list line."""
    return _listed(command.host, name, *command.argv[4:])


def _listed(host: str, *words: str) -> str:
    if any(not word.isprintable() or not word.isascii() for word in words):
        raise StepError(f"{host}: `{' '.join(words)}`: a gate takes printable ASCII only; correct the inventory")
    return "".join(f"{word}\t" for word in words) + "\n"


def _named(argv: tuple[str, ...], gate: str) -> Iterator[str]:
    rest = list(argv)
    while rest:
        name = next((name for name, text in texts().items() if rest[:4] == ["sh", "-c", text, "chaosk"]), None)
        if name is None:
            yield rest.pop(0)
        else:
            yield from (gate, "inner", name)
            del rest[:4]


def _bundle(stdin: str, gate: str) -> str:
    """Remove the script from a lease's bundle, and replace scripts by names in undo, check and look."""
    _, about, *shells = _parts(stdin)
    for name, text in texts().items():
        quoted = shlex.join(("sh", "-c", text, "chaosk"))
        shells = [shell.replace(quoted, f"{shlex.quote(gate)} inner {name}") for shell in shells]
    return "".join(f"{part.count(chr(10))}\n{part}" for part in (about, *shells))


def _parts(stdin: str) -> Iterator[str]:
    lines = iter(stdin.splitlines(keepends=True))
    for count in lines:
        yield "".join(next(lines) for _ in range(int(count)))


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
