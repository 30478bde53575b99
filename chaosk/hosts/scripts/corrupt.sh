# Overwrite bytes of a partition's newest segment, as root:
# sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG LOG
#
#   fits      whether there is a segment that can be corrupted
#   corrupt   overwrite bytes in the middle of it, while the server does not run
#   recovered whether the server has found them, or somebody else: they are not there any more
#   mend      put back what was there, where what corrupt has put there still is; waits for the server's end
#   mended    whether nothing has to be put back
#
#   ID        what it is called on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG say whose, as for service.sh
#   LOG       the partition's directory in it, like orders-0
#
# A broker that was killed reads the segments after its recovery point, the newest among them, and cuts them off where a
# batch is not what its checksum says; what comes after it fetches anew. So what was overwritten is saved, and written
# down before it is overwritten, but is put back only where the same file has our bytes at the same place.
#
# The account may put a link in place of any file there, or of the directory: so this goes into that, and what it does in
# it, it does as the account.
#
# owned.sh, process.sh and enter.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # it reads kind, place and config, and sets pid

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

# The bytes at the place, as a file; of a segment that has become shorter there are fewer.
cut_out() { as_account dd if="$it" bs=1 skip="$start" count="$length" 2>/dev/null >"$1"; }
put_in() { as_account dd of="$it" bs=1 seek="$start" conv=notrunc,fsync 2>/dev/null <"$1"; }

# Sets what corrupt has written down; fails if there is nothing.
recall() {
    [ -e "$note" ] || return 1
    { IFS= read -r segment && read -r start && IFS= read -r known; } <"$note" || fail "cannot read $note"
    it=./${segment#"$folder"/}
    [ ! -d "$folder" ] || go_in
}

ours() {
    [ "$(identity "$it")" = "$known" ] && cut_out "$note.now" && [ "$(cat "$note.now")" = "$(junk)" ]
}

# Sets segment, and it, which is the same from here, and size.
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

# What was there is brought to the disk first, and the note last: without a note nothing was overwritten.
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

# Never under a server that may be cutting the file off at this moment: the bytes would lie behind its end.
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
