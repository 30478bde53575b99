# Change settings of brokers, and quotas and rights of clients, as root: sh -c SCRIPT chaosk ACTION
#
#   fits HOME CONFIG
#   change HOME CONFIG SERVERS BROKER USER CLIENT SETTING...
#   grant|withdraw HOME CONFIG SERVERS KIND NAME PERMISSION PRINCIPAL OPERATION
#
# HOME is Kafka's, CONFIG a file of client properties or empty, SERVERS are brokers as host:port, comma-separated. The
# settings are those of BROKER, an id, or of the clients of USER, of CLIENT (a client.id), or of both; unused ones are
# empty. A SETTING is NAME=VALUE to set it, NAME to remove it; removing an unset one succeeds. grant adds and withdraw
# removes one ACL of a topic, a group or a transactional_id, KIND and NAME; PERMISSION is allow or deny. Kafka's
# kafka-configs.sh and kafka-acls.sh do it, as the account that owns them. tool.sh and configs.sh come before this.
#
# shellcheck disable=SC2034 # configs.sh reads broker, user and client

action=$1 tool=$2/bin/kafka-configs.sh config=$3
case $action in grant | withdraw) tool=$2/bin/kafka-acls.sh ;; esac

# The operation in the tool's spelling. Removing a missing ACL succeeds with the tool.
acl() {
    how=$1 kind=$2 name=$3 permission=$4 principal=$5
    case $6 in all) operation=All ;; read) operation=Read ;; write) operation=Write ;; describe) operation=Describe ;; *) fail "no such operation: $6" ;; esac
    case $kind in topic | group) ;; transactional_id) kind=transactional-id ;; *) fail "no such kind: $kind" ;; esac
    case $permission in allow | deny) ;; *) fail "no such permission: $permission" ;; esac
    set -- --bootstrap-server "$servers" "$how" --force "--$kind" "$name" --resource-pattern-type literal
    [ -z "$config" ] || set -- "$@" --command-config "$config"
    said=$(as_owner "$@" "--$permission-principal" "$principal" --operation "$operation" 2>&1) ||
        fail "$(printf '%s\n' "$said" | head -n 3)"
}

case $action in
    fits) fits ;;
    grant | withdraw)
        [ $# -eq 9 ] || fail "not one ACL"
        servers=$4 how=--add
        [ "$action" = grant ] || how=--remove
        shift 4
        acl "$how" "$@"
        ;;
    change)
        [ $# -ge 8 ] || fail "no settings"
        servers=$4 broker=$5 user=$6 client=$7
        shift 7
        change "$@"
        ;;
    *) fail "no such action: $action" ;;
esac
