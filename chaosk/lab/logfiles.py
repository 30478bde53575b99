"""Logging of Kafka's processes: without a log4j file they log nothing, and a broker's log is evidence. Pure.

Kafka 3.x and ZooKeeper use log4j 1, Kafka 4.x log4j 2, both configured by properties files.
"""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.lab import jars
from chaosk.lab.service import HostFile

_FOLDER = "/opt/kafka/config"

_SERVER_1 = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File={log}
log4j.appender.file.MaxFileSize=50MB
log4j.appender.file.MaxBackupIndex=4
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
"""

_TOOLS_1 = """log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""

_SERVER_2 = """rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={log}
appender.file.filePattern={log}.%i
appender.file.policies.type=SizeBasedTriggeringPolicy
appender.file.policies.size=50MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=4
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c)%n
"""

_TOOLS_2 = """rootLogger.level=WARN
rootLogger.appenderRef.stderr.ref=stderr
appender.stderr.type=Console
appender.stderr.name=stderr
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True, slots=True)
class Logging:
    """One version of log4j."""

    option: str
    """Java's option for the path of the file, with ``{at}`` in place of the path."""
    suffix: str
    server: str
    tools: str

    def at(self, name: str) -> str:
        """Return Java's option for the process ``name``."""
        return self.option.format(at=f"{_FOLDER}/{name}-{self.suffix}")

    def of_server(self, name: str, log: str) -> HostFile:
        """Return the file of the server ``name``, which logs to ``log``."""
        return HostFile(f"{_FOLDER}/{name}-{self.suffix}", self.server.format(log=log))

    def of_tools(self) -> HostFile:
        """Return the file of all tools: warnings, on standard error."""
        return HostFile(f"{_FOLDER}/tools-{self.suffix}", self.tools)


LOG4J_1 = Logging("-Dlog4j.configuration=file:{at}", "log4j.properties", _SERVER_1, _TOOLS_1)
LOG4J_2 = Logging("-Dlog4j2.configurationFile={at}", "log4j2.properties", _SERVER_2, _TOOLS_2)


def logging_of(version: str) -> Logging:
    """Return the log4j version of a version of Kafka."""
    return LOG4J_1 if jars.major(version) < 4 else LOG4J_2
