# Make the kernel kill a server as if memory were short, as root: sh -c SCRIPT chaosk ACTION BOOT ID KIND PLACE CONFIG
#
#   fits      check that the kernel would kill the server, and no other process
#   kill      make the kernel kill it, under the lease ID
#   killed    check that it is gone, and that the kernel's log has the OOM kill
#   spare     if it is alive, restore its oom_score_adj
#   spared    check that there is nothing to restore
#
#   BOOT      the boot id of the machine that runs chaosk: a kernel that is not the host's own is refused
#   KIND, PLACE and CONFIG identify the server, as for service.sh
#
# Memory is not really short: the kernel is told to select a victim as if it were (sysrq f), and the server is made the
# likeliest one (oom_score_adj 1000). /proc/sysrq-trigger works whatever kernel.sysrq is set to.
#
# own.sh and process.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # own.sh and process.sh read own, kind, place and config; process.sh sets pid

action=$1 own=$2 id=$3 kind=$4 place=$5 config=$6
leases=/var/lib/chaosk/leases
note=$leases/$id/oom
trigger=/proc/sysrq-trigger

server() {
    find_process
    [ -n "$pid" ] || fail "no process"
}

fits() {
    own
    [ -w $trigger ] || fail "there is no $trigger that root can write: the kernel was made without magic SysRq"
    dmesg >/dev/null || fail "the kernel does not show its log"
    server
    for file in /proc/[0-9]*/oom_score_adj; do
        { read -r value <"$file"; } 2>/dev/null || continue
        [ "$value" != 1000 ] || [ "$file" = "/proc/$pid/oom_score_adj" ] ||
            fail "the kernel might as well kill process $(echo "$file" | cut -d / -f 3): its oom_score_adj is 1000 too"
    done
    echo "process $pid, oom_score $(cat "/proc/$pid/oom_score")"
}

# Reads the note of kill: was (process), since (its start), before (its oom_score_adj) and asked (time of the request).
recall() {
    [ -e "$note" ] || return 1
    read -r was since before asked <"$note" || fail "cannot read $note"
}

same() { [ "$(born "$was")" = "$since" ] && [ "$(letter "$was")" != Z ]; }

kill_it() {
    own
    [ -n "$CHAOSK_LEASE" ] && [ "${CHAOSK_LEASE##*/}" = "$id" ] || fail "not under the lease $id"
    server
    before=$(cat "/proc/$pid/oom_score_adj") asked=$(cut -d ' ' -f 1 /proc/uptime)
    echo "$pid $(born "$pid") $before $asked" >"$note" || fail "cannot write $note"
    sync -- "$note" || fail "cannot bring $note to the disk"
    mark_leaving killed
    echo 1000 >"/proc/$pid/oom_score_adj" || fail "process $pid has ended"
    echo f >$trigger
}

killed() {
    recall || fail "the kernel was not told to kill it"
    ! same || fail "process $was is still there"
    dmesg | awk -v words="Killed process $was (" -v asked="$asked" '
        index($0, words) && /[Oo]ut of memory|oom/ {
            time = $0
            if (!sub(/^\[ */, "", time) || time + 0 >= asked - 1) { print; found = 1; exit }
        }
        END { exit !found }' || fail "process $was is gone, but the kernel does not say that it has killed it"
}

spare() {
    recall || return 0
    ! same || echo "$before" >"/proc/$was/oom_score_adj" || ! same || fail "process $was is still likely to be killed"
}

spared() {
    recall || return 0
    ! same || [ "$(cat "/proc/$was/oom_score_adj")" = "$before" ] || fail "process $was is still likely to be killed"
}

case $action in
    fits | killed | spare | spared) "$action" ;;
    kill) kill_it ;;
    *) fail "no such action: $action" ;;
esac
