# Check, signal, start or stop one server, as root: sh -c SCRIPT chaosk ACTION KIND PLACE CONFIG [ARGUMENT...]
#
#   ACTION  runs | gone PORT... | frozen | awake | signal NAME | signal-if-running NAME | kill | ended LEASE |
#           returned LEASE | start PORTS [FILE ARGV...] | stop [FILE ARGV...] | stop-from FOLDER [FILE ARGV...]; PORTS are
#           comma-separated, or empty; FILE is the program or script among ARGV
#   KIND    systemd (PLACE is a unit, without ARGV) | script (PLACE is a pid file)
#   CONFIG  the process's configuration file, or empty if unknown
#
# Under a lease (lease.sh names its folder in CHAOSK_LEASE) a stop records there which process it asked to end. That
# process may serve for minutes while it moves its leaderships away, so a start waits for its end first.
#
# A kill records the same before it is done. ended checks that the killed process is gone, and returned that another one
# runs that chaosk did not start.
#
# stop-from FOLDER stops it unless it is known to run from another installation of Kafka.
#
# process.sh, around.sh and jar.sh come before this.
#
# shellcheck disable=SC2034 # process.sh reads config

action=$1 kind=$2 place=$3 config=$4
shift 4

# Check that a process listens on a TCP port, at any address.
listens() {
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        awk -v port="$(printf %04X "$1")" '$4 == "0A" { n = split($2, at, ":"); if (at[n] == port) found = 1 }
            END { exit !found }'
}

leaving() {
    [ -n "$CHAOSK_LEASE" ] && awk -v it="[$1 $(born "$1")]" -v now="$(up)" '
        index($0, it " ") == 1 && ($4 != "killed" || now < $3 + 30) { found = 1 }
        END { exit !found }' "$CHAOSK_LEASE/leaving" 2>/dev/null
}

# The processes killed under a lease, as written by `mark_leaving`: [ID BORN] UPTIME killed.
killed_under() {
    case $1 in '' | *[!A-Za-z0-9._-]*) unasked "the lease $1" ;; esac
    cat "${CHAOSK_KEPT:-/var/lib/chaosk}/leases/$1/leaving" 2>/dev/null || unasked "the lease $1 has killed no process"
}

# Check that a process is one of those.
was_killed() {
    case $(killed_under "$2") in
        *"[$1 $(born "$1")]"*) true ;;
        *) false ;;
    esac
}

# Seconds from the first kill of a lease to the start of a process.
after_the_kill() {
    killed_under "$2" | head -n 1 | awk -v began="$(born "$1")" '{ printf "%.1f", began / 100 - $3 }'
}

# The reason why it is not restarted, as far as systemd knows.
why_down() {
    [ "$kind" = systemd ] || { echo "no process" && return; }
    systemctl show --property=ActiveState --property=Result --property=Restart --property=RestartUSec \
        --property=NRestarts -- "$place" 2>/dev/null | tr '\n' ' '
}

# Identifies the last start: systemd's invocation id, or inode and time of the pid file.
mark_of_start() {
    case $kind in
        systemd) it=$(systemctl show --property InvocationID --value -- "$place") ;;
        script) it=$([ -n "$(named)" ] && stat -c '%i.%y' -- "$place" | tr -d ' ') ;;
    esac
    [ -z "$it" ] || echo "mark start $it"
}

# Identifies a frozen process, with its context switches, which do not increase while it is frozen. Empty while one of
# its threads still runs.
mark_of_stop() {
    cat /proc/"$pid"/task/*/status 2>/dev/null | awk -v it="$pid.$(born "$pid")" '
        /^State:/ { threads++; if ($2 == "T") stopped++ }
        /ctxt_switches:/ { ran += $2 }
        END { if (threads && threads == stopped) print "mark stop " it "." ran }'
}

# The origin of a process, as far as known: its age, its parent, and its unit.
origin() {
    began=$(born "$1")
    [ -z "$began" ] || printf ', started %s s ago' $(($(up) - began / 100))
    parent=$(awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null)
    [ -z "$parent" ] || [ "$parent" = 0 ] || printf ' by process %s (%s)' "$parent" "$(cat "/proc/$parent/comm" 2>/dev/null)"
    unit=$place
    [ "$kind" = systemd ] ||
        unit=$(sed -n 's|.*/\([^/]*\.\(service\|scope\)\)$|\1|p' "/proc/$1/cgroup" 2>/dev/null | head -n 1)
    [ -z "$unit" ] || printf ', in %s' "$unit"
    restarts
}

# The restart policy of the unit, if it has one.
restarts() {
    case $unit in '' | *.scope) return ;; esac
    systemctl show --property=Restart --property=RestartUSec --property=NRestarts -- "$unit" 2>/dev/null | awk -F= '
        { is[$1] = $2 }
        END {
            if (is["Restart"] == "" || is["Restart"] == "no") exit
            printf ", which has Restart=%s and RestartSec=%s, and was started again %s times", is["Restart"], is["RestartUSec"], is["NRestarts"]
        }'
}

# The processes around this server during a kill, recorded by parent.sh, that still exist; the stopped one first.
starters() {
    cat "${CHAOSK_KEPT:-/var/lib/chaosk}"/leases/*/around 2>/dev/null | while read -r it began its; do
        [ "$its" != "$place" ] || [ "$(born "$it")" != "$began" ] || echo "$it"
    done
}

# A start ends a kill: held processes are resumed.
let_go() {
    for each in $(starters); do
        [ "$(letter "$each")" != T ] || kill -s CONT "$each"
    done
}

# A stopped shell around a server that was killed still has the dead server as its child.
is_held() { is_around "$pid" && [ "$(letter "$pid")" = T ]; }

# Runs an operator's program: as root if only root can replace its file, otherwise as the file's owner.
run_program() {
    file=$(command -v -- "$1") || file=$1
    shift
    if roots_alone "$file"; then
        "$@"
        return
    fi
    [ -e "$file" ] || fail "there is no $file"
    owner=$( (find_owner "$file" && echo "${owner%:*}") 2>/dev/null) ||
        fail "$file is root's, and another account can replace it: root does not run it"
    if [ "$(id -u)" != 0 ]; then
        "$@"
    elif group=$(id -g -- "$owner" 2>/dev/null); then
        setpriv --reuid "$owner" --regid "$group" --init-groups -- "$@"
    else
        as_account "$@"
    fi
}

start_once() {
    if [ "$kind" = systemd ]; then
        systemctl reset-failed -- "$place" 2>/dev/null # otherwise many kills count towards the start limit
        systemctl start -- "$place"
    else
        run_program "$@"
    fi
}

# Check that a started process stays: it listens on all ports, or lives for 20 s (ports may be mapped to others). A pid
# file may be written a moment after the start has returned.
stays() {
    looks=0 seen=
    while [ $looks -lt 40 ]; do
        looks=$((looks + 1))
        find_process
        if [ -n "$pid" ]; then
            seen=yes
            listens_on_all "$1" && return
        elif [ -n "$seen" ] || [ $looks -gt 6 ]; then
            return 1
        fi
        sleep 0.5
    done
}

listens_on_all() {
    for port in $(echo "$1" | tr , ' '); do
        listens "$port" || return 1
    done
}

# A killed broker that starts before its old ZooKeeper session has expired ends at once, and is started again. A running
# server is not started, unless it ends the same way.
start_until_it_stays() {
    ports=$1 tries=0
    shift
    let_go
    end=$(($(up) + 90)) await=$(($(up) + 30))
    while [ "$(up)" -lt $end ]; do
        find_process
        if [ -n "$pid" ] && leaving "$pid"; then
            sleep 0.5
            continue
        fi
        if [ -z "$pid" ] && [ "$(up)" -lt $await ] && [ -n "$(starters)" ]; then
            sleep 0.5 # they restart it; a start here would be a second one
            continue
        fi
        if [ -z "$pid" ]; then
            tries=$((tries + 1))
            start_once "$@" || fail "the start failed with $?"
        fi
        if stays "$ports"; then
            echo "process $pid, started $tries times"
            return
        fi
        sleep 1
    done
    [ -z "$pid" ] || ! leaving "$pid" || fail "process $pid was asked to stop, and has not ended yet"
    fail "started $tries times, and it ended each time; its log says why"
}

stop() {
    [ -n "$pid" ] || [ "$kind" = systemd ] || { echo "does not run" && exit 0; }
    mark_leaving asked
    [ "$kind" = script ] || exec systemctl stop -- "$place" # also if systemd is about to restart it
    run_program "$@"
}

find_process
case $action in
    runs)
        [ -n "$pid" ] || fail "no process"
        echo "process $pid, state $(letter "$pid")"
        ;;
    gone)
        [ -z "$pid" ] || is_held || fail "process $pid, state $(letter "$pid")$(origin "$pid")"
        for port; do
            ! listens "$port" || fail "no process, but someone listens on port $port"
        done
        echo "no process"
        mark_of_start
        ;;
    frozen)
        [ -n "$pid" ] || fail "no process"
        [ "$(letter "$pid")" = T ] || fail "process $pid, state $(letter "$pid")"
        echo "process $pid, state T"
        mark_of_stop
        ;;
    awake)
        [ -n "$pid" ] || fail "no process"
        [ "$(letter "$pid")" != T ] || fail "process $pid, state T"
        echo "process $pid, state $(letter "$pid")"
        ;;
    signal)
        [ -n "$pid" ] || fail "no process to signal"
        ! is_around "$pid" || fail "process $pid is no server, but $(runs_what "$pid") around one, and there is none below it"
        kill -s "$1" "$pid" && echo "process $pid got $1"
        ;;
    kill)
        [ -n "$pid" ] || fail "no process to kill"
        ! is_around "$pid" || fail "process $pid is no server, but $(runs_what "$pid") around one, and there is none below it"
        mark_leaving killed
        kill -s KILL "$pid" && echo "process $pid got KILL"
        ;;
    ended)
        [ -z "$pid" ] || ! was_killed "$pid" "$1" || fail "process $pid, state $(letter "$pid")"
        killed_under "$1" >/dev/null && echo "the process that was killed is gone"
        ;;
    returned)
        [ -n "$pid" ] || fail "$(why_down)"
        killed_under "$1" >/dev/null # fails if the lease has killed none: then none can have returned
        ! was_killed "$pid" "$1" || fail "process $pid, state $(letter "$pid")"
        ! is_around "$pid" || fail "process $pid is no server, but $(runs_what "$pid") around one, and there is none below it"
        case $(after_the_kill "$pid" "$1") in -*) fail "process $pid began before the kill" ;; esac
        echo "process $pid, started $(after_the_kill "$pid" "$1") s after the kill"
        ;;
    signal-if-running)
        [ -n "$pid" ] || exit 0
        kill -s "$1" "$pid" && echo "process $pid got $1"
        ;;
    start)
        start_until_it_stays "$@"
        ;;
    stop) stop "$@" ;;
    stop-from)
        jar=$([ -z "$pid" ] || clients_jar "$pid")
        [ -z "$jar" ] || below "$jar" "$1" || { echo "process $pid runs from $jar" && exit 0; }
        shift
        stop "$@"
        ;;
    *) fail "no such action: $action" ;;
esac
