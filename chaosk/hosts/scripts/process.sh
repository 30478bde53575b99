# Find a server's process on this host; for service.sh and others.
#
# owned.sh comes before this. The file after this sets kind (systemd or script), place (a unit, or a pid file) and
# config (the process's configuration file, or empty if unknown).
#
# Process ids are reused, so an id counts only if the process is verified to be the server.
#
# shellcheck disable=SC2034,SC2154 # see above

# Exits with 2: the answer is unknown.
unasked() {
    echo "$*" >&2
    exit 2
}

# The id in systemd or in the pid file; empty if there is none.
named() {
    case $kind in
        systemd) systemctl show --property MainPID --value -- "$place" || unasked "systemd does not answer" ;;
        script) [ ! -f "$place" ] || head_of 20 "$place" | tr -cd 0-9 ;;
    esac
}

# The state letter of proc(5); the name in parentheses before it may contain any character.
letter() { sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat" 2>/dev/null; }

# Check that an argument of the command line is, or ends with, the configuration's file name.
uses_config() {
    tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | awk -v name="/${config##*/}" '
        substr("/" $0, length($0) + 2 - length(name)) == name { found = 1 }
        END { exit !found }'
}

# Start time of a process, in ticks since boot.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Seconds since boot; a run may move the wall clock.
up() { cut -d . -f 1 /proc/uptime; }

# Check that the process is not younger than its pid file. A tick is 10 ms on all architectures.
old_enough() {
    began=$(born "$1")
    [ -n "$began" ] && [ $(($(up) - began / 100 + 2)) -ge $(($(date +%s) - $(stat -c %Y "$place"))) ]
}

# The pid file of an account can only name processes of that account, except for root's file in a folder of root's. The
# owner of the file counts if no other account can replace it, otherwise the owner of the folder.
own_process() {
    roots_alone "$place" && return
    whose=${place%/*}
    ! roots_alone "$whose" || whose=$place
    [ "$(stat -c %u -- "$whose" 2>/dev/null)" = "$(stat -c %u -- "/proc/$1" 2>/dev/null)" ]
}

believed() {
    [ "$kind" = systemd ] || own_process "$1" || return 1
    case $kind:$config in
        systemd:*) true ;;
        script:) old_enough "$1" ;;
        script:*) uses_config "$1" ;;
    esac
}

# The program of a process, such as java; also if the program's file was replaced meanwhile.
runs_what() {
    it=$(readlink "/proc/$1/exe" 2>/dev/null)
    it=${it% (deleted)}
    echo "${it##*/}"
}

# The Java descendants of a process, with the configuration if that is known. A script around Java may be what the unit
# or the pid file names; Java can be frozen while the script runs, and the other way round.
java_below() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$1" '
        $1 == "Pid:" { it = $2 }
        $1 == "PPid:" { parent[it] = $2 }
        END { for (it in parent) {
            at = parent[it]
            for (deep = 0; at > 1 && at != root && deep < 20; deep++) at = parent[at]
            if (at == root) print it
        } }' | while read -r each; do
        [ "$(runs_what "$each")" = java ] && { [ -z "$config" ] || uses_config "$each"; } &&
            { [ "$kind" = systemd ] || own_process "$each"; } && echo "$each"
    done
}

# Sets pid to the id of the running process, or to nothing. A zombie does not count as running.
find_process() {
    pid=$(named) || exit
    case $pid in '' | 0) pid= && return ;; esac
    case $(letter "$pid") in '' | Z | X) pid= && return ;; esac
    believed "$pid" || { pid= && return; }
    [ "$(runs_what "$pid")" = java ] || {
        java=$(java_below "$pid")
        case $java in *[!0-9]*) unasked "process $pid has started several Java processes, and which is meant is not told" ;; esac
        pid=${java:-$pid}
    }
}

# Called before the process is stopped or killed under a lease. Without the mark, an undo at this moment would find the
# process running, and do nothing. A killed process ends at once, or was not killed.
mark_leaving() {
    [ -z "$CHAOSK_LEASE" ] || [ -z "$pid" ] ||
        echo "[$pid $(born "$pid")] $(cut -d ' ' -f 1 /proc/uptime) $1" >>"$CHAOSK_LEASE/leaving" || fail "cannot write $CHAOSK_LEASE/leaving"
}
