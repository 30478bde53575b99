# Files that chaosk keeps on this host between two commands, and their clock; for lease.sh, lock.sh and others.
#
# Times are hundredths of a second since the host was booted, so setting its clock moves nothing.

# On the machine that chaosk runs on, CHAOSK_KEPT names the folder: its account need not be root, and has several clusters.
kept=${CHAOSK_KEPT:-/var/lib/chaosk}

fail() {
    printf '%s\n' "$*" >&2 # not echo: it would read backslashes
    exit 1
}

# Held against before it becomes the name of a file.
named() { case $1 in */* | . | ..) fail "no such id: $1" ;; esac }

uptime() {
    read -r up _ </proc/uptime
    up=${up%.*}${up#*.}
    up=${up#"${up%%[!0]*}"} # a leading zero would make it octal
    echo "${up:-0}"
}

boot() { cat /proc/sys/kernel/random/boot_id; }

# Whole and decimal seconds to hundredths.
hundredths() { awk -v s="$1" 'BEGIN { printf "%d\n", s * 100 }'; }

not_halted() {
    [ ! -e "$kept/halted/$1" ] || { echo "the run $1 was halted" >&2 && exit 3; }
}
