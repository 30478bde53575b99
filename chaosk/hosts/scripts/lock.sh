# Hold the lock of a cluster on this host, as root: sh -c SCRIPT chaosk ACTION [RUN [SECONDS [ABOUT]]]
#
#   take RUN SECONDS ABOUT   get it, unless another run has it; an expired one is taken over
#   keep RUN SECONDS         renew it for so many seconds; fails if another run has it
#   leave RUN                release it, if it is this run's
#   show                     ABOUT of the holder and the seconds left; empty without a holder
#
# A lock from before the last boot has expired. A run that was halted (see lease.sh) loses it, and can neither take nor
# keep it (status 3).
#
# kept.sh comes before this.
#
# shellcheck disable=SC2154 # kept.sh sets kept

lock=$kept/lock
action=$1 run=$2
named "$run"

# Sets holder, left and about; holder is empty if it is free.
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
