# A server's data directory made read-only, as root: sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG
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
# What was there is written down before anything is mounted: how many mounts were on the directory, and which directory
# it is. On top of those only the same directory once more is ours; what somebody else puts there is left alone. The
# mount is taken away lazily: who reads a file by it keeps that file until he closes it.
#
# process.sh comes before this.
#
# shellcheck disable=SC2034,SC2154 # it reads kind, place and config, and sets pid

action=$1 id=$2 folder=$3 kind=$4 place=$5 config=$6
leases=/var/lib/chaosk
kept=$leases/readonly
note=$kept/$id

space_of() { stat -L -c %i -- "/proc/$1/ns/mnt" 2>/dev/null; }
boot() { cat /proc/sys/kernel/random/boot_id; }

# Sets via to a process that lives in the mount namespace `space`, or to `self` for this one's own.
find_via() {
    via=self
    [ "$space" != "$(space_of self)" ] || return 0
    via=$(stat -L -c '%i %n' -- /proc/[0-9]*/ns/mnt 2>/dev/null |
        awk -v space="$space" '$1 == space { split($2, part, "/"); print part[3]; exit }')
    [ -n "$via" ]
}

# A command in the mount namespace that find_via has found.
inside() { if [ "$via" = self ]; then "$@"; else nsenter --target "$via" --mount -- "$@"; fi; }

# As /proc/PID/mountinfo spells a path.
spelt() { printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g'; }

# How many mounts there are on the directory `real`, and how many below it.
mounts_on() { AT=$(spelt "$real") awk '$5 == ENVIRON["AT"] { n++ } END { print n + 0 }' "/proc/$via/mountinfo"; }
mounts_below() {
    AT=$(spelt "$real")/ awk 'index($5, ENVIRON["AT"]) == 1 { n++ } END { print n + 0 }' "/proc/$via/mountinfo"
}
which_one() { inside stat -c '%d %i' -- "$real"; }
writable() { inside test -w "$real"; }

# Where the server lives, and what the directory is called there.
find_place() {
    find_process
    [ -n "$pid" ] || fail "the server of $folder does not run"
    space=$(space_of "$pid")
    find_via || fail "cannot tell in which mount namespace process $pid lives"
    inside test -d "$folder" || fail "there is no directory $folder"
    real=$(inside readlink -f -- "$folder") || fail "cannot follow $folder"
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
    [ "$(mounts_on)" -gt "$count" ] || inside mount --bind -- "$real" "$real" || fail "cannot mount $real onto itself"
    inside mount -o remount,bind,ro -- "$real" || fail "cannot make $real read-only"
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
            inside umount -l -- "$real" || fail "cannot unmount $real"
        done
    fi
    rm -f -- "$note" || fail "cannot remove $note"
}

case $action in
    fits | put | stands | lift) "$action" ;;
    gone) [ ! -e "$note" ] || fail "$folder is not given back" ;;
    *) fail "no such action: $action" ;;
esac
