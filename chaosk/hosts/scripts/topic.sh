# Create a topic again, as root: sh -c SCRIPT chaosk ACTION
#
#   fits HOME CONFIG
#   make HOME CONFIG SERVERS TOPIC REPLICAS SETTING...
#   there HOME CONFIG SERVERS TOPIC PARTITIONS
#
# HOME is Kafka's, CONFIG a file of client properties or empty, SERVERS are brokers as host:port, comma-separated.
# REPLICAS are the brokers of each partition, such as 0:1:2,1:2:0; a SETTING is NAME=VALUE. An existing topic of that
# name is not changed. tool.sh comes before this.
#
# shellcheck disable=SC2034 # tool.sh reads tool

action=$1 tool=$2/bin/kafka-topics.sh config=$3

topics() {
    set -- --bootstrap-server "$servers" "$@"
    [ -z "$config" ] || set -- "$@" --command-config "$config"
    as_owner "$@"
}

make() {
    for setting; do
        shift
        set -- "$@" --config "$setting"
    done
    said=$(topics --create --if-not-exists --topic "$topic" --replica-assignment "$replicas" "$@" 2>&1) ||
        fail "$(printf '%s\n' "$said" | head -n 3)"
}

there() {
    said=$(topics --describe --topic "$topic" 2>&1) || fail "$(printf '%s\n' "$said" | head -n 3)"
    found=$(printf '%s\n' "$said" | sed -n 's/.*Partition: [0-9]*.*Leader: [0-9].*/x/p' | grep -c x)
    [ "$found" = "$1" ] || fail "$topic has $found partitions with a leader, not $1"
    echo "$topic has $found partitions, each with a leader"
}

case $action in
    fits) fits ;;
    make)
        [ $# -ge 6 ] || fail "no topic"
        servers=$4 topic=$5 replicas=$6
        shift 6
        make "$@"
        ;;
    there)
        [ $# = 6 ] || fail "no topic"
        servers=$4 topic=$5
        there "$6"
        ;;
    *) fail "no such action: $action" ;;
esac
