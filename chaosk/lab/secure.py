"""A lab whose clients use TLS and a password: SASL_SSL, SCRAM. Connections between brokers are not encrypted.

Its files are beside the inventory: ``ca.pem`` and ``ca_key`` of the lab's own authority, ``client_password``, and
``probe_password``. Probes have a separate login, so that rights can be taken from them alone.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import KafkaException, admin

from chaosk.cluster.security import security
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer
from chaosk.core.errors import LabError
from chaosk.lab import certificates, namespace, privilege, runner
from chaosk.lab.broker import CLIENT_PORT, LISTENER_FILE, REPLICATION_PORT, TOOLS_FILE, TRUST_FILE, USER
from chaosk.lab.certificates import Pair
from chaosk.lab.properties import properties
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile
from chaosk.lab.state import LabState
from chaosk.spec.inventory import Inventory, SecretRef

PROBES = "probes"
"""The login of the probes."""
MECHANISM = "SCRAM-SHA-512"
AUTHORITY, AUTHORITY_KEY = "ca.pem", "ca_key"
LOGINS = {USER: "client_password", PROBES: "probe_password"}
"""The password file of each user."""
_ITERATIONS = 4096
_WITHIN = 30.0
"""Time-out in seconds until every broker accepts the new users."""


def prepare(directory: Path) -> Pair:
    """Make and write the authority and the passwords of a new lab."""
    made = certificates.authority("chaosk lab")
    runner.write(directory / AUTHORITY, made.certificate)
    passwords = {name: f"{secrets.token_urlsafe(24)}\n" for name in LOGINS.values()}
    for name, text in {AUTHORITY_KEY: made.key, **passwords}.items():
        runner.write(directory / name, text, 0o600)
        privilege.give_to_caller(directory / name)
    return made


def files(seat: Seat, by: Pair, directory: Path) -> tuple[HostFile, ...]:
    """Return the certificate of the broker on ``seat``, if there is one, and the login of Kafka's own tools there.

    The files are readable for every account of the lab's host.
    """
    if seat.broker is None:
        return ()
    made = certificates.issue(by, seat.advertised)
    return (
        HostFile(LISTENER_FILE, made.key + made.certificate),
        HostFile(TRUST_FILE, by.certificate),
        HostFile(TOOLS_FILE, properties(_of_tools(_password(directory, USER)))),
    )


def _of_tools(password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": TRUST_FILE,
        "sasl.mechanism": MECHANISM,
        "sasl.jaas.config": (
            f'org.apache.kafka.common.security.scram.ScramLoginModule required username="{USER}" password="{password}";'
        ),
    }


def _password(directory: Path, user: str) -> str:
    return (directory / LOGINS[user]).read_text("utf-8").strip()


def inventory(found: Inventory) -> Inventory:
    """Return ``found`` with the clients' settings; file names are relative to the inventory."""
    client = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": AUTHORITY,
        "sasl.mechanism": MECHANISM,
        "sasl.username": USER,
        "sasl.password": SecretRef(file=LOGINS[USER]),
    }
    probes = {"sasl.username": PROBES, "sasl.password": SecretRef(file=LOGINS[PROBES])}
    kafka = found.kafka.model_copy(update={"client_config": TOOLS_FILE})
    return found.model_copy(update={"client": client, "probe_client": probes, "kafka": kafka})


def admit(state: LabState, seats: Sequence[Seat]) -> None:
    """Register the users on the brokers of ``seats``, and wait until each accepts them; raises LabError."""
    passwords = {user: _password(state.directory, user) for user in LOGINS}
    namespace.inside(state.namespace, lambda: _admit(state.directory, seats, passwords))


def _admit(directory: Path, seats: Sequence[Seat], passwords: dict[str, str]) -> None:
    bootstrap = ",".join(f"{seat.address}:{REPLICATION_PORT}" for seat in seats)
    client = admin.AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    # mypy: this module documents them, but leaves them out of __all__
    how = admin.ScramCredentialInfo(admin.ScramMechanism.SCRAM_SHA_512, _ITERATIONS)  # type: ignore[attr-defined]
    users: list[admin.UserScramCredentialAlteration] = [  # type: ignore[name-defined]
        admin.UserScramCredentialUpsertion(user, how, password.encode("utf-8"))  # type: ignore[attr-defined]
        for user, password in passwords.items()
    ]
    end = time.monotonic() + _WITHIN
    register(client, users, end)
    for user, password in passwords.items():
        opened = security({
            "security.protocol": "SASL_SSL", "ssl.ca.location": str(directory / AUTHORITY), "sasl.mechanism": MECHANISM,
            "sasl.username": user, "sasl.password": password,
        })  # fmt: skip
        for seat in seats:
            _wait(Endpoint(f"broker {seat.broker}", seat.advertised, CLIENT_PORT, opened), end)


def register(
    client: admin.AdminClient,
    users: list[admin.UserScramCredentialAlteration],  # type: ignore[name-defined]
    end: float,
) -> None:
    """Register the users; raises LabError if the cluster does not take them until ``end``.

    A KRaft broker refuses them until it knows the cluster's metadata.version, which it learns after it listens.
    """
    while True:
        try:
            for asked in client.alter_user_scram_credentials(users).values():
                asked.result(_WITHIN)
        except (KafkaException, TimeoutError) as error:
            if time.monotonic() > end:
                names = ", ".join(user.user for user in users)
                raise LabError(f"the brokers do not take the users {names}: {error}") from error
            time.sleep(0.2)
        else:
            return


def _wait(place: Endpoint, end: float) -> None:
    with BrokerConnection(place, timeout=5.0) as link:
        while True:
            try:
                link.ask(metadata_request(()))
            except NoAnswer as error:
                if time.monotonic() > end:
                    raise LabError(f"{error}; look into its log: chaosk lab logs") from error
                time.sleep(0.1)
            else:
                return
