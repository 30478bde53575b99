# Overwrite bytes of a partition's newest segment, as root:
# sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG LOG
#
#   fits      check that there is a segment to corrupt
#   corrupt   overwrite bytes in the middle of it, while the server does not run
#   recovered check that the corrupt bytes are gone
#   mend      restore the overwritten bytes if they are still corrupt; waits for the server's end
#   mended    check that there is nothing to restore
#
#   ID        id of its note on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG identify the server, as for service.sh
#   LOG       the partition's directory in it, such as orders-0
#
# A broker that was killed reads the segments after its recovery point, among them the newest. It truncates a segment at
# the first batch with a wrong checksum, and fetches the rest. So the overwritten bytes are saved and noted first, but
# are restored only if the same file still has the corrupt bytes at the same position.
#
# The server's account may replace any file, or the directory, by a link. So this script changes into the directory, and
# acts there as that account.
#
# owned.sh, process.sh and enter.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 id=$2 folder=${3%/} kind=$4 place=$5 config=$6 log=$7
kept=/var/lib/chaosk/corrupted
note=$kept/$id
patience=100
length=512
least=8192

identity() { stat -c '%d %i %w' -- "$1" 2>/dev/null; }
newest() { as_account find "./$log" -maxdepth 1 -type f -name '*.log' 2>/dev/null | sort | tail -n 1; }
junk() { printf "%${length}s" '' | tr ' ' '#'; }

go_in() {
    enter "$folder"
    owner=$(stat -c %u:%g .)
    case $owner in 0:*) roots_alone "$folder" || fail "$folder is root's, and where it lies is not root's alone" ;; esac
}

# The bytes at the position, as a file; fewer if the segment has become shorter.
cut_out() { as_account dd if="$it" bs=1 skip="$start" count="$length" 2>/dev/null >"$1"; }
put_in() { as_account dd of="$it" bs=1 seek="$start" conv=notrunc,fsync 2>/dev/null <"$1"; }

# Reads the note of corrupt; fails if there is none.
recall() {
    [ -e "$note" ] || return 1
    { IFS= read -r segment && read -r start && IFS= read -r known; } <"$note" || fail "cannot read $note"
    it=./${segment#"$folder"/}
    [ ! -d "$folder" ] || go_in
}

ours() {
    [ "$(identity "$it")" = "$known" ] && cut_out "$note.now" && [ "$(cat "$note.now")" = "$(junk)" ]
}

# Sets segment, it (the same as a relative path) and size.
choose() {
    it=$(newest)
    [ -n "$it" ] || fail "there is no segment in $folder/$log"
    segment=$folder/${it#./}
    size=$(stat -c %s -- "$it")
    [ "$size" -ge $least ] || fail "$segment has $size bytes, fewer than $least: write more before"
}

fits() {
    [ ! -e "$note" ] || fail "$folder/$log is corrupted already"
    go_in
    choose
    echo "$segment has $size bytes"
}

# The saved bytes are synced first and the note last: without a note, nothing was overwritten.
remember() {
    choose
    start=$((size / 2)) known=$(identity "$it")
    umask 077
    mkdir -p "$kept" && cut_out "$note.was" && junk >"$note.junk" &&
        printf '%s\n' "$segment" "$start" "$known" >"$note.new" && sync -- "$note.was" "$note.junk" "$note.new" &&
        mv "$note.new" "$note"
}

corrupt() {
    find_process
    [ -z "$pid" ] || fail "process $pid of $folder still runs"
    go_in
    recall || remember || fail "cannot write $note"
    put_in "$note.junk" || fail "cannot write to $segment"
    echo "$length bytes from $start on of $segment"
}

recovered() {
    recall || fail "nothing of $folder/$log was corrupted"
    ! ours || fail "$segment still has what was written to it from $start on"
    echo "$segment has nothing of it any more"
}

# Waits for the end of the server: if it truncates the file at this moment, the bytes would lie beyond its end.
mend() {
    recall || return 0
    looks=0
    while ours && find_process && [ -n "$pid" ]; do
        looks=$((looks + 1))
        [ $looks -le $patience ] || fail "process $pid has $segment open"
        sleep 1
    done
    if ours; then
        put_in "$note.was" || fail "cannot write to $segment"
        ! ours || fail "$segment is not mended"
    fi
    rm -f -- "$note" "$note".* || fail "cannot remove $note"
}

case $action in
    fits | corrupt | recovered | mend) "$action" ;;
    mended) [ ! -e "$note" ] || fail "it is not settled whether $folder/$log is mended" ;;
    *) fail "no such action: $action" ;;
esac
