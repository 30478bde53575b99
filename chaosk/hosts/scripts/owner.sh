# Change the owner of a server's data directory and its files, as root: sh -c SCRIPT chaosk ACTION FOLDER ID [OWNER]
#
#   fits FOLDER ID OWNER      check that it can be changed, and changed back
#   change FOLDER ID OWNER    give everything in it to OWNER, who must not own anything there yet
#   changed FOLDER ID OWNER   check that all of it is OWNER's
#   restore FOLDER ID         restore the owner
#   restored FOLDER ID        check that there is nothing to restore
#
# The original owner is written to a note before anything is changed; without a note there is nothing to restore. Only
# files of the folder's owner are changed, others keep theirs; groups stay as they are.

# enter.sh comes before this.

action=$1 folder=${2%/} id=$3 owner=$4
name=${folder##*/}
parent=${folder%/*}
kept=/var/lib/chaosk/owners
note=$kept/$id

# Always a number: chown would accept the name of an account.
uid() { id -u -- "$1" 2>/dev/null || fail "there is no account $1"; }
owner_of() { stat -c %u -- "$1"; }
first_of() { find "./$name" -xdev -uid "$1" | head -n 1; }
give() { chown -R -h --from="$1" -- "$2" "./$name"; }

fits() {
    new=$(uid "$owner") || exit 1
    { [ -d "./$name" ] && [ ! -L "./$name" ]; } || fail "there is no directory $folder"
    [ ! -e "$note" ] || fail "the owner of $folder is changed already"
    found=$(first_of "$new")
    [ -z "$found" ] || fail "$found is already owned by $owner, and could not be told from what is changed; name another"
    case $(stat -c %A -- "./$name") in
        ?????w* | ????????w*) fail "$folder can be written by its group or by all: another owner would change nothing" ;;
    esac
    echo "owner $(owner_of "./$name")"
}

change() {
    new=$(uid "$owner") || exit 1
    [ -e "$note" ] || {
        umask 077
        mkdir -p "$kept" && echo "$(owner_of "./$name") $new" >"$note.new" && sync -- "$note.new" &&
            mv "$note.new" "$note"
    } || fail "cannot write $note"
    read -r old new <"$note" || fail "cannot read $note"
    give "$old" "$new" || fail "cannot change the owner in $folder"
}

changed() {
    read -r old new <"$note" || fail "nothing of $folder was changed"
    found=$(first_of "$old")
    [ -z "$found" ] || fail "$found is owned by $old"
    [ "$(owner_of "./$name")" = "$new" ] || fail "$folder is owned by $(owner_of "./$name")"
    echo "all of $folder that $old owned is owned by $new"
}

restore() {
    [ -e "$note" ] || return 0
    read -r old new <"$note" || fail "cannot read $note"
    give "$new" "$old" || fail "cannot give $folder back to $old"
    found=$(first_of "$new")
    [ -z "$found" ] || fail "$found is still owned by $new"
    rm -f -- "$note" || fail "cannot remove $note"
}

case $action in
    fits | change | changed | restore)
        enter "${parent:-/}"
        "$action"
        ;;
    restored) [ ! -e "$note" ] || fail "$folder is not given back" ;;
    *) fail "no such action: $action" ;;
esac
