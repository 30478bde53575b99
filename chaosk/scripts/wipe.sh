# A server's data directory set aside, and an empty one in its place, as root:
# sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG
#
#   fits      whether it can be set aside, and put back
#   wipe      set it aside and have an empty one there, with the same owner and mode; the server must not run
#   stands    whether the server has the other directory, and the former one is set aside
#   settle    put the former one back, unless the server has been started without it: then what it has now counts
#   settled   whether nothing has to be put back
#   discard   delete what was set aside, once the server has been started without it
#
#   ID        what it is called on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG say whose, as for service.sh
#
# It is renamed, within its own file system, to FOLDER.chaosk-ID. Which directory is which is told by inode and birth,
# written down before anything is moved: the number alone may be given to the next one. The empty one gets the former
# one's meta.properties, as operators do it: without that a broker in KRaft mode does not start. A server that was
# started has put more there than that file, and from then on its former records are out of date: to put them back would
# be another fault, so nobody does.
#
# mv copies where it cannot rename (project quotas of XFS, layers of overlayfs). It must not, so it may write no file.
#
# process.sh comes before this.
#
# shellcheck disable=SC2034,SC2154 # it reads kind, place and config, and sets pid

action=$1 id=$2 folder=${3%/} kind=$4 place=$5 config=$6
kept=/var/lib/chaosk/wiped
note=$kept/$id
aside=$folder.chaosk-$id
fresh=$aside.new
meta=meta.properties

identity() { stat -c '%d %i %w' -- "$1" 2>/dev/null; }
is_old() { [ "$(identity "$1")" = "$old" ]; }
ended() {
    find_process
    [ -z "$pid" ]
}

# Sets old to what wipe has written down; fails if there is nothing.
recall() {
    [ -e "$note" ] || return 1
    IFS= read -r old <"$note" || fail "cannot read $note"
}

forget() {
    [ ! -e "$fresh" ] || { rm -f -- "$fresh/$meta" && rmdir -- "$fresh"; } || fail "cannot remove $fresh"
    rm -f -- "$note" || fail "cannot remove $note"
}

# Whether a server has been started on what is there: it makes files at once.
begun() { [ -d "$folder" ] && [ -n "$(find "$folder" -mindepth 1 ! -name "$meta" | head -n 1)" ]; }

mounts_below() {
    AT=$(printf '%s' "$folder" | sed 's/\\/\\134/g; s/ /\\040/g') awk '
        index($5 "/", ENVIRON["AT"] "/") == 1 { n++ } END { print n + 0 }' /proc/self/mountinfo
}

fits() {
    [ ! -e "$note" ] || fail "$folder is set aside already"
    { [ -d "$folder" ] && [ ! -L "$folder" ]; } || fail "$folder is no directory by itself; name what it leads to"
    [ "$(mounts_below)" = 0 ] || fail "$folder, or what is in it, is mounted there: a mount cannot be set aside"
    for left in "$folder".chaosk-*; do
        [ ! -e "$left" ] || fail "$left was set aside by an earlier run; delete it once the broker is in sync without it"
    done
    needed=$(du -sk -- "$folder" | cut -f 1)
    free=$(df -Pk -- "$folder" | awk 'NR == 2 { print $4 }')
    [ "$free" -gt $((needed + 16384)) ] || fail "$folder has $needed KiB, and there is no room for them twice"
    echo "$needed KiB can be set aside, $free KiB are free"
}

remember() {
    umask 077
    old=$(identity "$folder") && mkdir -p "$kept" && echo "$old" >"$note.new" && sync -- "$note.new" &&
        mv "$note.new" "$note"
}

prepare() {
    [ -d "$fresh" ] || mkdir -- "$fresh" || return 1
    [ ! -e "$folder/$meta" ] || cp -p -- "$folder/$meta" "$fresh/$meta" || return 1
    chown --reference="$folder" -- "$fresh" && chmod --reference="$folder" -- "$fresh"
}

wipe() {
    recall || remember || fail "cannot write $note"
    ended || fail "process $pid of $folder still runs"
    if is_old "$folder"; then
        prepare || fail "cannot make an empty directory for $folder"
        (ulimit -f 0 && mv -T -- "$folder" "$aside") || {
            ! is_old "$folder" || rm -rf -- "$aside"
            fail "$folder cannot be renamed"
        }
    fi
    [ -e "$folder" ] || mv -T -- "$fresh" "$folder" || fail "cannot put an empty directory in place of $folder"
}

stands() {
    recall || fail "$folder was not set aside"
    { [ -d "$folder" ] && ! is_old "$folder"; } || fail "$folder is what it was"
    is_old "$aside" || fail "somebody has removed what was set aside"
    echo "$folder is another directory, the former one is set aside"
}

settle() {
    recall || return 0
    if ! is_old "$folder"; then
        [ -e "$aside" ] && ended && ! begun || return 0
        is_old "$aside" || fail "$aside is not what was set aside"
        [ ! -d "$folder" ] || { rm -f -- "$folder/$meta" && rmdir -- "$folder"; } || fail "cannot remove $folder"
        mv -T -- "$aside" "$folder" || fail "cannot put $folder back"
    fi
    forget
}

settled() {
    recall || return 0
    ! is_old "$folder" || fail "it is not settled whether $folder was set aside"
    begun || fail "$folder is not put back"
    echo "the server has been started without what is in $aside"
}

discard() {
    recall || return 0
    if [ -e "$aside" ]; then
        { is_old "$aside" && begun; } || fail "$aside is still needed"
        rm -rf -- "$aside" || fail "cannot delete $aside"
    fi
    forget
}

case $action in
    fits | wipe | stands | settle | settled | discard) "$action" ;;
    *) fail "no such action: $action" ;;
esac
