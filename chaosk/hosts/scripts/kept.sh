# Files that chaosk keeps on this host between two commands, and their clock; for lease.sh, lock.sh and others.
#
# Times are hundredths of a second since boot, so changes of the wall clock have no effect.

# On the machine that runs chaosk, CHAOSK_KEPT names the folder: chaosk's account need not be root, and may have several
# clusters.
kept=${CHAOSK_KEPT:-/var/lib/chaosk}

# Validates a word before it becomes a file name.
named() { case $1 in */* | . | ..) fail "no such id: $1" ;; esac }

uptime() {
    read -r up _ </proc/uptime
    up=${up%.*}${up#*.}
    up=${up#"${up%%[!0]*}"} # a leading zero would make it octal
    echo "${up:-0}"
}

boot() { cat /proc/sys/kernel/random/boot_id; }

# Converts whole or decimal seconds to hundredths.
hundredths() { awk -v s="$1" 'BEGIN { printf "%d\n", s * 100 }'; }

not_halted() {
    [ ! -e "$kept/halted/$1" ] || { echo "the run $1 was halted" >&2 && exit 3; }
}
