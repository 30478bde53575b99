# Check that this host's kernel is its own; for scripts that act on a whole kernel.
#
# The file after this sets own: the boot id of the machine that runs chaosk. A container or a namespace of that machine
# has the same boot id. One of another machine is recognized by its namespaces, which are not the first ones of a kernel
# (their numbers are fixed, include/linux/proc_ns.h).
#
# shellcheck disable=SC2154 # see above

boot() { cat /proc/sys/kernel/random/boot_id; }

# A boot id: 36 characters, hexadecimal digits and dashes.
is_id() {
    case $1 in '' | *[!0-9a-f-]*) return 1 ;; esac
    [ ${#1} -eq 36 ]
}

# Check that this process is in the first namespace of a kind; a kernel without that kind has no other.
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
    while read -r which number; do
        in_first "$which" "$number" || fail "this host is a container: its $which namespace is not the kernel's first"
    done <<END
ipc 4026531839
uts 4026531838
user 4026531837
pid 4026531836
cgroup 4026531835
END
}
