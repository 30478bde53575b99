# The kernel of this host, and its end, as root: sh -c SCRIPT chaosk ACTION BOOT [ID [HOW]]
#
#   own BOOT         whether the host has a kernel of its own
#   returns BOOT     whether that kernel boots again by itself after a panic
#   end BOOT ID HOW  end it in a moment, under the lease ID; HOW is
#                    reboot (as `systemctl reboot` does), reset (at once, nothing is written any more), crash (a panic)
#   changed BOOT ID  whether the host was booted since the lease ID was armed
#
# BOOT is the boot id of the machine that chaosk runs on. A host that is a container or a namespace of that machine has
# the same; one of another machine is told by its namespaces, which are not the first ones that a kernel makes (their
# numbers are fixed, include/linux/proc_ns.h). There the end would be the end of the whole machine, so it is refused,
# by the command itself and once more by what it leaves behind, right before the end.

action=$1 own=$2 id=$3 how=$4
leases=/var/lib/chaosk/leases

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

boot() { cat /proc/sys/kernel/random/boot_id; }

# A boot id: 36 characters, of which nothing else than hexadecimal digits and dashes.
is_id() {
    case $1 in '' | *[!0-9a-f-]*) return 1 ;; esac
    [ ${#1} -eq 36 ]
}

# Whether this process is in the first namespace of a kind; a kernel without that kind has no other.
in_first() {
    [ -d /proc/self/ns ] || return 1
    namespace=$(readlink "/proc/self/ns/$1")
    [ -z "$namespace" ] || [ "$namespace" = "$1:[$2]" ]
}

own() {
    is_id "$own" || fail "it is not said which machine chaosk runs on"
    here=$(boot)
    is_id "$here" || fail "the kernel does not tell its boot id"
    [ "$here" != "$own" ] || fail "this host shares the kernel of the machine that chaosk runs on"
    while read -r kind number; do
        in_first "$kind" "$number" || fail "this host is a container: its $kind namespace is not the kernel's first"
    done <<END
ipc 4026531839
uts 4026531838
user 4026531837
pid 4026531836
cgroup 4026531835
END
}

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
