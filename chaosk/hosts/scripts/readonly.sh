# Make a server's data directory read-only, as root: sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG
#
#   fits      check that it can be made read-only, and writable again
#   put       bind-mount the directory onto itself, read-only; idempotent
#   stands    check that it is read-only for the server
#   lift      remove this mount, and no other
#   gone      check that nothing of it is left
#
#   ID        id of its note on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG identify its server, as for service.sh
#
# A file system cannot be remounted read-only while files on it are open for writing (EBUSY). A bind mount of the
# directory onto itself can be read-only on its own. Open files can still be written, but every attempt to open for
# writing, create or rename a file by its path gets EROFS. The mount has to be in the mount namespace of the server,
# which a systemd unit may have to itself (PrivateTmp, ProtectSystem). Such a namespace, with the mount, ends with its
# last process.
#
# The creator of a mount namespace controls the programs in it. So a namespace is entered only if root created it and it
# has the host's own root: its user namespace and its root directory have to be those of this script. The namespaces of
# containers and of other accounts are refused.
#
# A note is written before the mount: the number of mounts on the directory, and the directory's identity. Of the mounts
# above that number, only the same directory once more counts as this script's; mounts of others are left alone. The
# unmount is lazy: a reader keeps its open file until it closes it. The server's account may change the directory's path
# at any moment. So this script changes into the directory, asks the kernel for its path, and mounts and unmounts there.
#
# process.sh comes before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 id=$2 folder=${3%/} kind=$4 place=$5 config=$6
leases=/var/lib/chaosk
kept=$leases/readonly
note=$kept/$id

space_of() { stat -L -c %i -- "/proc/$1/ns/mnt" 2>/dev/null; }
user_of() { stat -L -c %i -- "/proc/$1/ns/user" 2>/dev/null; }
root_of() { stat -L -c '%d %i' -- "/proc/$1/root" 2>/dev/null; }
boot() { cat /proc/sys/kernel/random/boot_id; }

# Check that a process is in the mount namespace `space`, and that root created it; the process must not change.
trusted() {
    since=$(born "$1")
    [ -n "$since" ] && [ "$(space_of "$1")" = "$space" ] && [ "$(user_of "$1")" = "$(user_of self)" ] &&
        [ "$(root_of "$1")" = "$(root_of self)" ] && [ "$(space_of "$1")" = "$space" ] && [ "$(born "$1")" = "$since" ]
}

# Sets via to a process in the mount namespace `space`, or to `self` for this script's own. Descriptor 9 is that namespace
# from then on: the process may be one that ends at once, like one of another run of this script.
find_via() {
    via=self
    [ "$space" != "$(space_of self)" ] || return 0
    for via in $(stat -L -c '%i %n' -- /proc/[0-9]*/ns/mnt 2>/dev/null |
        awk -v space="$space" '$1 == space { split($2, part, "/"); print part[3] }'); do
        ! { trusted "$via" && opened "$via"; } || return 0
    done
    return 1
}
opened() {
    { command exec 9<"/proc/$1/ns/mnt"; } 2>/dev/null && [ "$(stat -L -c %i /proc/self/fd/9)" = "$space" ]
}

# Runs a command in the mount namespace of find_via.
inside() { if [ "$via" = self ]; then "$@"; else nsenter --mount=/proc/self/fd/9 -- "$@"; fi; }

# The same in the directory `real`, if its path still leads there.
# shellcheck disable=SC2016 # the inner shell expands
within() {
    inside sh -c 'cd -- "$0" && [ "$(readlink /proc/self/cwd)" = "$0" ] && exec "$@"' "$real" "$@"
}

# The mounts of that namespace, and a path in their spelling.
mounts() { inside cat /proc/self/mountinfo; }
spelt() { printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g'; }

# The number of mounts on the directory `real`, and below it; nothing if they cannot be read.
mounts_on() { mounts | AT=$(spelt "$real") awk '$5 == ENVIRON["AT"] { n++ } END { if (NR) print n + 0 }'; }
mounts_below() { mounts | AT=$(spelt "$real")/ awk 'index($5, ENVIRON["AT"]) == 1 { n++ } END { if (NR) print n + 0 }'; }
# The present path of put's mount, by its id and device; empty if it is gone. It moves when a folder above is renamed.
ours_is_at() {
    [ ! -e "$note.mount" ] || mounts | awk 'NR == FNR { is = $0; next } $1 " " $3 == is { print $5 }' "$note.mount" -
}
# Notes put's mount. Its path may lead elsewhere at the very moment that it is looked up, so it is looked up again.
note_ours() {
    tries=0 ours=
    while [ -z "$ours" ] && [ "$tries" -lt 200 ]; do
        ours=$(mounts | AT=$(spelt "$real") awk '$5 == ENVIRON["AT"] { is = $1 " " $3 } END { print is }')
        tries=$((tries + 1))
    done
    [ -n "$ours" ] && printf '%s\n' "$ours" >"$note.mount"
}
# Fails if put's mount is there under another path, as one that is not seen may be mounted twice or left behind.
not_moved() {
    moved=$(ours_is_at)
    [ -z "$moved" ] || fail "somebody has moved $real, and the mount on it, to $moved; move it back, then do: chaosk heal"
}
which_one() { within stat -c '%d %i' .; }
writable() { within test -w .; }

# Sets the mount namespace of the server, and the directory's path there.
find_place() {
    find_process
    [ -n "$pid" ] || fail "the server of $folder does not run"
    space=$(space_of "$pid")
    find_via || fail "process $pid lives in namespaces or below a root of its own, as in a container: root enters none"
    inside test -d "$folder" || fail "there is no directory $folder"
    real=$folder
    within true || fail "a link leads to $folder; name what it leads to"
}

# Reads the note of put; fails if there is none.
recall() {
    [ -e "$note" ] || return 1
    { read -r booted && read -r space && IFS= read -r real && read -r count && read -r known; } <"$note" ||
        fail "cannot read $note"
}

fits() {
    [ ! -e "$note" ] || fail "$folder is read-only already"
    find_place
    case $leases/ in "${real%/}"/*) fail "this host keeps its leases in $leases, and that is in $folder" ;; esac
    [ "$(mounts_below)" = 0 ] || fail "there are other mounts below $folder, which a mount of it would hide"
    writable || fail "$folder cannot be written as it is"
    mount --help 2>&1 | grep -q -e --no-canonicalize || fail "mount is not that of util-linux; install that"
    echo "$real can be written"
}

put() {
    recall || {
        find_place
        umask 077
        count=$(mounts_on) known=$(which_one) && [ -n "$known" ] && mkdir -p "$kept" &&
            printf '%s\n' "$(boot)" "$space" "$real" "$count" "$known" >"$note.new" && sync -- "$note.new" &&
            mv "$note.new" "$note"
    } || fail "cannot write $note"
    find_via || fail "the mount namespace of the server is gone"
    [ "$(mounts_on)" -gt "$count" ] || { not_moved && within mount -c --bind . . && note_ours; } ||
        fail "cannot mount $real onto itself"
    within mount -c -o remount,bind,ro none . || fail "cannot make $real read-only"
}

stands() {
    recall || fail "nothing is mounted on $folder"
    if ! find_via; then
        find_process
        [ -z "$pid" ] || fail "the server runs again, in another mount namespace, where $folder can be written"
        echo "the server has ended, and its mount namespace with it"
        return
    fi
    [ "$(mounts_on)" -gt "$count" ] || fail "somebody has taken the mount on $folder away"
    [ "$(which_one)" = "$known" ] || fail "somebody has mounted something else on $folder"
    ! writable || fail "$folder can be written"
    echo "$real is read-only"
}

lift() {
    recall || return 0
    if [ "$booted" = "$(boot)" ] && find_via; then
        [ -n "$(mounts_on)" ] || fail "the mounts of the server cannot be read; do: chaosk heal"
        while [ "$(mounts_on)" -gt "$count" ]; do
            [ "$(which_one)" = "$known" ] ||
                fail "somebody has mounted something else on $folder; unmount that, then do: chaosk heal"
            within umount -c -l . || fail "cannot unmount $real"
        done
        not_moved
    fi
    rm -f -- "$note.mount" "$note" || fail "cannot remove $note"
}

case $action in
    fits | put | stands | lift) "$action" ;;
    gone) [ ! -e "$note" ] || fail "$folder is not given back" ;;
    *) fail "no such action: $action" ;;
esac
