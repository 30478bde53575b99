# Reboot or crash this host's kernel, as root: sh -c SCRIPT chaosk ACTION BOOT [ID [HOW]]
#
#   own BOOT         whether the host has a kernel of its own
#   returns BOOT     whether that kernel boots again by itself after a panic
#   end BOOT ID HOW  end it in a moment, under the lease ID; HOW is
#                    reboot (as `systemctl reboot` does), reset (at once, nothing is written any more), crash (a panic)
#   changed BOOT ID  whether the host was booted since the lease ID was armed
#
# BOOT is the boot id of the machine that chaosk runs on. In a container or a namespace the end would be that of the whole
# machine, so it is refused, by the command itself and once more by what it leaves behind, right before the end.
#
# own.sh comes before this.
#
# shellcheck disable=SC2034 # which reads own

action=$1 own=$2 id=$3 how=$4
leases=/var/lib/chaosk/leases

returns() {
    own
    [ "$(cat /proc/sys/kernel/panic)" = 0 ] || return 0
    [ "$(cat /sys/kernel/kexec_crash_loaded 2>/dev/null)" = 1 ] ||
        fail "kernel.panic is 0: after a panic the host would stay as it is until somebody resets it"
}

# What really ends it; nothing comes before the last look.
now() {
    case $how in
        reboot) own && systemctl reboot ;;
        reset) own && echo b >/proc/sysrq-trigger ;;
        crash) own && echo c >/proc/sysrq-trigger ;;
    esac
}

# In a moment: who asked for it is told first.
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
