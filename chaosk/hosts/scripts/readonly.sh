# Make a server's data directory read-only, as root: sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG
#
#   fits      whether it can be made read-only, and writable again
#   put       mount the directory onto itself, read-only; doing it again puts no second one there
#   stands    whether the server has it read-only
#   lift      take our mount away, and no other
#   gone      whether nothing of it is there
#
#   ID        what it is called on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG say whose, as for service.sh
#
# A file system cannot be remounted read-only while files are open for writing there (EBUSY). A mount of the directory
# onto itself can be read-only by itself: what is open can still be written, but whoever opens, makes or renames a file
# by its path is told EROFS. It has to be in the mount namespace in which the server lives, which a unit of systemd's may
# have to itself (PrivateTmp, ProtectSystem). Such a namespace ends with its last process, and our mount with it.
#
# Whoever makes a mount namespace decides what its programs are. So none is entered but one that root has made and that
# has the host's own root: its user namespace and its root directory are this script's. What a container has to itself, or
# an account of its own accord, is refused.
#
# What was there is written down before anything is mounted: how many mounts were on the directory, and which directory
# it is. On top of those only the same directory once more is ours; what somebody else puts there is left alone. The
# mount is taken away lazily: who reads a file by it keeps that file until he closes it. The server's account may swap
# what is in the path of its directory at any moment: so the directory is entered, the kernel is asked where that is, and
# what is mounted and unmounted is that.
#
# process.sh comes before this.
#
# shellcheck disable=SC2034,SC2154 # it reads kind, place and config, and sets pid

action=$1 id=$2 folder=${3%/} kind=$4 place=$5 config=$6
leases=/var/lib/chaosk
kept=$leases/readonly
note=$kept/$id

space_of() { stat -L -c %i -- "/proc/$1/ns/mnt" 2>/dev/null; }
user_of() { stat -L -c %i -- "/proc/$1/ns/user" 2>/dev/null; }
root_of() { stat -L -c '%d %i' -- "/proc/$1/root" 2>/dev/null; }
boot() { cat /proc/sys/kernel/random/boot_id; }

# Whether a process is in the mount namespace `space`, and root has made that; it is the same process all along.
trusted() {
    since=$(born "$1")
    [ -n "$since" ] && [ "$(space_of "$1")" = "$space" ] && [ "$(user_of "$1")" = "$(user_of self)" ] &&
        [ "$(root_of "$1")" = "$(root_of self)" ] && [ "$(space_of "$1")" = "$space" ] && [ "$(born "$1")" = "$since" ]
}

# Sets via to a process that lives in the mount namespace `space`, or to `self` for this one's own.
find_via() {
    via=self
    [ "$space" != "$(space_of self)" ] || return 0
    for via in $(stat -L -c '%i %n' -- /proc/[0-9]*/ns/mnt 2>/dev/null |
        awk -v space="$space" '$1 == space { split($2, part, "/"); print part[3] }'); do
        ! trusted "$via" || return 0
    done
    return 1
}

# A command in the mount namespace that find_via has found, as it was then.
inside() {
    if [ "$via" = self ]; then
        "$@"
    else
        exec 9<"/proc/$via/ns/mnt" && [ "$(stat -L -c %i /proc/self/fd/9)" = "$space" ] || return 1
        nsenter --mount=/proc/self/fd/9 -- "$@"
    fi
}

# The same in the directory `real`, whatever leads there by now.
# shellcheck disable=SC2016 # the inner shell expands
within() {
    inside sh -c 'cd -- "$0" && [ "$(readlink /proc/self/cwd)" = "$0" ] && exec "$@"' "$real" "$@"
}

# As /proc/PID/mountinfo spells a path.
spelt() { printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g'; }

# How many mounts there are on the directory `real`, and how many below it.
mounts_on() { AT=$(spelt "$real") awk '$5 == ENVIRON["AT"] { n++ } END { print n + 0 }' "/proc/$via/mountinfo"; }
mounts_below() {
    AT=$(spelt "$real")/ awk 'index($5, ENVIRON["AT"]) == 1 { n++ } END { print n + 0 }' "/proc/$via/mountinfo"
}
# Where the mount is that put has made, by its number and its file system; nothing if it is gone. Who renames a folder
# above takes it along.
ours_is_at() {
    [ ! -e "$note.mount" ] || awk 'NR == FNR { is = $0; next } $1 " " $3 == is { print $5 }' "$note.mount" "/proc/$via/mountinfo"
}
note_ours() {
    AT=$(spelt "$real") awk '$5 == ENVIRON["AT"] { is = $1 " " $3 } END { print is }' "/proc/$via/mountinfo" >"$note.mount"
}
which_one() { within stat -c '%d %i' .; }
writable() { within test -w .; }

# Where the server lives, and what the directory is called there.
find_place() {
    find_process
    [ -n "$pid" ] || fail "the server of $folder does not run"
    space=$(space_of "$pid")
    find_via || fail "process $pid lives in namespaces or below a root of its own, as in a container: root enters none"
    inside test -d "$folder" || fail "there is no directory $folder"
    real=$folder
    within true || fail "a link leads to $folder; name what it leads to"
}

# Sets what put has written down; fails if there is nothing.
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
    [ "$(mounts_on)" -gt "$count" ] || { within mount -c --bind . . && note_ours; } ||
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
        while [ "$(mounts_on)" -gt "$count" ]; do
            [ "$(which_one)" = "$known" ] ||
                fail "somebody has mounted something else on $folder; unmount that, then do: chaosk heal"
            within umount -c -l . || fail "cannot unmount $real"
        done
        moved=$(ours_is_at)
        [ -z "$moved" ] || fail "somebody has moved $real, and the mount on it, to $moved; move it back, then do: chaosk heal"
    fi
    rm -f -- "$note.mount" "$note" || fail "cannot remove $note"
}

case $action in
    fits | put | stands | lift) "$action" ;;
    gone) [ ! -e "$note" ] || fail "$folder is not given back" ;;
    *) fail "no such action: $action" ;;
esac
