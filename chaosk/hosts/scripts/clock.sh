# Move this host's wall clock, as root: sh -c SCRIPT chaosk ACTION ID [BOOT BY]
#
#   fits ID BOOT BY    check that it can be moved and restored
#   move ID BOOT BY    move it, or start a drift; repeating it moves it no further
#   moved ID BOOT BY   check that it is that far from its former course
#   restore ID         set it back to its former course
#   restored ID        check that there is nothing to restore
#
#   ID     ten hexadecimal digits
#   BOOT   the boot id of chaosk's machine, whose clock is never moved
#   BY     milliseconds, or for a drift millionths of elapsed time, such as 500ppm; negative is backwards
#
# A drifting clock is set about once a second by a process that ends with its lease (lease.sh names the lease's folder
# in CHAOSK_LEASE). adjtimex(2) would make it drift more evenly, but would also change the pace of the time since boot,
# which leases and the undo depend on.
#
# A note records how far the wall clock is ahead of the time since boot. So it can be restored at any later time, also
# if another program has set it meanwhile. After a reboot nothing is restored: the kernel has read the hardware clock,
# which was not moved.
#
# A clock belongs to a kernel. If this host shares its kernel with chaosk's machine, or is a container on another
# machine, every move is refused.
#
# kept.sh and marked.sh come before this.
#
# shellcheck disable=SC2154 # kept.sh sets kept

action=$1 id=$2 chaosk_boot=$3 by=$4
named "$id"
note=$kept/clocks/$id
near=30 # tolerance in milliseconds
felt=100 # milliseconds that a drift has to reach before it counts as seen
case $by in *ppm) ppm=${by%ppm} ;; *) ppm= ;; esac

# Fails unless the clock is this host's alone. The numbers are those of the first namespaces of every kernel
# (linux/proc_ns.h); other numbers mean a container.
alone() {
    case $chaosk_boot in
        ????????-????-????-????-????????????) ;;
        *) fail "which machine chaosk runs on is unknown, and its clock must not be moved" ;;
    esac
    here=$(boot) || fail "the boot id cannot be read"
    case $here in
        ????????-????-????-????-????????????) ;;
        *) fail "the boot id cannot be read" ;;
    esac
    [ "$here" != "$chaosk_boot" ] ||
        fail "this host has its kernel, and so its clock, in common with the machine that chaosk runs on"
    for space in pid:4026531836 uts:4026531838 ipc:4026531839 user:4026531837; do
        [ "$(readlink "/proc/self/ns/${space%:*}")" = "${space%:*}:[${space#*:}]" ] ||
            fail "this host is a container: its clock is that of the machine around it"
    done
}

# A time service would correct the clock at once, or take the jump for an error of its own.
kept_by_nobody() {
    for process in /proc/[0-9]*/comm; do
        read -r name <"$process" 2>/dev/null || continue
        case $name in
            chronyd | ntpd | ntpdate | systemd-timesyn* | ptp4l | phc2sys | vmtoolsd | VBoxService | qemu-ga)
                fail "$name runs here and may set the clock: stop it for the experiment, or leave the step out"
                ;;
        esac
    done
}

# Sets up to the hundredths of a second since boot, without a child process, which would take too long.
look_up() {
    read -r up _ </proc/uptime
    up=${up%.*}${up#*.}
    up=${up#"${up%%[!0]*}"}
}

# Sets ahead to the milliseconds by which the wall clock is ahead of the time since boot, which has a resolution of ten.
# Of up to four measurements the fastest counts.
look() {
    looks=0 best=1000000 ahead=
    while [ $looks -lt 4 ] && [ $best -gt 2 ]; do
        looks=$((looks + 1))
        look_up
        before=$up
        wall=$(date +%s%N)
        look_up
        case $wall in '' | *[!0-9]*) fail "date does not tell nanoseconds here" ;; esac
        [ $((up - before)) -lt $best ] || continue
        best=$((up - before)) ahead=$((wall / 1000000 - (before + up) * 5))
    done
    [ -n "$ahead" ] || fail "the clock cannot be read"
}

far() { [ "$1" -gt "$near" ] || [ "$1" -lt "-$near" ]; }

# Sets the clock that far ahead. After the first try the start-up time of date is known. On a busy host an error
# of a second is accepted from the eighth try on.
set_ahead() {
    takes=0 tries=0
    look
    while off=$(($1 - ahead)) && far "$off"; do
        tries=$((tries + 1))
        [ $tries -ne 8 ] || near=1000
        [ $tries -le 20 ] || fail "it is still $off ms off"
        [ $tries -eq 1 ] || takes=$((takes + off))
        look_up
        to=$((up * 10 + $1 + takes))
        date -s "@$((to / 1000)).$(printf %03d $((to % 1000)))" >/dev/null || fail "date cannot set it"
        look
    done
}

# All processes that make it drift.
drifting() { marked "CHAOSK_CLOCK=$id"; }

# Arguments: milliseconds ahead at the start, the start in hundredths of a second since boot, and ppm.
# shellcheck disable=SC2016 # the process expands it
drift='
while sh "$CHAOSK_LEASE/lease" left "${CHAOSK_LEASE##*/}" >/dev/null 2>&1; do
    read -r up _ </proc/uptime
    up=${up%.*}${up#*.}
    up=${up#"${up%%[!0]*}"}
    to=$((up * 10 + $1 + (up - $2) * $3 / 100000))
    date -s "@$((to / 1000)).$(printf %03d $((to % 1000)))" >/dev/null || exit 1
    sleep 1
done'

start_drifting() {
    [ -n "$CHAOSK_LEASE" ] || fail "a drift without a lease would not end"
    end_marked "CHAOSK_CLOCK=$id"
    CHAOSK_CLOCK=$id setsid sh -c "$drift" chaosk-clock "$ahead_before" "$since" "$ppm" </dev/null >/dev/null 2>&1 &
}

was() {
    read -r booted ahead_before since <"$note" || fail "the clock was not moved"
    [ "$booted" = "$(boot)" ] || fail "the host was booted since"
}

fits() {
    alone
    kept_by_nobody
    [ ! -e "$note" ] || fail "its clock is moved already"
    look
    echo "the wall clock is $ahead ms ahead of the time since boot"
}

move() {
    alone
    kept_by_nobody
    [ -e "$note" ] || {
        look
        look_up
        (umask 077; mkdir -p "${note%/*}" && echo "$(boot) $ahead $up" >"$note.new" && sync -- "$note.new" &&
            mv "$note.new" "$note") || fail "cannot write $note"
    }
    was
    if [ -n "$ppm" ]; then start_drifting; else set_ahead $((ahead_before + by)); fi
}

moved() {
    was
    look
    off=$((ahead - ahead_before)) should=$by near=2000
    if [ -n "$ppm" ]; then
        [ -n "$(drifting)" ] || fail "nothing makes it drift any more"
        [ $((off * ppm)) -ge $((felt * ${ppm#-})) ] || fail "it is only $off ms from where it was yet"
        look_up
        should=$(((up - since) * ppm / 100000))
    fi
    ! far $((off - should)) || fail "it is $off ms from where it was, not $should"
    echo "it is $off ms from where it was"
}

restore() {
    end_marked "CHAOSK_CLOCK=$id"
    [ -e "$note" ] || return 0
    read -r booted ahead_before _ <"$note" || fail "cannot read $note"
    if [ "$booted" = "$(boot)" ]; then set_ahead "$ahead_before"; fi
    rm -f -- "$note" || fail "cannot remove $note"
}

case $action in
    fits | move | moved | restore) "$action" ;;
    restored)
        [ -z "$(drifting)" ] || fail "it still drifts"
        [ ! -e "$note" ] || fail "it is not put back"
        ;;
    *) fail "no such action: $action" ;;
esac
