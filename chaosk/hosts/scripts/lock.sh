# Hold the lock of a cluster on this host, as root: sh -c SCRIPT chaosk ACTION [RUN [SECONDS [ABOUT]]]
#
#   take RUN SECONDS ABOUT   get it, unless another run has it; one that was not kept in time is taken over
#   keep RUN SECONDS         from now on it is held so long again; fails if it was lost meanwhile
#   leave RUN                give it back, if it is this run's
#   show                     ABOUT of who has it and the seconds left; nothing if nobody has
#
# A lock from before the last boot is nobody's. A run that was halted (see lease.sh) neither gets nor keeps it, status 3,
# and has it no more.
#
# kept.sh comes before this.
#
# shellcheck disable=SC2154 # kept.sh sets kept

lock=$kept/lock
action=$1 run=$2
named "$run"

# Sets holder, left and about; holder is empty if nobody has it.
look() {
    holder='' until=0 booted='' about=''
    [ ! -e "$lock" ] || { read -r holder until booted && IFS= read -r about; } <"$lock" || holder=
    left=$((until - $(uptime)))
    if [ "$left" -le 0 ] || [ "$booted" != "$(boot)" ] || [ -e "$kept/halted/$holder" ]; then holder=; fi
}

write() {
    printf '%s %s %s\n%s\n' "$run" $(($(uptime) + $(hundredths "$1"))) "$(boot)" "$2" >"$lock.new" || fail "cannot write $lock"
    mv "$lock.new" "$lock" || fail "cannot write $lock"
}

umask 077
mkdir -p "$kept" || fail "cannot make $kept"
exec 9<"$kept" || fail "cannot read $kept"
flock -w 10 9 || fail "somebody else keeps $kept locked"
look
case $action in
    take)
        not_halted "$run"
        [ -z "$holder" ] || [ "$holder" = "$run" ] ||
            fail "held by $about; its hold lasts $((left / 100)) s more unless it is renewed"
        write "$3" "$4"
        ;;
    keep)
        not_halted "$run"
        [ "$holder" = "$run" ] || fail "the hold on the cluster ran out${holder:+, and $about has it}"
        write "$3" "$about"
        ;;
    leave)
        [ "$holder" != "$run" ] || rm -f "$lock" || fail "cannot remove $lock"
        rm -f "$kept/halted/$run"
        ;;
    show)
        [ -z "$holder" ] || printf '%s\n' "$holder $((left / 100)) $about"
        ;;
    *) fail "no such action: $action" ;;
esac
