# Check that a server's process is the one in the inventory: sh -c SCRIPT chaosk is KIND PLACE CONFIG NUMBER
# PORTS [FOLDER...], as root
#
#   KIND, PLACE and CONFIG identify the process, as for service.sh
#   NUMBER   its node id in its configuration and in the meta.properties of each FOLDER; or empty
#   PORTS    comma-separated; only this process may listen on them. A port without listener is allowed: it may be mapped
#   FOLDER   a data directory that this process has to have locked
#
# The script changes nothing. It reads files as the process's own account, whatever that account has put there.
#
# owned.sh and process.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 kind=$2 place=$3 config=$4 number=$5 ports=$6
[ "$action" = is ] || fail "no such action: $action"
shift 6

# The last value of node.id and of broker.id in a properties file, by Java's rules, if it is a number. A value from a
# variable is unknown. Empty if the process's account cannot read the file.
number_in() {
    as_account timeout 5 head -c 1000000 -- "$1" 2>/dev/null | awk '
        { line = pending $0; pending = "" }
        line ~ /\\$/ { sub(/\\$/, "", line); pending = line; next }
        { sub(/^[ \t]+/, "", line) }
        line ~ /^(node|broker)\.id[ \t]*[=:]/ {
            key = substr(line, 1, index(line, ".") - 1)
            sub(/^[^=:]*[=:][ \t]*/, "", line)
            sub(/[ \t\r]*$/, "", line)
            is[key] = line
        }
        END { for (key in is) if (is[key] ~ /^-?[0-9]+$/) print is[key] + 0 }' | sort -u
}

# --override on the command line wins over the file.
numbered() {
    [ -n "$number" ] || return 0
    ! tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -x -E -e '(node|broker)\.id=.*' || return 0
    found=$(number_in "$1" | tr '\n' ' ')
    case " $found" in
        ' ' | ' -1 ' | " $number ") ;;
        *) fail "$1 is of node ${found% }, and the inventory calls this one $number" ;;
    esac
}

# The listening sockets on a port in the network namespace of the process, by inode.
listening() {
    cat "/proc/$pid/net/tcp" "/proc/$pid/net/tcp6" 2>/dev/null | awk -v port="$(printf %04X "$1")" '
        $4 == "0A" { n = split($2, at, ":"); if (at[n] == port) print $10 }'
}

# Of some processes, by id, those that have one of the sockets $1; checked by a single program.
owners_of() {
    wanted=$1
    shift
    # shellcheck disable=SC2012 # names of sockets
    ls -l "$@" 2>/dev/null | awk -v wanted=" $wanted" '
        /^\/proc\// { split($0, at, "/"); it = at[3] }
        match($0, / -> socket:\[[0-9]+\]$/) && index(wanted, " " substr($0, RSTART + 12, RLENGTH - 13) " ") && !told[it]++ { print it }'
}

find_process
[ -n "$pid" ] || fail "no process"
[ "$(runs_what "$pid")" = java ] || fail "$place is process $pid, which is $(runs_what "$pid") and no Java, and there is none below it"
owner=$(stat -c %u -- "/proc/$pid" 2>/dev/null) || fail "process $pid has ended"
[ -z "$config" ] || numbered "$config"
for port in $(echo "$ports" | tr , ' '); do
    sockets=$(listening "$port" | tr '\n' ' ')
    if [ -z "$sockets" ] || [ -n "$(owners_of "$sockets" "/proc/$pid/fd" /proc/self/fd)" ]; then continue; fi
    others=$(owners_of "$sockets" /proc/[0-9]*/fd | tr '\n' ' ')
    [ -z "$others" ] ||
        fail "on port $port process ${others% } ($(runs_what "${others%% *}")) listens, and $place is process $pid ($(runs_what "$pid"))"
done
for folder; do
    numbered "$folder/meta.properties"
    lock=$(stat -c %d:%i -- "$folder/.lock" 2>/dev/null) || fail "$folder has no .lock: it is no data directory of a server that runs"
    find -L "/proc/$pid/fd" -maxdepth 1 -inum "${lock#*:}" -exec stat -L -c %d:%i {} + 2>/dev/null | grep -q -x "$lock" ||
        fail "process $pid has no lock on $folder"
done
echo "process $pid"
