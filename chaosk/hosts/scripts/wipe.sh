# Set a server's data directory aside, with an empty one in its place, as root:
# sh -c SCRIPT chaosk ACTION ID FOLDER KIND PLACE CONFIG
#
#   fits      check that it can be set aside, and put back
#   wipe      set it aside and create an empty one, with the same owner and mode; the server must not run
#   stands    check that the server has the new directory, and that the original one is set aside
#   settle    put the original one back, unless the server was started without it: then the new one counts
#   settled   check that there is nothing to put back
#   discard   delete the original one, once the server was started without it
#   keep      rename it to FOLDER.kept-ID then, and print that
#
#   ID        id of its note on this host, hexadecimal
#   FOLDER    the data directory; KIND, PLACE and CONFIG identify its server, as for service.sh
#
# It is renamed, within its file system, to FOLDER.chaosk-ID/old. FOLDER.chaosk-ID is created here and is root's alone,
# so no other account can reach its content. Directories are identified by inode and birth time, noted before anything
# is moved: an inode number alone may be reused. The empty directory gets the original's meta.properties, as operators
# do it: without that a broker in KRaft mode does not start. A server that was started has created more files than that
# one, and from then on its original records are out of date. Putting them back would be another fault, so it is not
# done.
#
# The server's account may own the parent folder, and rename or replace anything there at any moment. So no file is
# opened, copied or changed by a path through it: this script changes into a directory, checks its path with the kernel,
# and uses relative names. Renaming follows no link, and a renamed directory is checked where no other account can reach
# it.
#
# mv copies if it cannot rename (project quotas of XFS, layers of overlayfs). To prevent that, it runs with a file size
# limit of 0.
#
# owned.sh, process.sh and enter.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 id=$2 folder=${3%/} kind=$4 place=$5 config=$6
kept=/var/lib/chaosk/wiped
note=$kept/$id
name=${folder##*/}
parent=${folder%/*}
parent=${parent:-/}
stage=$name.chaosk-$id
meta=meta.properties
most=65536 # bytes of it to copy at most; it has about a hundred

identity() { stat -c '%d %i %w' -- "$1" 2>/dev/null; }
is_old() { [ "$(identity "$1")" = "$old" ]; }
move() { (ulimit -f 0 && mv -T -- "$1" "$2"); }
there() { [ -e "$1" ] || [ -L "$1" ]; }
ended() {
    find_process
    [ -z "$pid" ]
}

# Changes into FOLDER.chaosk-ID, through no link.
go_on() { cd -- "./$stage" 2>/dev/null && [ "$(readlink /proc/self/cwd)" = "${parent%/}/$stage" ]; }

# The same; fails if it is not the noted directory.
go_aside() { go_on && [ "$(identity .)" = "$own" ]; }

# Reads old and own from the note of wipe; fails if there is none.
recall() {
    [ -e "$note" ] || return 1
    { IFS= read -r old && IFS= read -r own; } <"$note" || fail "cannot read $note"
}

# Prints the identity of FOLDER.chaosk-ID if it is root's, closed to others and empty.
fresh() { go_on && [ "$(stat -c '%u %a' .)" = '0 700' ] && [ -z "$(ls -A .)" ] && identity .; }

remember() {
    umask 077
    mkdir -m 700 -- "./$stage" 2>/dev/null
    own=$(fresh) || fail "$parent/$stage is there already, and not as chaosk makes it: look at it, and remove it"
    old=$(identity "./$name") || fail "there is no $folder"
    mkdir -p -- "$kept" && printf '%s\n' "$old" "$own" >"$note.new" && sync -- "$note.new" && mv -- "$note.new" "$note"
}

forget() {
    if (go_aside && rm -rf -- ./new); then
        rmdir -- "./$stage" || fail "cannot remove $parent/$stage"
    fi
    rm -f -- "$note" || fail "cannot remove $note"
}

# Check that a server was started on a directory: it creates files at once.
begun() { [ -d "$1" ] && [ -n "$(find "$1" -mindepth 1 ! -name "$meta" | head -n 1)" ]; }

mounts_below() {
    AT=$(printf '%s' "$folder" | sed 's/\\/\\134/g; s/ /\\040/g') awk '
        index($5 "/", ENVIRON["AT"] "/") == 1 { n++ } END { print n + 0 }' /proc/self/mountinfo
}

fits() {
    [ ! -e "$note" ] || fail "$folder is set aside already"
    enter "$parent"
    { [ -d "./$name" ] && [ ! -L "./$name" ]; } || fail "$folder is no directory by itself; name what it leads to"
    [ "$(mounts_below)" = 0 ] || fail "$folder, or what is in it, is mounted there: a mount cannot be set aside"
    for left in "./$name".chaosk-*; do
        ! there "$left" ||
            fail "$parent/${left#./} was set aside by an earlier run; delete it once the broker is in sync without it"
    done
    needed=$(du -sk -- "./$name" | cut -f 1)
    free=$(stat -f -c '%a %S' -- "./$name" | awk '{ printf "%.0f", $1 * $2 / 1024 }')
    [ "$free" -gt $((needed + 16384)) ] || fail "$folder has $needed KiB, and there is no room for them twice"
    echo "$needed KiB can be set aside, $free KiB are free"
}

# Copies the server's identity to the new directory, read as the server's account, which may put a link there.
copy_meta() {
    there "./old/$meta" || return 0
    { [ -f "./old/$meta" ] && [ ! -L "./old/$meta" ]; } || fail "$meta of $folder is no plain file"
    (cd ./old && as_account timeout 10 head -c "$most" "./$meta") >"./new/$meta" &&
        chmod 644 "./new/$meta" && chown -- "$owner" "./new/$meta"
}

# The new directory is inside root's folder until it is moved, so its owner cannot reach it yet.
prepare() {
    owner=$(stat -c %u:%g ./old)
    rm -rf -- ./new && mkdir -- ./new && copy_meta && chown -- "$owner" ./new && chmod -- "$(stat -c %a ./old)" ./new
}

wipe() {
    enter "$parent"
    recall || remember || fail "cannot write $note"
    ended || fail "process $pid of $folder still runs"
    go_aside || fail "somebody has removed $parent/$stage"
    if is_old "../$name"; then
        move "../$name" ./old || {
            ! is_old "../$name" || rm -rf -- ./old
            fail "$folder cannot be renamed"
        }
    fi
    is_old ./old || fail "somebody has replaced $folder"
    there "../$name" || { prepare && move ./new "../$name"; } ||
        fail "cannot put an empty directory in place of $folder"
}

stands() {
    enter "$parent"
    recall || fail "$folder was not set aside"
    { [ -d "./$name" ] && [ ! -L "./$name" ] && ! is_old "./$name"; } || fail "$folder is what it was"
    (go_aside && is_old ./old) || fail "somebody has removed what was set aside"
    echo "$folder is another directory, the former one is set aside"
}

# Removes the new directory, unless a server has created files in it.
clear_place() {
    there "../$name" || return 0
    rm -rf -- ./new && move "../$name" ./new || return 1
    ! begun ./new || { move ./new "../$name" && return 1; }
    rm -rf -- ./new
}

settle() {
    enter "$parent"
    recall || return 0
    if ! is_old "./$name"; then
        go_aside || return 0
        there ./old && ended && ! begun "../$name" || return 0
        is_old ./old || fail "$parent/$stage/old is not what was set aside"
        clear_place || fail "cannot remove $folder"
        move ./old "../$name" || fail "cannot put $folder back"
        enter "$parent"
    fi
    forget
}

settled() {
    enter "$parent"
    recall || return 0
    ! is_old "./$name" || fail "it is not settled whether $folder was set aside"
    begun "./$name" || fail "$folder is not put back"
    echo "the server has been started without what is in $parent/$stage"
}

discard() {
    enter "$parent"
    recall || return 0
    if (go_aside && there ./old); then
        (go_aside && is_old ./old && begun "../$name") || fail "$parent/$stage is still needed"
        (go_aside && rm -rf -- ./old) || fail "cannot delete $parent/$stage"
    fi
    forget
}

# It belongs to its owner again from then on.
keep() {
    enter "$parent"
    left=$name.kept-$id
    recall || return 0
    if (go_aside && there ./old); then
        (go_aside && is_old ./old && begun "../$name") || fail "$parent/$stage is still needed"
        ! there "./$left" || fail "$parent/$left is there already"
        (go_aside && move ./old "../$left") || fail "cannot leave what was set aside as $parent/$left"
    fi
    forget
    echo "what was set aside is $parent/$left; delete it when nobody needs it"
}

case $action in
    fits | wipe | stands | settle | settled | discard | keep) "$action" ;;
    *) fail "no such action: $action" ;;
esac
