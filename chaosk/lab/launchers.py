"""The scripts in /opt/kafka/bin: Maven brings the jars without them. Pure.

Kafka's tools come under the names operators know; ``kafka-start`` and the others control the services.
"""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.lab import unit
from chaosk.lab.service import HostFile

BIN = "/opt/kafka/bin"
BROKER = "kafka.Kafka"
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
"""The main classes of the services."""

MAKE_ARCHIVE = f"{BIN}/make-class-archive"
ARCHIVE = "/var/lib/kafka-classes.jsa"
"""The script, and where on its host it leaves the archive."""

TOOLS: Mapping[str, str] = {
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-broker-api-versions.sh": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-cluster.sh": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer.sh": "kafka.tools.ConsoleProducer",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-delete-records.sh": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log.sh": "kafka.tools.DumpLogSegments",
    "kafka-features.sh": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-leader-election.sh": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs.sh": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-producer-perf-test.sh": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions.sh": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-verifiable-consumer.sh": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-verifiable-producer.sh": "org.apache.kafka.tools.VerifiableProducer",
}
"""Kafka 3.9's tools: the main class behind each name."""

_RUN_CLASS = """#!/bin/sh
# Runs a class of Kafka or ZooKeeper. C1 and the serial collector: small and quick to start, not fast for hours.
: "${KAFKA_HEAP_OPTS=-Xmx256m}"
: "${KAFKA_JVM_PERFORMANCE_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1}"
: "${KAFKA_LOG4J_OPTS=-Dlog4j.configuration=file:/opt/kafka/config/tools-log4j.properties}"
archive=/opt/kafka/libs/classes.jsa
if [ -r "$archive" ] && [ -z "${KAFKA_NO_ARCHIVE-}" ]; then
  # If it does not fit this Java, Java goes without it, and says so only where nobody parses.
  KAFKA_JVM_PERFORMANCE_OPTS="$KAFKA_JVM_PERFORMANCE_OPTS -XX:SharedArchiveFile=$archive -Xshare:auto"
  KAFKA_JVM_PERFORMANCE_OPTS="$KAFKA_JVM_PERFORMANCE_OPTS -Xlog:disable -Xlog:all=error:stderr"
fi
exec /opt/java/bin/java $KAFKA_HEAP_OPTS $KAFKA_JVM_PERFORMANCE_OPTS $KAFKA_LOG4J_OPTS ${KAFKA_OPTS-} \\
  -Djava.awt.headless=true -cp '/opt/kafka/libs/*' "$@"
"""

_MAKE_ARCHIVE = """#!/bin/sh
# Writes {archive}: the classes that ZooKeeper, a broker and a tool load, ready for use.
# They are learned from one of each, on loopback and ports of their own; nothing of the host's services is touched.
set -euf
work=$(mktemp -d)
cd "$work"
export KAFKA_NO_ARCHIVE=yes KAFKA_HEAP_OPTS=-Xmx256m
printf '%s\\n' dataDir=zookeeper clientPort=12181 admin.enableServer=false >zoo.cfg
printf '%s\\n' broker.id=0 zookeeper.connect=127.0.0.1:12181 listeners=PLAINTEXT://127.0.0.1:19092 \\
  log.dirs=kafka offsets.topic.replication.factor=1 >server.properties
learn() {{
  list=$1
  shift
  KAFKA_OPTS="-Xshare:off -XX:DumpLoadedClassList=$list" exec {bin}/kafka-run-class.sh "$@" >"$list.out" 2>&1
}}
learn one {zookeeper} zoo.cfg &
zookeeper=$!
learn two {broker} server.properties &
broker=$!
status=0
(learn three {tool} --bootstrap-server 127.0.0.1:19092 --create --topic x) || status=$?
kill "$broker"
wait "$broker" || true
kill "$zookeeper"
wait "$zookeeper" || true
[ "$status" = 0 ] || {{ tail -n 3 three.out >&2; exit "$status"; }}
sort -u one two three >all
KAFKA_OPTS="-Xshare:dump -XX:SharedClassListFile=all -XX:SharedArchiveFile=classes.jsa -Xlog:disable"
KAFKA_OPTS="$KAFKA_OPTS" {bin}/kafka-run-class.sh >dump.out 2>&1 || {{ tail -n 3 dump.out >&2; exit 1; }}
chmod 644 classes.jsa
mv classes.jsa {archive}
cd /
rm -rf "$work"
"""

_TOOL = """#!/bin/sh
exec {bin}/kafka-run-class.sh {words} "$@"
"""

_START = """#!/bin/sh
# Starts {name} unless it runs, and returns; whether it answers is for the caller to ask.
set -eu
[ "$(id -u)" = 0 ] || exec sudo -n "$0"
exec 9>/run/kafka/{name}.lock
flock 9
pid=$(cat /run/kafka/{name}.pid 2>/dev/null || true)
if [ -n "$pid" ] && grep -qsF {main} "/proc/$pid/cmdline"; then
  exit 0
fi
cd /
ulimit -n "$(ulimit -H -n)"
export KAFKA_HEAP_OPTS=-Xmx{heap}
export KAFKA_LOG4J_OPTS=-Dlog4j.configuration=file:/opt/kafka/config/{name}-log4j.properties
# A session and streams of its own: it outlives the SSH session that started it.
setsid setpriv --reuid kafka --regid kafka --init-groups \\
  {bin}/kafka-run-class.sh {main} /opt/kafka/config/{config} </dev/null >>/var/log/{name}/{name}.out 2>&1 9>&- &
echo $! >/run/kafka/{name}.pid.new
mv /run/kafka/{name}.pid.new /run/kafka/{name}.pid
"""

_STOP = """#!/bin/sh
# Asks {name} to end cleanly, and returns at once; nothing to do if it does not run.
set -eu
[ "$(id -u)" = 0 ] || exec sudo -n "$0"
pid=$(cat /run/kafka/{name}.pid 2>/dev/null || true)
if [ -n "$pid" ] && grep -qsF {main} "/proc/$pid/cmdline"; then
  kill -TERM "$pid"
fi
"""

_SERVER_LOG = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File={log}
log4j.appender.file.MaxFileSize=50MB
log4j.appender.file.MaxBackupIndex=4
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
"""

_TOOLS_LOG = """log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


def tools() -> tuple[HostFile, ...]:
    """Kafka's own tools under their usual names, and what they share."""
    learned = {"zookeeper": ZOOKEEPER, "broker": BROKER, "tool": TOOLS["kafka-topics.sh"]}
    shell = {"zookeeper-shell.sh": "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka -server"}
    named = {**TOOLS, **shell}
    launchers = (HostFile(f"{BIN}/{name}", _TOOL.format(bin=BIN, words=words), 0o755) for name, words in named.items())
    return (
        HostFile(f"{BIN}/kafka-run-class.sh", _RUN_CLASS, 0o755),
        HostFile(MAKE_ARCHIVE, _MAKE_ARCHIVE.format(bin=BIN, archive=ARCHIVE, **learned), 0o755),
        HostFile("/opt/kafka/config/tools-log4j.properties", _TOOLS_LOG),
        *launchers,
    )


def control(name: str, main: str, config: str, heap: str, log: str) -> tuple[HostFile, ...]:
    """What starts and stops a service whose main class is ``main``, scripts or a unit, and how it logs."""
    words = {"bin": BIN, "name": name, "main": main, "config": config, "heap": heap}
    return (
        HostFile(f"{BIN}/{name}-start", _START.format(**words), 0o755, only="hosts"),
        HostFile(f"{BIN}/{name}-stop", _STOP.format(**words), 0o755, only="hosts"),
        HostFile(f"{unit.DIRECTORY}/{name}.service", unit.text(name, main, config, heap), only="vms"),
        HostFile(f"/opt/kafka/config/{name}-log4j.properties", _SERVER_LOG.format(log=log)),
    )
