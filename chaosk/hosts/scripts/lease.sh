# Keep leases on this host, each with an undo and a timer, as root: sh -c SCRIPT chaosk ACTION [ID [ARGUMENT...]]
#
#   arm ID SECONDS <BUNDLE   store an undo here and start its timer: on expiry the host heals itself
#   renew ID RUN SECONDS AFTER   restart the time to expiry, also of parts that the kernel times out; then as looks
#   under ID RUN ARGV...     run a command if the lease is alive; the timer's undo waits for it
#   undoing ID ARGV...       run a command of the undo, with or without a live lease; waits for the timer's undo
#   heal ID                  undo and check now, as the timer would
#   disarm ID                delete it; its fault must be undone
#   halt RUN                 refuse all further injections of this run, with status 3
#   list                     all leases on this host, one line each
#   left ID                  hundredths of a second until it expires; fails if it is not alive
#   looks ID AFTER           the checks of the fault after that number; deletes those up to it
#   watch ID                 the timer itself
#   look ID                  the process that checks the fault while it is in place
#
# BUNDLE is five texts, each after a line with its number of lines: this script, about (one line of JSON), undo, check,
# look. Undo, check and look are shell scripts. The exit status of check is 0 once everything is undone. Each line of
# look is `told NUMBER COMMAND`, a check that the fault is in place.
#
# A command that runs under a lease, or undoes it, finds the lease's folder in CHAOSK_LEASE. If it leaves a shell script
# `renewed` there, each renewal runs it with the new hundredths of a second, and fails if it fails.
#
# The folder survives a reboot. The timer does not, but the pending undo can be read there.
#
# kept.sh comes before this.
#
# shellcheck disable=SC2154 # kept.sh sets kept

home=$kept/leases
action=$1 id=$2
dir=$home/$id
named "$id"

# Replaces a small file atomically.
put() {
    printf '%s\n' "$2" >"$1.new" || fail "cannot write $1"
    mv "$1.new" "$1" || fail "cannot write $1"
}

left() { echo $(($(cat "$dir/deadline") - $(uptime))); }

# Check that a process of the lease exists. Ids are reused, so its command line has to name the lease.
is_there() { [ -n "$2" ] && tr '\0' ' ' 2>/dev/null <"/proc/$2/cmdline" | grep -q -F "$1 $id "; }

ticks() { timer=$(cat "$dir/timer" 2>/dev/null) && is_there watch "$timer"; }

alive() {
    [ -d "$dir" ] || fail "there is no lease $id on this host"
    case $(cat "$dir/healed" 2>/dev/null) in
        *request) fail "somebody had this host healed (chaosk heal)" ;;
    esac
    [ ! -e "$dir/healed" ] || fail "the lease $id ran out, and the host healed itself"
    [ "$(cat "$dir/boot")" = "$(boot)" ] || fail "the host was booted since the lease $id was armed"
    if [ -e "$dir/expired" ] || [ "$(left)" -le 0 ]; then fail "the lease $id has run out"; fi
    ticks || fail "the timer of the lease $id is gone"
}

# Takes the lock of the lease's folder; child processes never inherit it.
locked() {
    exec 9<"$dir" || fail "there is no lease $id on this host"
    flock -w "$1" 9 || fail "somebody else is undoing $id, for $1 s by now"
}

# --- arming -------------------------------------------------------------------------------------------------------

# Splits the bundle into files, by a single program: starting one takes half a second on a busy virtual machine, and the
# shell's `read` makes a system call for each byte. A bundle that ends within a line has no line "end".
take() {
    { cat && echo end; } >"$dir/bundle" || fail "cannot write $dir/bundle"
    bytes=$(cd "$dir" && LC_ALL=C awk '
        BEGIN { split("lease about undo check look", name) }
        left { print >name[part]; left--; bytes += length($0) + 1; next }
        part < 5 && /^[0-9]+$/ { left = $0 + 0; printf "" >name[++part]; next }
        { bad = bad || part < 5 || $0 != "end" || over++ }
        END { printf "%d", bytes; exit bad || left || !over }' bundle) || fail "the bundle is cut short, or the disk is full"
    set -- "$dir/lease" "$dir/about" "$dir/undo" "$dir/check" "$dir/look"
    [ "$(cat "$@" | wc -c)" -eq "$bytes" ] || fail "cannot write $dir"
    rm "$dir/bundle" || fail "cannot remove $dir/bundle"
}

arm() {
    umask 077
    mkdir -p "$home" || fail "cannot make $home"
    chmod 700 "$home"
    mkdir "$dir" || fail "there is a lease $id already, or $home cannot be written"
    trap 'rm -rf "$dir"' EXIT
    take
    put "$dir/boot" "$(boot)"
    put "$dir/room" ""
    put "$dir/deadline" $(($(uptime) + $(hundredths "$1")))
    sync -- "$dir"/* "$dir" "$home" "$kept" || fail "cannot bring $dir to the disk"
    start_timer
    looks=0
    until ticks; do
        looks=$((looks + 1))
        [ $looks -lt 50 ] || fail "the timer of $id does not start"
        sleep 0.1
    done
    alive
    trap - EXIT
}

# A systemd unit would not have the account or the network namespace of the chaosk that runs here.
by_systemd() { [ -z "$CHAOSK_KEPT" ] && [ -d /run/systemd/system ]; }

# Under systemd the timer is a unit, restarted if it is killed. Otherwise it is a session that the OOM killer passes
# over. It is stopped by SIGKILL: it survives SIGTERM, and systemd would wait for a minute and a half.
start_timer() {
    if by_systemd; then
        systemd-run --quiet --collect --unit="chaosk-lease-$id" --property=Restart=on-failure \
            --property=KillMode=process --property=KillSignal=SIGKILL sh "$dir/lease" watch "$id" - \
            </dev/null >/dev/null 2>&1 ||
            fail "systemd does not start the timer of $id"
    else
        setsid sh "$dir/lease" watch "$id" - </dev/null >/dev/null 2>&1 &
    fi
}

watch() {
    put "$dir/timer" $$
    (echo -1000 >/proc/$$/oom_score_adj) 2>/dev/null
    trap : HUP INT TERM # not ignored: commands of the undo would inherit that
    [ ! -s "$dir/look" ] || sh "$dir/lease" look "$id" - </dev/null >/dev/null 2>&1 &
    until has_run_out; do
        [ -d "$dir" ] || exit 0
        rest=$(left)
        [ "$rest" -lt 50 ] || rest=50
        sleep "0.$(printf %02d "$rest")"
    done
    heal "by itself"
}

# Expiry is decided by renaming a file, so that no renewal is missed: a renewal checks for the renamed file afterwards.
has_run_out() {
    [ -e "$dir/expired" ] && return
    [ "$(left)" -le 0 ] || return 1
    mv "$dir/deadline" "$dir/expired" || return 1
    [ "$(cat "$dir/expired")" -le "$(uptime)" ] && return
    mv "$dir/expired" "$dir/deadline"
    return 1
}

renew() {
    alive
    new=$(hundredths "$1")
    put "$dir/deadline" $(($(uptime) + new))
    [ ! -e "$dir/expired" ] || fail "the lease $id has run out"
    [ ! -e "$dir/renewed" ] || sh "$dir/renewed" "$new" || fail "the kernel has ended what the lease $id guards"
}

# --- looking ------------------------------------------------------------------------------------------------------

# A separate process, so that a check that hangs never delays the timer or a renewal. It goes on while this host is
# unreachable. A renewal returns the results.
look() {
    { echo 0 >/proc/self/oom_score_adj; } 2>/dev/null # otherwise the OOM killer would pass over its children, too
    exec 8<"$dir/look" && flock -n 8 || exit 0        # one is still running if the timer was restarted
    put "$dir/looker" $$
    last=0
    while [ -d "$dir" ] && [ ! -e "$dir/healed" ]; do
        # shellcheck disable=SC1091 # lines `told NUMBER COMMAND`
        . "$dir/look"
        sleep 5 8<&-
    done
}

# Runs a check and stores the answer in a file look.N, with increasing N. A "no" is checked once more: if a host cannot
# start another process, a pipeline reports "no" as well.
told() {
    number=$1 tries=0
    shift
    while tries=$((tries + 1)); do
        began=$(uptime)
        text=$("$@" 2>&1 </dev/null 8<&-)
        status=$?
        [ $status = 1 ] && [ $tries = 1 ] || break
        sleep 0.3
    done
    ended=$(uptime)
    if [ "$ended" -gt "$last" ]; then last=$ended; else last=$((last + 1)); fi
    text=$(printf %s "$text" | tail -c 1000 | tr '\n' '\t')
    [ -d "$dir" ] && printf '%s\n' "$began $ended $number $status $text" 2>/dev/null >"$dir/seen" &&
        mv "$dir/seen" "$dir/look.$last"
}

# The time, and a line for each check: `look N BEGAN ENDED NUMBER STATUS TEXT`, with tabs for the line ends of TEXT.
looks() {
    echo "now $(uptime)"
    for file in "$dir"/look.[0-9]*; do
        n=${file##*.}
        if [ ! -e "$file" ]; then continue; fi
        if [ "$n" -le "$1" ]; then rm -f "$file"; else echo "look $n $(cat "$file")"; fi
    done
}

# --- healing ------------------------------------------------------------------------------------------------------

# Retries the undo until the check holds; the timer retries for ever. Child processes do not inherit the lock.
heal() {
    tries=0
    until (once "$1") >"$(ear)" 2>&1; do
        [ -d "$dir" ] || return 0
        tries=$((tries + 1))
        [ "$1" = "by itself" ] || [ $tries -lt 3 ] || return 1
        sleep 1
    done
}

# The file for the undo's output; /dev/null on a full disk, where commands would fail on output.
ear() { if printf '%4096s\n' "" 2>/dev/null >"$dir/said"; then echo "$dir/said"; else echo /dev/null; fi; }

once() {
    locked 180
    [ ! -e "$dir/healed" ] || return 0
    ({ echo 0 >/proc/self/oom_score_adj; } 2>/dev/null; CHAOSK_LEASE=$dir exec sh "$dir/undo") 9<&- || return 1
    sh "$dir/check" 9<&- || return 1
    # on a full disk an existing file is renamed to the mark
    (put "$dir/healed" "$(uptime) $1") 2>/dev/null || mv "$dir/room" "$dir/healed"
}

disarm() {
    [ -d "$dir" ] || return 0
    locked 180
    looker=$(cat "$dir/looker" 2>/dev/null)
    ! is_there look "$looker" || kill -s KILL "$looker"
    if by_systemd; then systemctl stop -- "chaosk-lease-$id" 2>/dev/null; fi
    ! ticks || kill -s KILL "$timer"
    rm -rf "$dir" || fail "cannot remove $dir"
}

# One line: id, state, seconds left, about. States: armed, dead (the timer is gone), booted (since it was armed), healed
# (by the host itself).
show() {
    state=armed
    ticks || state=dead
    [ "$(cat "$dir/boot" 2>/dev/null)" = "$(boot)" ] || state=booted
    [ ! -e "$dir/healed" ] || state=healed
    rest=$(awk -v n="$([ -e "$dir/deadline" ] && left || echo 0)" 'BEGIN { printf "%.2f", n / 100 }')
    IFS= read -r about <"$dir/about"
    printf '%s\n' "$id $state $rest $about" # not echo: it would read the backslashes of the JSON
}

case $action in
    arm) arm "$3" ;;
    renew)
        not_halted "$3"
        renew "$4"
        looks "${5:-0}"
        ;;
    under)
        not_halted "$3"
        shift 3
        locked 5
        alive
        CHAOSK_LEASE=$dir "$@" 9<&-
        ;;
    undoing)
        shift 2
        [ -d "$dir" ] || exec "$@"
        locked 150
        CHAOSK_LEASE=$dir "$@" 9<&-
        ;;
    heal)
        heal "by request" || fail "not undone: $(tail -c 300 "$dir/said")"
        ;;
    disarm) disarm ;;
    halt)
        mkdir -p "$kept/halted" || fail "cannot make $kept/halted"
        put "$kept/halted/$id" "$(uptime)"
        ;;
    list)
        for dir in "$home"/*/; do
            dir=${dir%/} id=${dir##*/}
            [ ! -e "$dir/about" ] || show
        done
        ;;
    left)
        alive
        left
        ;;
    looks) looks "${3:-0}" ;;
    watch) watch ;;
    look) look ;;
    *) fail "no such action: $action" ;;
esac
