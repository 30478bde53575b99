"""A client's properties, as Java's clients take them, translated to librdkafka's settings for an inventory.

Secrets become references. Their values serve the discovery itself, and are written nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaosk.cluster import oauthbearer
from chaosk.cluster.security import MECHANISMS, PROTOCOLS, only_by
from chaosk.core.errors import ChaoskError, PreflightError, UsageError
from chaosk.discovery import keystores, token_properties
from chaosk.discovery.findings import Findings, Learned, Remark, Unlearned
from chaosk.discovery.java_properties import Property, load
from chaosk.spec.secrets import Secret

_MODULE = re.compile(
    r"\s*(?P<module>[\w.]+)\s+(?:required|requisite|sufficient|optional)\b(?P<options>.*?);?\s*", re.DOTALL
)
_OPTION = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s;]+))""")
_NO_CONFIG = (
    "client_config is not known, the client.properties of Kafka's own tools on the hosts: steps that use them need it, "
    "like set_broker_config and deny_access"
)
_STORES = ("ssl.truststore.", "ssl.keystore.")
_LOGIN_MODULES = ("PlainLoginModule", "ScramLoginModule", "OAuthBearerLoginModule")
_SAME = ("security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "ssl.ca.location",
         "ssl.certificate.location", "ssl.key.location", "enable.ssl.certificate.verification")  # fmt: skip
"""Settings that keep name and value."""
_HANDLED = (
    "sasl.jaas.config",
    *token_properties.HANDLED,
    "sasl.password",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "bootstrap.servers",
)


@dataclass(slots=True)
class ClientTranslation:
    """The settings of clients for an inventory, and those for the discovery itself."""

    findings: Findings = field(default_factory=Findings)
    settings: dict[str, str] = field(default_factory=dict)
    """librdkafka's settings, secrets resolved: pass them to a connection, and to no code that writes."""
    secrets: dict[str, Secret] = field(default_factory=dict)
    """By environment variable, the secret that the inventory refers to."""
    bootstrap: str | None = None
    problem: str | None = None
    """Why nothing can be connected with these settings; None if it can."""

    def require(self) -> Mapping[str, str]:
        """Return the settings for a connection; raises PreflightError if they do not suffice."""
        if self.problem is not None:
            raise PreflightError(self.problem)
        return self.settings


def translated(path: Path, pem: Path | None) -> ClientTranslation:
    """Translate a file; ``pem``: the folder for converted key stores, None to ask for PEM files instead.

    Raises UsageError for logins that chaosk does not support.
    """
    return _Translator(path, load(path), pem).run()


class _Translator:
    """Collects the translation of one file."""

    def __init__(self, path: Path, given: Mapping[str, Property], pem: Path | None) -> None:
        self._path, self._given, self._pem = path, given, pem
        self._facts: list[Learned] = []
        self._questions: list[Unlearned] = []
        self._result = ClientTranslation()

    def run(self) -> ClientTranslation:
        given = self._given
        self._refuse()
        for name in _SAME:
            if name in given and given[name].text:
                self._set(name, self._near(name), name)
        self._login()
        self._endpoint()
        self._trust()
        self._identify()
        if "bootstrap.servers" in given:
            self._result.bootstrap = given["bootstrap.servers"].text
        known = (*_SAME, *_HANDLED)
        left = [name for name in given if name not in known and not name.startswith(_STORES)]
        remarks = [
            Remark(("client",), f"left out of {self._path}, because connecting needs none of it: {', '.join(left)}")
        ]
        remarks = remarks if left else []
        if self._text("security.protocol").upper() not in {"", "PLAINTEXT"}:
            remarks.append(Remark(("kafka",), _NO_CONFIG))
        self._result.findings = Findings(tuple(self._facts), tuple(self._questions), tuple(remarks))
        return self._result

    def _text(self, name: str) -> str:
        return self._given[name].text if name in self._given else ""

    def _near(self, name: str) -> str:
        """Return a value; a file name is resolved against the folder of the properties."""
        text = self._text(name)
        return str((self._path.parent / Path(text).expanduser()).absolute()) if name.endswith(".location") else text

    def _source(self, name: str) -> str:
        return f"{name}, {self._path}:{self._given[name].line}"

    def _set(self, name: str, value: str, of: str) -> None:
        self._facts.append(Learned(("client", name), value, self._source(of)))
        self._result.settings[name] = value

    def _fail(self, name: str, what: str) -> UsageError:
        return UsageError(f"{self._path}:{self._given[name].line}: {name}: {what}")

    def _refuse(self) -> None:
        protocol = self._text("security.protocol") or "PLAINTEXT"
        if protocol.lower() not in PROTOCOLS:
            raise self._fail(
                "security.protocol", f"there is no {protocol}; write one of {', '.join(PROTOCOLS).upper()}"
            )
        if not protocol.lower().startswith("sasl"):
            return
        name, mechanism = self._mechanism()
        if mechanism not in MECHANISMS:
            raise self._fail(
                name, f"{only_by(mechanism)}; name the properties of a client whose listener takes one of them"
            )  # fmt: skip

    def _mechanism(self) -> tuple[str, str]:
        """Return the setting that names the mechanism, and the mechanism."""
        name = next((one for one in ("sasl.mechanism", "sasl.mechanisms") if one in self._given), "security.protocol")
        return name, (self._text(name) if name != "security.protocol" else "GSSAPI").upper()

    def _login(self) -> None:
        if self._mechanism()[1] == "OAUTHBEARER" and self._text("security.protocol").lower().startswith("sasl"):
            self._by_token()
            return
        password, of = self._text("sasl.password"), "sasl.password"
        if text := self._text("sasl.jaas.config"):
            of = "sasl.jaas.config"
            options = self._options(text)
            if user := options.get("username"):
                self._set("sasl.username", user, of)
            password = options.get("password", "")
        if password:
            self._refer("sasl.password", Secret(password), of)
        elif self._text("security.protocol").lower().startswith("sasl"):
            self._questions.append(
                Unlearned(("client", "sasl.password"), "where is the password? Write {env: NAME} or {file: PATH}")
            )
            self._result.problem = f"{self._path}: has no password in sasl.jaas.config; chaosk cannot log in without"

    def _by_token(self) -> None:
        text = self._text("sasl.jaas.config")
        options = self._options(text) if text else {}
        given = {name: one.text for name, one in self._given.items()}
        for name, what in token_properties.mistakes(given):
            raise self._fail(name if name in given else self._mechanism()[0], what)
        self._set(oauthbearer.METHOD, "oidc", self._mechanism()[0])
        for name, (value, of) in token_properties.translated(given, options).items():
            if name == oauthbearer.CLIENT_SECRET:
                self._refer(name, Secret(value), of)
            else:
                self._set(name, value, of)
        for name, asks in token_properties.QUESTIONS.items():
            if name not in self._result.settings:
                self._questions.append(Unlearned(("client", name), asks))
                self._result.problem = f"{self._path}: says no {name}; chaosk cannot log in without"
        self._trust_token_server(options)

    def _trust_token_server(self, options: Mapping[str, str]) -> None:
        """Translate the trust store that the login module has for the token server alone."""
        if (location := options.get("ssl.truststore.location")) is None:
            return
        name, of = oauthbearer.CA, "sasl.jaas.config"
        store = (self._path.parent / Path(location).expanduser()).absolute()
        if self._pem is None:
            asks = f"a PEM file of the certificates in {store}; name --pem FOLDER, where chaosk writes it"
            self._questions.append(Unlearned(("client", name), asks))
            self._result.problem = f"{self._path}:{self._given[of].line}: {of}: ssl.truststore.location: name --pem"
            return
        try:
            text = keystores.certificates(store, options.get("ssl.truststore.password", ""))
        except ChaoskError as error:
            self._unconverted(name, of, f"a PEM file of the token server's authority; {error}")
            return
        self._set_file(name, "token-ca.pem", text, of)

    def _options(self, text: str) -> dict[str, str]:
        found = _MODULE.fullmatch(text)
        if found is None:
            raise self._fail(
                "sasl.jaas.config", "is no login module with its options; write it as Kafka's documentation does"
            )
        module = found["module"].rpartition(".")[2]
        if module not in _LOGIN_MODULES:
            raise self._fail(
                "sasl.jaas.config", f"chaosk cannot log in by {module}, only by {', '.join(_LOGIN_MODULES)}"
            )
        options = {
            one[1]: re.sub(r"\\(.)", r"\1", one[2]) if one[2] is not None else one[3] if one[3] is not None else one[4]
            for one in _OPTION.finditer(found["options"])
        }
        if any(value.startswith("${") for value in options.values()):
            raise self._fail(
                "sasl.jaas.config",
                "refers to a provider of secrets, which chaosk does not have; write the values into a copy",
            )
        return options

    def _refer(self, name: str, secret: Secret, of: str) -> None:
        variable = f"CHAOSK_{name.upper().replace('.', '_')}"
        self._facts.append(
            Learned(("client", name, "env"), variable, f"{self._source(of)}; export {variable} before a run")
        )
        self._result.settings[name] = secret.reveal()
        self._result.secrets[variable] = secret

    def _endpoint(self) -> None:
        name = "ssl.endpoint.identification.algorithm"
        if name in self._given:
            self._set(name, self._text(name) or "none", name)

    def _trust(self) -> None:
        of = "ssl.truststore.location"
        if not self._text(of):
            if self._text("ssl.truststore.certificates"):
                self._questions.append(
                    Unlearned(
                        ("client", "ssl.ca.location"),
                        "which PEM file has the certificates of ssl.truststore.certificates?",
                    )
                )
            elif self._text("security.protocol").lower().endswith("ssl") and "ssl.ca.location" not in self._given:
                self._facts.append(
                    Learned(
                        ("client", "ssl.ca.location"),
                        "probe",
                        f"{self._path} names no truststore: that of this machine",
                    )
                )
            return
        store = Path(self._near(of))
        try:
            text = keystores.certificates(store, self._text("ssl.truststore.password"))
        except ChaoskError as error:
            self._unconverted("ssl.ca.location", of, f"a PEM file of the authority's certificate; {error}")
            return
        self._result.settings["ssl.ca.pem"] = text
        if self._pem is None:
            self._unconverted_store("ssl.ca.location", of)
        else:
            self._set_file("ssl.ca.location", "ca.pem", text, of)
            del self._result.settings["ssl.ca.pem"]

    def _identify(self) -> None:
        of = "ssl.keystore.location"
        if not self._text(of):
            if self._text("ssl.key.password") and self._text("ssl.key.location"):
                self._refer("ssl.key.password", Secret(self._text("ssl.key.password")), "ssl.key.password")
            return
        store = Path(self._near(of))
        try:
            pair = keystores.key_pair(store, self._text("ssl.keystore.password"), self._text("ssl.key.password"))
        except ChaoskError as error:
            self._unconverted("ssl.certificate.location", of, f"a PEM file of the client's certificate; {error}")
            self._questions.append(Unlearned(("client", "ssl.key.location"), "a PEM file of the client's key"))
            return
        if self._pem is None:
            self._unconverted_store("ssl.certificate.location", of)
            self._questions.append(
                Unlearned(("client", "ssl.key.location"), "the client's key as a PEM file, as above")
            )
            self._result.problem = (
                f"{self._path}: {of}: is a key store of Java's; name --pem FOLDER, where chaosk writes it as PEM"
            )
            return
        self._set_file("ssl.certificate.location", "client.pem", pair.certificates, of)
        self._set_file("ssl.key.location", "client.key", pair.key, of)

    def _set_file(self, name: str, file: str, text: str, of: str) -> None:
        if self._pem is None:
            return
        path = self._pem / file
        keystores.write_private(path, text)
        self._set(name, str(path.absolute()), of)

    def _unconverted_store(self, name: str, of: str) -> None:
        self._questions.append(
            Unlearned(
                ("client", name),
                f"{self._near(of)} is a key store of Java's, and chaosk takes PEM files; name --pem FOLDER, where it "
                "writes them, or write the path of yours",
            )
        )

    def _unconverted(self, name: str, of: str, what: str) -> None:
        self._questions.append(Unlearned(("client", name), what))
        self._result.problem = f"{self._path}:{self._given[of].line}: {of}: {what}"
