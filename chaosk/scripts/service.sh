# One server process on this host, as root: sh -c SCRIPT chaosk ACTION KIND PLACE CONFIG [ARGUMENT...]
#
#   ACTION  runs | gone PORT... | frozen | awake | signal NAME | signal-if-running NAME |
#           start PORTS [ARGV...] | stop [ARGV...]; PORTS are comma-separated, or nothing
#   KIND    systemd (PLACE is a unit, and there is no ARGV) | script (PLACE is a pid file)
#   CONFIG  the process's configuration file, or nothing if it is not known
#
# A process id is believed only if the process is the one it was written down for: process ids are used again.
#
# Under a lease (lease.sh names its folder in CHAOSK_LEASE) a stop leaves there which process it asked to end. That one
# may serve for minutes yet, while it hands its leaderships over, but it will be gone: a start waits for its end first.

action=$1 kind=$2 place=$3 config=$4
shift 4

fail() {
    echo "$*" >&2
    exit 1
}

# The id that systemd or the pid file names; nothing if none.
named() {
    case $kind in
        systemd) systemctl show --property MainPID --value -- "$place" || fail "systemd does not answer" ;;
        script) [ ! -e "$place" ] || head -c 20 "$place" | tr -cd 0-9 ;;
    esac
}

# The letter of a process's state in proc(5); its name, in parentheses before it, may hold anything.
letter() { sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat" 2>/dev/null; }

# A word of the command line is, or ends with, the configuration's file name.
uses_config() {
    tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | awk -v name="/${config##*/}" '
        substr("/" $0, length($0) + 2 - length(name)) == name { found = 1 }
        END { exit !found }'
}

# When a process began, in ticks since the boot.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Seconds since the process began are not fewer than since the pid file was written. A tick is 10 ms everywhere.
old_enough() {
    began=$(born "$1")
    up=$(cut -d . -f 1 /proc/uptime)
    [ -n "$began" ] && [ $((up - began / 100 + 2)) -ge $(($(date +%s) - $(stat -c %Y "$place"))) ]
}

believed() {
    case $kind:$config in
        systemd:*) true ;;
        script:) old_enough "$1" ;;
        script:*) uses_config "$1" ;;
    esac
}

# Sets pid to the id of the running process, or to nothing. A zombie does not run.
find_process() {
    pid=$(named) || exit 1
    case $pid in '' | 0) pid= && return ;; esac
    case $(letter "$pid") in '' | Z | X) pid= && return ;; esac
    believed "$pid" || pid=
}

# Whether anyone listens on a TCP port, whatever the address.
listens() {
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        awk -v port="$(printf %04X "$1")" '$4 == "0A" { n = split($2, at, ":"); if (at[n] == port) found = 1 }
            END { exit !found }'
}

# Before it is asked to stop: without the mark a lease that runs out now would find it running, and be content.
mark_leaving() {
    [ -z "$CHAOSK_LEASE" ] || [ -z "$pid" ] || echo "[$pid $(born "$pid")]" >>"$CHAOSK_LEASE/leaving" ||
        fail "cannot write $CHAOSK_LEASE/leaving"
}

leaving() {
    case $([ -z "$CHAOSK_LEASE" ] || cat "$CHAOSK_LEASE/leaving" 2>/dev/null) in
        *"[$1 $(born "$1")]"*) true ;;
        *) false ;;
    esac
}

start_once() {
    if [ "$kind" = systemd ]; then
        systemctl reset-failed -- "$place" 2>/dev/null # or too many kills count as a start limit
        systemctl start -- "$place"
    else
        "$@"
    fi
}

# Whether a process that was just started stays: it listens on all ports, or lives for 20 s (its ports may be mapped to
# others). A pid file may be written a moment after the start has returned.
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

# A broker that was killed ends at once when it is started before its old session with ZooKeeper has expired: the start
# is then tried again. What runs already is not started, unless it ends the same way.
start_until_it_stays() {
    ports=$1 tries=0
    shift
    end=$(($(date +%s) + 90))
    while [ "$(date +%s)" -lt $end ]; do
        find_process
        if [ -n "$pid" ] && leaving "$pid"; then
            sleep 0.5
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

find_process
case $action in
    runs)
        [ -n "$pid" ] || fail "no process"
        echo "process $pid, state $(letter "$pid")"
        ;;
    gone)
        [ -z "$pid" ] || fail "process $pid, state $(letter "$pid")"
        for port; do
            ! listens "$port" || fail "no process, but someone listens on port $port"
        done
        echo "no process"
        ;;
    frozen)
        [ -n "$pid" ] || fail "no process"
        [ "$(letter "$pid")" = T ] || fail "process $pid, state $(letter "$pid")"
        echo "process $pid, state T"
        ;;
    awake)
        [ -n "$pid" ] || fail "no process"
        [ "$(letter "$pid")" != T ] || fail "process $pid, state T"
        echo "process $pid, state $(letter "$pid")"
        ;;
    signal)
        [ -n "$pid" ] || fail "no process to signal"
        kill -s "$1" "$pid" && echo "process $pid got $1"
        ;;
    signal-if-running)
        [ -n "$pid" ] || exit 0
        kill -s "$1" "$pid" && echo "process $pid got $1"
        ;;
    start)
        start_until_it_stays "$@"
        ;;
    stop)
        [ -n "$pid" ] || [ "$kind" = systemd ] || { echo "does not run" && exit 0; }
        mark_leaving
        [ "$kind" = script ] || exec systemctl stop -- "$place" # also where systemd is about to start it again
        exec "$@"
        ;;
    *) fail "no such action: $action" ;;
esac
