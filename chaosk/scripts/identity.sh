# Whether a server's process is the server that the inventory calls so: sh -c SCRIPT chaosk is KIND PLACE CONFIG NUMBER
# PORTS [FOLDER...], as root
#
#   KIND, PLACE and CONFIG say which process, as for service.sh
#   NUMBER   its node id, by its configuration and by the meta.properties of each FOLDER; or nothing
#   PORTS    comma-separated; where anybody listens on one, it has to be this process. Nobody may: ports can be mapped
#   FOLDER   a data directory: this process has to have its lock
#
# It only looks. What the process's account can replace is read as that account.
#
# owned.sh and process.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # they read kind, place and config, and set pid

action=$1 kind=$2 place=$3 config=$4 number=$5 ports=$6
[ "$action" = is ] || fail "no such action: $action"
shift 6

# What a file of properties says under the names node.id and broker.id; nothing if it cannot be read.
number_in() {
    owner=$(stat -c %u -- "$1" 2>/dev/null) || return 0
    as_account timeout 5 head -c 1000000 -- "$1" 2>/dev/null | awk '
        { sub(/^[ \t]+/, ""); line = $0 }
        line ~ /^(node|broker)\.id[ \t]*[=:]/ { sub(/^[^=:]*[=:][ \t]*/, "", line); sub(/[ \t\r]*$/, "", line); print line }' |
        tr -cd '0-9\n-' | sort -u
}

numbered() {
    [ -n "$number" ] || return 0
    found=$(number_in "$1" | tr '\n' ' ')
    case " $found" in
        ' ' | ' -1 ' | " $number ") ;;
        *) fail "$1 is of node ${found% }, and the inventory calls this one $number" ;;
    esac
}

# The sockets on which anybody in the process's network listens on a port, by inode.
listening() {
    cat "/proc/$pid/net/tcp" "/proc/$pid/net/tcp6" 2>/dev/null | awk -v port="$(printf %04X "$1")" '
        $4 == "0A" { n = split($2, at, ":"); if (at[n] == port) print $10 }'
}

# The processes, by id, that have one of these sockets.
owners_of() {
    for each in /proc/[0-9]*; do
        # shellcheck disable=SC2012 # names of sockets, and one program for all of them
        ls -l "$each/fd" 2>/dev/null | awk -v wanted=" $1 " '
            match($0, /socket:\[[0-9]+\]/) && index(wanted, " " substr($0, RSTART + 8, RLENGTH - 9) " ") { found = 1 }
            END { exit !found }' && echo "${each#/proc/}"
    done
}

find_process
[ -n "$pid" ] || fail "no process"
[ -z "$config" ] || numbered "$config"
for port in $(echo "$ports" | tr , ' '); do
    sockets=$(listening "$port" | tr '\n' ' ')
    [ -n "$sockets" ] || continue
    owners=$(owners_of "$sockets" | tr '\n' ' ')
    case " $owners" in
        ' ' | *" $pid "*) ;;
        *) fail "on port $port process ${owners% } ($(runs_what "${owners%% *}")) listens, and $place is process $pid ($(runs_what "$pid"))" ;;
    esac
done
for folder; do
    numbered "$folder/meta.properties"
    lock=$(stat -c %d:%i -- "$folder/.lock" 2>/dev/null) || fail "$folder has no .lock: it is no data directory of a server that runs"
    stat -L -c %d:%i -- "/proc/$pid/fd/"* 2>/dev/null | grep -q -x "$lock" || fail "process $pid has no lock on $folder"
done
echo "process $pid"
