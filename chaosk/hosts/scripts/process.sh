# Find a server's process on this host; for service.sh and others.
#
# owned.sh comes before this. What comes after this sets kind (systemd or script), place (a unit, or a pid file) and
# config (the process's configuration file, or nothing if it is not known).
#
# A process id is believed only if the process is the one it was written down for: process ids are used again.
#
# shellcheck disable=SC2034,SC2154 # see above

fail() {
    echo "$*" >&2
    exit 1
}

# Neither yes nor no.
unasked() {
    echo "$*" >&2
    exit 2
}

# The id that systemd or the pid file names; nothing if none.
named() {
    case $kind in
        systemd) systemctl show --property MainPID --value -- "$place" || unasked "systemd does not answer" ;;
        script) [ ! -f "$place" ] || head_of 20 "$place" | tr -cd 0-9 ;;
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

# Seconds since the boot: the wall clock may be what a run moves.
up() { cut -d . -f 1 /proc/uptime; }

# Seconds since the process began are not fewer than since the pid file was written. A tick is 10 ms everywhere.
old_enough() {
    began=$(born "$1")
    [ -n "$began" ] && [ $(($(up) - began / 100 + 2)) -ge $(($(date +%s) - $(stat -c %Y "$place"))) ]
}

# An account can name processes of its own in its pid file, and no others: only root's file, in a folder of root's, can.
# Whose the file is counts where nobody else can put another one in its place; else whose the folder is.
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

# What a process runs: java, of a server as it should be; also where its program was replaced under it.
runs_what() {
    it=$(readlink "/proc/$1/exe" 2>/dev/null)
    it=${it% (deleted)}
    echo "${it##*/}"
}

# The Java processes that one has started, or one of those has, with the configuration if that is known: where a script
# around Java is what the unit or the pid file names, which goes on while that is frozen, and is frozen while that goes on.
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

# Sets pid to the id of the running process, or to nothing. A zombie does not run.
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

# Before the process is asked to stop, or killed, under a lease: without the mark a lease that runs out now would find it
# running, and be content.
# What was to be killed is gone at once, or was not killed.
mark_leaving() {
    [ -z "$CHAOSK_LEASE" ] || [ -z "$pid" ] ||
        echo "[$pid $(born "$pid")] $(cut -d ' ' -f 1 /proc/uptime) $1" >>"$CHAOSK_LEASE/leaving" || fail "cannot write $CHAOSK_LEASE/leaving"
}
