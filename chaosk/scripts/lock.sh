# The right to experiment on a cluster, as held on this host, as root: sh -c SCRIPT chaosk ACTION [RUN [SECONDS [ABOUT]]]
#
#   take RUN SECONDS ABOUT   get it, unless another run has it; one that was not kept in time is taken over
#   keep RUN SECONDS         from now on it is held so long again; fails if it was lost meanwhile
#   leave RUN                give it back, if it is this run's
#   show                     ABOUT of who has it and the seconds left; nothing if nobody has
#
# Times are hundredths of a second since the host was booted; a lock from before the last boot is nobody's. A run that
# was halted (see lease.sh) neither gets nor keeps it, status 3, and has it no more.

home=/var/lib/chaosk
lock=$home/lock
action=$1 run=$2

fail() {
    printf '%s\n' "$*" >&2 # not echo: it would read backslashes in who has it
    exit 1
}

case $run in */* | . | ..) fail "no such run: $run" ;; esac # it is a file's name here

uptime() {
    read -r up _ </proc/uptime
    up=${up%.*}${up#*.}
    up=${up#"${up%%[!0]*}"} # a leading zero would make it octal
    echo "${up:-0}"
}

boot() { cat /proc/sys/kernel/random/boot_id; }
deadline() { echo $(($(uptime) + $(awk -v s="$1" 'BEGIN { printf "%d\n", s * 100 }'))); }

# Sets holder, left and about; holder is empty if nobody has it.
look() {
    holder='' until=0 booted='' about=''
    [ ! -e $lock ] || { read -r holder until booted && IFS= read -r about; } <$lock || holder=
    left=$((until - $(uptime)))
    if [ "$left" -le 0 ] || [ "$booted" != "$(boot)" ] || [ -e "$home/halted/$holder" ]; then holder=; fi
}

write() {
    printf '%s %s %s\n%s\n' "$run" "$(deadline "$1")" "$(boot)" "$2" >$lock.new || fail "cannot write $lock"
    mv $lock.new $lock || fail "cannot write $lock"
}

not_halted() {
    [ ! -e "$home/halted/$run" ] || { echo "the run $run was halted" >&2 && exit 3; }
}

umask 077
mkdir -p $home || fail "cannot make $home"
exec 9<$home || fail "cannot read $home"
flock -w 10 9 || fail "somebody else keeps $home locked"
look
case $action in
    take)
        not_halted
        [ -z "$holder" ] || [ "$holder" = "$run" ] ||
            fail "held by $about; its hold lasts $((left / 100)) s more unless it is renewed"
        write "$3" "$4"
        ;;
    keep)
        not_halted
        [ "$holder" = "$run" ] || fail "lost it${holder:+ to $about}"
        write "$3" "$about"
        ;;
    leave)
        [ "$holder" != "$run" ] || rm -f $lock || fail "cannot remove $lock"
        rm -f "$home/halted/$run"
        ;;
    show)
        [ -z "$holder" ] || printf '%s\n' "$holder $((left / 100)) $about"
        ;;
    *) fail "no such action: $action" ;;
esac
