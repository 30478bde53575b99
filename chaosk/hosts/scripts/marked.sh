# Find processes by a mark in their environment, which their children inherit; for clock.sh and load.sh.

# The processes with the environment variable $1, NAME=VALUE.
marked() {
    grep -l -s -a -F -e "$1" /proc/[0-9]*/environ | sed 's|/proc/||; s|/environ||'
}

# Repeated, because a process may have started another one.
end_marked() {
    looks=0
    while found=$(marked "$1") && [ -n "$found" ]; do
        looks=$((looks + 1))
        [ $looks -lt 50 ] || fail "cannot be killed: $found"
        # shellcheck disable=SC2086 # numbers
        kill -s KILL $found 2>/dev/null
        sleep 0.1
    done
}
