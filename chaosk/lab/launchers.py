"""The scripts in /opt/kafka/bin, which Maven does not provide. Pure.

Kafka's tools have their usual names; ``kafka-start`` and the others control the services.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chaosk.lab import jars, unit
from chaosk.lab.logfiles import Logging, logging_of
from chaosk.lab.service import HostFile

BIN = "/opt/kafka/bin"
BROKER = "kafka.Kafka"
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
STORAGE = "kafka.tools.StorageTool"
"""The main classes of the services, and of the tool that formats storage for KRaft."""

MAKE_ARCHIVE = f"{BIN}/make-class-archive"
ARCHIVE = "/var/lib/kafka-classes.jsa"
"""The script, and the path on its host where it writes the archive."""
CLASSES = "kafka-classes.jsa"
"""The archive's file name beside the jars."""

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
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test.sh": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-storage.sh": "kafka.tools.StorageTool",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions.sh": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-verifiable-consumer.sh": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-verifiable-producer.sh": "org.apache.kafka.tools.VerifiableProducer",
}
"""Kafka 3.9's tools: the main class behind each name."""

TOOLS_4: Mapping[str, str] = {
    **TOOLS,
    "kafka-acls.sh": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
}
"""Kafka 4's tools."""

_RUN_CLASS = """#!/bin/sh
# Runs a class of Kafka or ZooKeeper. C1 and the serial collector: small and quick to start, not fast for hours. Nobody
# reads the JVM's own counters, for which it asks the time as it loads each class: a system call on virtual machines.
: "${{KAFKA_HEAP_OPTS=-Xmx256m}}"
: "${{KAFKA_JVM_PERFORMANCE_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData}}"
: "${{KAFKA_LOG4J_OPTS={log4j}}}"
# Not '*' for Java to spell out: it takes a folder in whatever order it comes, and the archive is for one order only.
jars=$(LC_ALL=C && export LC_ALL && printf ':%s' /opt/kafka/libs/*.jar)
archive=/opt/kafka/libs/{classes}
if [ -r "$archive" ] && [ -z "${{KAFKA_NO_ARCHIVE-}}" ]; then
  # If it does not fit this Java, Java goes without it, and says so only where nobody parses.
  KAFKA_JVM_PERFORMANCE_OPTS="$KAFKA_JVM_PERFORMANCE_OPTS -XX:SharedArchiveFile=$archive -Xshare:auto"
  KAFKA_JVM_PERFORMANCE_OPTS="$KAFKA_JVM_PERFORMANCE_OPTS -Xlog:disable -Xlog:all=error:stderr"
fi
exec /opt/java/bin/java $KAFKA_HEAP_OPTS $KAFKA_JVM_PERFORMANCE_OPTS $KAFKA_LOG4J_OPTS ${{KAFKA_OPTS-}} \\
  -Djava.awt.headless=true -cp "${{jars#:}}" "$@"
"""

_MAKE_ARCHIVE = """#!/bin/sh
# Writes {archive}: the classes that {what} load, ready for use.
# They are learned from one of each, on loopback and ports of their own; nothing of the host's services is touched.
set -euf
work=$(mktemp -d)
cd "$work"
export KAFKA_NO_ARCHIVE=yes KAFKA_HEAP_OPTS=-Xmx256m
learn() {{
  list=$1
  shift
  KAFKA_OPTS="-Xshare:off -XX:DumpLoadedClassList=$list" exec {bin}/kafka-run-class.sh "$@" >"$list.out" 2>&1
}}
{begin}
learn two {broker} server.properties &
broker=$!
status=0
(learn three {tool} --bootstrap-server 127.0.0.1:19092 --create --topic x) || status=$?
kill "$broker"
wait "$broker" || true
{end}
[ "$status" = 0 ] || {{ tail -n 3 three.out >&2; exit "$status"; }}
sort -u one two three >all
KAFKA_OPTS="-Xshare:dump -XX:SharedClassListFile=all -XX:SharedArchiveFile=classes.jsa -Xlog:disable"
KAFKA_OPTS="$KAFKA_OPTS" {bin}/kafka-run-class.sh >dump.out 2>&1 || {{ tail -n 3 dump.out >&2; exit 1; }}
chmod 644 classes.jsa
mv classes.jsa {archive}
cd /
rm -rf "$work"
"""

_BEGIN_ZOOKEEPER = f"""printf '%s\\n' dataDir=zookeeper clientPort=12181 admin.enableServer=false >zoo.cfg
printf '%s\\n' broker.id=0 zookeeper.connect=127.0.0.1:12181 listeners=PLAINTEXT://127.0.0.1:19092 \\
  log.dirs=kafka offsets.topic.replication.factor=1 >server.properties
learn one {ZOOKEEPER} zoo.cfg &
zookeeper=$!"""

_END_ZOOKEEPER = """kill "$zookeeper"
wait "$zookeeper" || true"""

_BEGIN_KRAFT = f"""printf '%s\\n' node.id=0 process.roles=broker,controller \\
  controller.quorum.voters=0@127.0.0.1:19093 listeners=PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093 \\
  controller.listener.names=CONTROLLER log.dirs=kafka offsets.topic.replication.factor=1 >server.properties
(learn one {STORAGE} format --cluster-id AAAAAAAAAAAAAAAAAAAAAQ --config server.properties)"""

_TOOL = """#!/bin/sh
exec {bin}/kafka-run-class.sh {words} "$@"
"""

_START = """#!/bin/sh
# Starts {name} unless it runs, and returns; whether it answers is for the caller to ask.
set -eu
[ "$(id -u)" = 0 ] || exec sudo -n "$0"
exec 9>/run/kafka/{name}.lock
flock 9
pid=$(cat /run/kafka/{begun}.pid 2>/dev/null || true)
if [ -n "$pid" ] && grep -qsF {shown} "/proc/$pid/cmdline"; then
  exit 0
fi
cd /
ulimit -n "$(ulimit -H -n)"
export KAFKA_HEAP_OPTS=-Xmx{heap}
export KAFKA_LOG4J_OPTS={log4j}
{prepare}# A session and streams of its own: it outlives the SSH session that started it.
setsid {runs} </dev/null >>/var/log/{name}/{name}.out 2>&1 9>&- &
echo $! >/run/kafka/{begun}.pid.new
mv /run/kafka/{begun}.pid.new /run/kafka/{begun}.pid
"""

_SERVER = """setpriv --reuid kafka --regid kafka --init-groups \\
  {bin}/kafka-run-class.sh {main} /opt/kafka/config/{config}"""

_LOOP = """#!/bin/sh
# Runs {name}, and again five seconds after it has crashed, as a unit with Restart=on-failure and RestartSec=5 is run.
while :; do
  {server} &
  echo $! >/run/kafka/{name}.pid.new
  mv /run/kafka/{name}.pid.new /run/kafka/{name}.pid
  status=0
  wait "$!" || status=$?
  # What a JVM says that was asked to end by SIGTERM
  case $status in 0 | 143) exit 0 ;; esac
  sleep 5
done
"""

_STOP = """#!/bin/sh
# Asks {name} to end cleanly, or else a loop that waits to start it, and returns at once; nothing to do without either.
set -eu
[ "$(id -u)" = 0 ] || exec sudo -n "$0"
ask() {{
  pid=$(cat "/run/kafka/$1.pid" 2>/dev/null || true)
  [ -n "$pid" ] && grep -qsF "$2" "/proc/$pid/cmdline" && kill -TERM "$pid"
}}
ask {name} {main} || ask {name}-loop {name}-loop || true
"""

_FORMAT = """# Only the first time: a log directory that is lost later stays so, as an operator would find it.
if [ ! -e /var/lib/{name}-formatted ]; then
  setpriv --reuid kafka --regid kafka --init-groups {bin}/kafka-run-class.sh {storage} format \\
    --ignore-formatted --cluster-id {cluster} --config /opt/kafka/config/{config} >>/var/log/{name}/{name}.out 2>&1
  touch /var/lib/{name}-formatted
fi
"""


def tools(version: str) -> tuple[HostFile, ...]:
    """Return Kafka's own tools under their usual names, with shared files, for one version of Kafka."""
    three = jars.major(version) < 4
    shell = {"zookeeper-shell.sh": "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka -server"}
    named = {**TOOLS, **shell} if three else TOOLS_4
    launchers = (HostFile(f"{BIN}/{name}", _TOOL.format(bin=BIN, words=words), 0o755) for name, words in named.items())
    logging = logging_of(version)
    return (
        HostFile(f"{BIN}/kafka-run-class.sh", _RUN_CLASS.format(log4j=logging.at("tools"), classes=CLASSES), 0o755),
        HostFile(MAKE_ARCHIVE, _make_archive(with_zookeeper=three), 0o755),
        logging.of_tools(),
        *launchers,
    )


def _make_archive(*, with_zookeeper: bool) -> str:
    return _MAKE_ARCHIVE.format(
        bin=BIN,
        archive=ARCHIVE,
        broker=BROKER,
        tool=TOOLS["kafka-topics.sh"],
        what="ZooKeeper, a broker and a tool" if with_zookeeper else "a broker and a tool",
        begin=_BEGIN_ZOOKEEPER if with_zookeeper else _BEGIN_KRAFT,
        end=_END_ZOOKEEPER if with_zookeeper else "",
    )


@dataclass(frozen=True, slots=True)
class Control:
    """The scripts that start and stop a service on its host."""

    name: str
    """The prefix of its scripts, ``NAME-start`` and ``NAME-stop``, and the name of its folder in /var/log."""
    main: str
    """Its main class."""
    config: str
    """The name of its file in /opt/kafka/config."""
    heap: str
    log: str
    logging: Logging
    cluster: str | None = None
    """In KRaft, the cluster id that its storage is formatted with."""

    def files(self, *, again: bool = False) -> tuple[HostFile, ...]:
        """Return its scripts and logging configuration; ``again``: in a loop that restarts it after a crash."""
        words = {"bin": BIN, "name": self.name, "main": self.main, "config": self.config, "heap": self.heap}
        words["log4j"] = self.logging.at(self.name)
        words["prepare"] = _FORMAT.format(**words, storage=STORAGE, cluster=self.cluster) if self.cluster else ""
        words["server"] = _SERVER.format(**words)
        loop = f"{self.name}-loop"
        begun = {"begun": loop, "shown": loop, "runs": f"{BIN}/{loop}"}
        alone = {"begun": self.name, "shown": self.main, "runs": words["server"]}
        words |= begun if again else alone
        scripts = {"start": _START, "stop": _STOP} | ({"loop": _LOOP} if again else {})
        return (
            *(
                HostFile(f"{BIN}/{self.name}-{what}", text.format(**words), 0o755, only="hosts")
                for what, text in scripts.items()
            ),
            *self._unit(words),
            self.logging.of_server(self.name, self.log),
        )

    def _unit(self, words: Mapping[str, str]) -> tuple[HostFile, ...]:
        """Return its systemd unit, and the script that prepares its start, if there is one."""
        script = f"{BIN}/{self.name}-prepare" if words["prepare"] else None
        text = unit.text(self.name, self.main, self.config, self.heap, words["log4j"], prepare=script)
        found = (HostFile(f"{unit.DIRECTORY}/{self.name}.service", text, only="vms"),)
        if script is None:
            return found
        return (*found, HostFile(script, f"#!/bin/sh\nset -eu\n{words['prepare']}", 0o755, only="vms"))
