# Load this host's processors or memory, as root: sh -c SCRIPT chaosk ACTION KIND ID [MUCH]
#
#   fits KIND ID MUCH     check that the host can take it
#   put KIND ID MUCH      start it; only under a lease
#   stands KIND ID MUCH   check that all of it is in place and has an effect
#   lift KIND ID          end it
#   gone KIND ID          check that nothing of it is left
#
#   KIND   cpu (MUCH busy loops) | memory (MUCH KiB, all of it touched)
#   ID     hexadecimal
#   MUCH   a number, or parts per million such as 500000ppm: of the processors, rounded up, or of the memory
#
# Each process checks its lease about once a second (lease.sh names its folder in CHAOSK_LEASE), and ends with it. So a
# load never outlives its lease.
#
# marked.sh comes before this.

action=$1 kind=$2 id=$3 much=$4
reserve=131072 # KiB that stay available to other processes
most=4         # busy loops per processor

# A value of /proc/meminfo in KiB.
memory() { awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo; }

total() { case $kind in cpu) nproc ;; *) memory MemTotal ;; esac; }

# MUCH as an absolute number.
wanted() {
    case $much in
        *ppm) awk -v all="$(total)" -v ppm="${much%ppm}" 'BEGIN { n = all * ppm / 1e6; m = int(n); print m < n ? m + 1 : m }' ;;
        *) echo "$much" ;;
    esac
}

# All processes of this load.
processes() { marked "CHAOSK_LOAD=$id"; }

# The fields of a process's stat from its state on; the name before them may contain any character.
stat_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null; }

# The loops lead sessions, their children do not. A line each with state and ticks.
loops() {
    for pid in $(processes); do
        stat_of "$pid" | awk -v pid="$pid" '$4 == pid { print $1, $12 + $13 }'
    done
}

ticks() { loops | awk '{ n += $2 } END { print n + 0 }'; }

resident() {
    for pid in $(processes); do cat "/proc/$pid/status" 2>/dev/null; done |
        awk '$1 == "VmRSS:" || $1 == "VmSwap:" { n += $2 } END { print n + 0 }'
}

# shellcheck disable=SC2016 # the workers expand
asks='holds() { sh "$CHAOSK_LEASE/lease" left "${CHAOSK_LEASE##*/}" >/dev/null 2>&1; }'
# shellcheck disable=SC2016
loop='while holds; do n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done; done'
# tail buffers input without line ends; the OOM killer takes this process first.
# shellcheck disable=SC2016
hoard='echo 1000 >/proc/$$/oom_score_adj; { head -c "$1" /dev/zero; while holds; do sleep 1; done; } | tail'

start() { CHAOSK_LOAD=$id setsid sh -c "$asks; $1" chaosk-load "$2" </dev/null >/dev/null 2>&1 & }

fits() {
    n=$(wanted)
    case $kind in
        cpu)
            [ "$n" -le $((most * $(nproc))) ] || fail "$n busy loops are more than $most for each of $(nproc) processors"
            echo "$n busy loops, $(nproc) processors"
            ;;
        memory)
            free=$(memory MemAvailable)
            [ $((free - n)) -ge $reserve ] ||
                fail "of $free KiB that are available $n would leave less than $reserve: others would be killed for it"
            echo "$n of $free KiB"
            ;;
    esac
}

put() {
    [ -n "$CHAOSK_LEASE" ] || fail "a load without a lease would not end"
    lift
    n=$(wanted)
    case $kind in
        cpu) while [ "$n" -gt 0 ]; do start "$loop" && n=$((n - 1)); done ;;
        memory) start "$hoard" $((n * 1024)) ;;
    esac
}

stands() {
    n=$(wanted)
    case $kind in
        cpu)
            found=$(loops | grep -c -v '^[TZX]')
            [ "$found" -eq "$n" ] || fail "$found of $n busy loops run"
            before=$(ticks)
            sleep 0.5
            share=$((($(ticks) - before) * 2)) # percent of one processor: a tick is 10 ms
            least=$n
            [ "$least" -le "$(nproc)" ] || least=$(nproc)
            [ $share -ge $((least * 10)) ] || fail "$n busy loops get $share % of one processor"
            echo "$n busy loops, $share % of one processor"
            ;;
        memory)
            has=$(resident)
            [ $((has * 100)) -ge $((n * 98)) ] || fail "$has of $n KiB are taken"
            echo "$has KiB are taken, $(memory MemAvailable) KiB are available"
            ;;
    esac
}

lift() { end_marked "CHAOSK_LOAD=$id"; }

case $action in fits | put | stands | lift | gone) ;; *) fail "no such action: $action" ;; esac
case $kind in cpu | memory) ;; *) fail "no such kind: $kind" ;; esac
case $action in
    gone)
        found=$(processes)
        [ -z "$found" ] || fail "still there: $found"
        ;;
    *) "$action" ;;
esac
