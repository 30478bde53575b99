# Reboot or crash this host's kernel, as root: sh -c SCRIPT chaosk ACTION BOOT [ID [HOW]]
#
#   own BOOT         check that the kernel is this host's own
#   returns BOOT     check that the kernel reboots after a panic
#   end BOOT ID HOW  end it shortly after the command has returned, under the lease ID; HOW is
#                    reboot (`systemctl reboot`), reset (at once, nothing is written to disk), crash (a panic)
#   changed BOOT ID  check that the host was booted since the lease ID was armed
#
# BOOT is the boot id of the machine that runs chaosk. In a container or a namespace the whole machine would go down. So
# this is refused, once by the command and again by the process that it leaves behind, right before the end.
#
# own.sh comes before this.
#
# shellcheck disable=SC2034 # own reads it

action=$1 own=$2 id=$3 how=$4
leases=/var/lib/chaosk/leases

returns() {
    own
    [ "$(cat /proc/sys/kernel/panic)" = 0 ] || return 0
    [ "$(cat /sys/kernel/kexec_crash_loaded 2>/dev/null)" = 1 ] ||
        fail "kernel.panic is 0: after a panic the host would stay as it is until somebody resets it"
}

# Ends the kernel, right after a last check.
now() {
    case $how in
        reboot) own && systemctl reboot ;;
        reset) own && echo b >/proc/sysrq-trigger ;;
        crash) own && echo c >/proc/sysrq-trigger ;;
    esac
}

# After a delay, so that the caller gets an answer first.
end() {
    own
    [ -n "$CHAOSK_LEASE" ] && [ "${CHAOSK_LEASE##*/}" = "$id" ] || fail "not under the lease $id"
    case $how in
        reboot) command -v systemctl >/dev/null || fail "there is no systemctl; write how: reset" ;;
        reset | crash) [ -w /proc/sysrq-trigger ] || fail "there is no /proc/sysrq-trigger that root can write" ;;
        *) fail "no such end: $how" ;;
    esac
    (
        trap '' HUP
        sleep 0.5
        now
    ) </dev/null >/dev/null 2>&1 &
}

changed() {
    armed=$(cat "$leases/$id/boot" 2>/dev/null)
    is_id "$armed" || fail "there is no lease $id"
    [ "$armed" != "$(boot)" ] || fail "not booted since"
    echo "boot $(boot), formerly $armed"
}

case $action in
    own | returns | changed) "$action" ;;
    end) end ;;
    *) fail "no such action: $action" ;;
esac
