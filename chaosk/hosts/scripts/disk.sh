# Fill a server's data directory with a file, as root: sh -c SCRIPT chaosk ACTION FILE [HOW BYTES]
#
#   fits FILE HOW BYTES     check that it fits, and that room for leases is left
#   fill FILE HOW BYTES     create it; repeating it creates it again
#   filled FILE HOW BYTES   check that it exists, with all of its blocks
#   empty FILE              remove it
#   gone FILE               check that it does not exist
#
#   HOW     size (the file has so many BYTES) | free (so many BYTES are left free)
#
# On the file system of this host's leases, room for them is kept: a lease that cannot be renewed or healed is useless.

# enter.sh comes before this.

action=$1 file=$2 how=$3 bytes=$4 folder=${2%/*} name=${2##*/}
leases=/var/lib/chaosk
reserve=16384 # KiB
slack=1024    # KiB by which a file system's accounting may differ from its files

# KiB that other accounts than root can still use here, and the device of a file system.
room() { stat -f -c '%a %S' . | awk '{ printf "%.0f", $1 * $2 / 1024 }'; }
source_of() { df -Pk -- "$1" | awk 'NR == 2 { print $1 }'; }

# Subvolumes have their own device numbers, but share one device.
holds_leases() {
    place=$leases
    while [ ! -d "$place" ]; do place=${place%/*} && place=${place:-/}; done
    [ "$(stat -c %d -- "$place")" != "$(stat -c %d .)" ] || return 0
    case $(source_of "$place") in /*) [ "$(source_of "$place")" = "$(source_of .)" ] ;; *) false ;; esac
}

# Sets free and wanted, in KiB.
measure() {
    free=$(room)
    [ -n "$free" ] || fail "the kernel does not say how much is free in $folder"
    case $how in
        size) wanted=$(((bytes + 1023) / 1024)) ;;
        free) wanted=$((free - bytes / 1024)) ;;
        *) fail "no such way: $how" ;;
    esac
}

there() { [ -e "./$name" ] || [ -L "./$name" ]; }

fits() {
    enter "$folder"
    measure
    there && fail "$file is there already"
    [ "$wanted" -gt 0 ] || fail "only $free KiB are free in $folder: there is nothing to fill"
    [ "$wanted" -le "$free" ] || fail "only $free KiB are free in $folder: $wanted KiB do not fit"
    ! holds_leases || [ $((free - wanted)) -ge $reserve ] ||
        fail "$folder is on the file system of $leases: leave $reserve KiB free for leases; there are $free KiB"
    echo "$wanted of $free KiB"
}

# Created anew in the current directory, and written through a descriptor. Other accounts may replace it by a link to a
# device, so the descriptor is first checked to be an empty file owned by root.
fill() {
    enter "$folder"
    rm -f -- "./$name" || fail "cannot remove $file"
    measure
    umask 077
    dd if=/dev/null of="./$name" conv=excl 2>/dev/null || fail "cannot make $file"
    exec 8<>"./$name" || fail "cannot open $file"
    [ "$(stat -L -c '%u %h %s %F' /proc/self/fd/8)" = '0 1 0 regular empty file' ] || fail "somebody has replaced $file"
    [ "$wanted" -gt 0 ] || return 0
    fallocate -l "${wanted}KiB" /proc/self/fd/8 2>/dev/null && return
    head -c "$((wanted * 1024))" /dev/zero 2>/dev/null >&8 || [ "$how" = free ] || fail "cannot write $wanted KiB"
}

filled() {
    enter "$folder"
    measure
    [ -f "./$name" ] || fail "there is no $file"
    taken=$(stat -c '%b %B' -- "./$name" | awk '{ printf "%d\n", $1 * $2 / 1024 }')
    case $how in
        size) [ "$taken" -ge "$wanted" ] || fail "$file takes $taken KiB, not $wanted" ;;
        free) [ "$wanted" -le $slack ] || fail "$free KiB are free in $folder" ;;
    esac
    echo "$file takes $taken KiB, $free KiB are free"
}

case $action in
    fits) fits ;;
    fill) fill ;;
    filled) filled ;;
    empty)
        enter "$folder"
        rm -f -- "./$name" || fail "cannot remove $file"
        ;;
    gone)
        [ -d "$folder" ] || exit 0
        enter "$folder"
        there && fail "$file is there"
        echo "$(room) KiB are free in $folder"
        ;;
    *) fail "no such action: $action" ;;
esac
