# Make a disk slow or failing, by device-mapper, as root:
#
#   sh -c SCRIPT chaosk ACTION BOOT ID FOLDER KIND PLACE CONFIG HOW [READ WRITE]
#
#   fits      check that the table of the disk under a server's data directory can be replaced and restored
#   put       replace the table; idempotent
#   stands    check that the disk has that table, and that a read from it shows the effect
#   lift      restore the original table; after `all` and `writes`, kill the server and repair the file system
#   gone      check that there is nothing to restore
#
#   BOOT      the boot id of the machine that runs chaosk: a kernel that is not the host's own is refused
#   ID        id of its note on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG identify its server, as for service.sh
#   HOW       slow (each read takes READ ms longer, each write WRITE ms) | all (reads and writes fail) | writes
#
# The device of the file system must have a table of linear lines only, as LVM makes them. It is written to a note and
# synced before it is replaced, so that this script alone can restore it. A table is loaded first and then activated by
# one call (dmsetup resume), so the disk is never left suspended.
#
# After failed writes the page cache has data that the disk does not, and the kernel no longer knows that. So the server
# is killed, which keeps it from marking its files as cleanly closed, and the file system is mounted again after a
# replay of its journal. Meanwhile the owner of the mount point's parent folder could put a link there, so root must own
# that folder alone.
#
# own.sh, owned.sh and process.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # own.sh and process.sh read own, kind, place and config; process.sh sets pid

action=$1 own=$2 id=$3 folder=$4 kind=$5 place=$6 config=$7 how=$8
read_ms=${9} write_ms=${10}
leases=/var/lib/chaosk
kept=$leases/mapper
note=$kept/$id

target() { case $how in slow) echo delay ;; all) echo error ;; writes) echo flakey ;; *) fail "no such way: $how" ;; esac; }

# Sets where (the mount point), root, device (MAJOR:MINOR), type, options and name of the folder's file system.
find_disk() {
    real=$(readlink -f -- "$folder") && [ -d "$real" ] || fail "there is no directory $folder"
    found=$(AT=$(printf '%s' "$real" | sed 's/\\/\\134/g; s/ /\\040/g') awk '
        ENVIRON["AT"] == $5 || $5 == "/" || index(ENVIRON["AT"], $5 "/") == 1 {
            if (length($5) >= length(best)) {
                best = $5
                for (i = 7; $i != "-"; i++) ;
                line = $5 " " $4 " " $3 " " $(i + 1) " " $6 "," $(i + 3)
            }
        }
        END { print line }' /proc/self/mountinfo)
    read -r where root device type options <<END
$found
END
    where=$(printf '%s' "$where" | sed 's/\\040/ /g; s/\\134/\\/g')
    name=$(cat "/sys/dev/block/$device/dm/name" 2>/dev/null)
    above=${where%/*} above=${above:-/}
    [ "$how" = slow ] || roots_alone "$above" ||
        fail "$where is to be mounted again afterwards, and $above is not root's alone: its owner could lead that elsewhere"
}

table() { dmsetup table -- "$name" | sed 's/ *$//'; }

# The replacement table, from the lines of the original.
other_table() {
    printf '%s\n' "$lines" | awk -v how="$how" -v r="$read_ms" -v w="$write_ms" '
        how == "slow" { print $1, $2, "delay", $4, $5, r, $4, $5, w }
        how == "all" { print $1, $2, "error" }
        how == "writes" { print $1, $2, "flakey", $4, $5, 0, 86400, 1, "error_writes" }'
}

# Activated at once, without freezing the file system: that would take long on a slow disk, and fail on a failed one.
swap() {
    printf '%s\n' "$1" | dmsetup load -- "$name" || fail "dmsetup cannot load another table for $name"
    dmsetup resume --nolockfs -- "$name" || fail "dmsetup cannot give $name the table that is loaded"
}

# Processes other than the server that have files open on the file system.
others() {
    match=$(printf '%s' "$where" | sed 's/[][\\*?]/\\&/g')
    find /proc/[0-9]*/fd /proc/[0-9]*/cwd -maxdepth 1 \( -lname "$match" -o -lname "$match/*" \) 2>/dev/null |
        cut -d / -f 3 | sort -u | grep -v -x -e "$pid" | head -n 1
}

has_target() {
    dmsetup targets | awk -v name="$1" '$1 == name { found = 1 } END { exit !found }' || modprobe -n -q "dm-$1"
}

fits() {
    own
    command -v dmsetup >/dev/null || fail "there is no dmsetup; install on Debian: dmsetup"
    [ ! -e "$note" ] || fail "the disk of $folder has another table already"
    find_disk
    [ -n "$name" ] || fail "$folder is on $type, device $device, not on a device of device-mapper, as LVM makes them"
    [ "$where" != / ] || fail "$folder is on the root file system: give the data a logical volume of their own"
    [ "$root" = / ] || fail "$folder is on a part of a file system that is mounted by itself ($root of $device)"
    case $(dmsetup info -c --noheadings -o attr -- "$name") in
        L--*) ;;
        *) fail "$name is suspended, or somebody has loaded another table for it" ;;
    esac
    lines=$(table) && [ -n "$lines" ] || fail "dmsetup does not tell the table of $name"
    strange=$(printf '%s\n' "$lines" | awk '$3 != "linear" { print $3; exit }')
    [ -z "$strange" ] || fail "the table of $name has a line that is $strange: only linear ones can be replaced"
    shared
    has_target "$(target)" || fail "the kernel has no dm-$(target); take one with that module, or leave the step out"
    case $how:$type in
        slow:* | *:ext[234]) ;;
        *) fail "$folder is on $type: after a failed disk only ext4 can be mended, by e2fsck" ;;
    esac
    [ "$how" = slow ] || command -v e2fsck >/dev/null || fail "there is no e2fsck; install on Debian: e2fsprogs"
    echo "$name has $(printf '%s\n' "$lines" | grep -c .) linear lines"
}

# Refuses if anything else would be slow or fail with it.
shared() {
    [ "$(stat -c %d -- "$leases" 2>/dev/null)" != "$(stat -c %d -- "$real")" ] ||
        fail "this host keeps its leases in $leases, on the same file system as $folder"
    count=$(awk -v device="$device" '$3 == device { n++ } END { print n + 0 }' /proc/self/mountinfo)
    [ "$count" = 1 ] || fail "the device of $folder, $name, is mounted $count times"
    [ "$(dmsetup info -c --noheadings -o open -- "$name" | tr -d ' ')" = 1 ] ||
        fail "$name is used by more than the file system of $folder"
    find_process
    [ -n "$pid" ] || fail "the server of $folder does not run"
    other=$(others)
    [ -z "$other" ] ||
        fail "process $other ($(cat "/proc/$other/comm")) has files open on the disk of $folder; give the data one of their own"
}

# Reads the note of put; fails if there is none.
recall() {
    [ -e "$note" ] || return 1
    {
        read -r booted && IFS= read -r name && IFS= read -r where && read -r device && read -r type &&
            read -r options && read -r found_before && lines=$(cat)
    } <"$note" || fail "cannot read $note"
}

put() {
    own
    recall || {
        find_disk
        lines=$(table)
        case $lines in *linear*) ;; *) fail "the table of $name is not linear" ;; esac
        found_before=no
        [ ! -e "$where/lost+found" ] || found_before=yes
        umask 077
        mkdir -p "$kept" && printf '%s\n' "$(boot)" "$name" "$where" "$device" "$type" "$options" "$found_before" \
            "$lines" >"$note.new" && sync -- "$note.new" && mv "$note.new" "$note"
    } || fail "cannot write $note"
    dmsetup targets | grep -q "^$(target) " || modprobe "dm-$(target)" || fail "cannot load dm-$(target)"
    [ "$(table)" = "$(other_table)" ] || swap "$(other_table)"
}

# Milliseconds of a read that bypasses all caches; empty if it fails.
reads() {
    LC_ALL=C dd if="/dev/mapper/$name" of=/dev/null bs=4096 count=1 iflag=direct 2>&1 |
        awk '/^4096 .*copied/ { for (i = 2; i <= NF; i++) if ($i ~ /^s/) printf "%d\n", $(i - 1) * 1000 }'
}

# If writes fail, a read proves nothing: the kernel first writes its dirty pages of those blocks, and reports that
# error.
stands() {
    recall || fail "the disk of $folder has its own table"
    [ "$(table)" = "$(other_table)" ] || fail "somebody has given $name another table"
    [ "$how" = writes ] || took=$(reads)
    case $how:$took in
        slow:) fail "$name cannot be read" ;;
        # The target counts in kernel ticks, of up to 10 ms, and the first one is partial.
        slow:*) [ $((took + 10)) -ge "$read_ms" ] || fail "a read took $took ms" ;;
        all:?*) fail "$name can be read" ;;
    esac
    echo "$name: $(table | head -n 1)${took:+; a read took $took ms}"
}

lift() {
    recall || return 0
    if [ "$booted" = "$(boot)" ] && dmsetup info -- "$name" >/dev/null 2>&1; then
        [ "$how" = slow ] || end_server
        dmsetup clear -- "$name" # a table that was loaded and not activated
        [ "$(table)" = "$lines" ] || swap "$lines"
        [ "$(table)" = "$lines" ] || fail "$name has not got its table back"
        [ "$how" = slow ] || mend
    fi
    rm -f -- "$note" || fail "cannot remove $note"
}

# Permanently: a supervisor would restart it, on a file system that is about to be repaired.
end_server() {
    find_process
    [ -z "$pid" ] || kill -s KILL "$pid"
    [ "$kind" != systemd ] || systemctl stop -- "$place"
}

mounted() { awk -v device="$device" '$3 == device { found = 1 } END { exit !found }' /proc/self/mountinfo; }

# A file system that cannot be repaired is mounted read-only: on the empty mount point a server would start afresh.
mend() {
    looks=0
    while mounted && ! umount -- "$where" 2>/dev/null; do
        looks=$((looks + 1))
        [ $looks -lt 60 ] || fail "$where cannot be unmounted, process $(pid='' others) has files open there"
        sleep 0.5
    done
    timeout 150 e2fsck -p "/dev/mapper/$name" || [ $? -eq 1 ] || {
        mount -t "$type" -o ro -- "/dev/mapper/$name" "$where"
        fail "e2fsck cannot mend $name by itself; do it, then: chaosk heal"
    }
    mount -t "$type" -o "$options" -- "/dev/mapper/$name" "$where" || fail "cannot mount $where"
    [ "$found_before" = yes ] || rmdir -- "$where/lost+found" 2>/dev/null # Kafka would take it for a partition
    true
}

case $action in
    fits | put | stands | lift) "$action" ;;
    gone) [ ! -e "$note" ] || fail "the disk of $folder has not got its table back" ;;
    *) fail "no such action: $action" ;;
esac
