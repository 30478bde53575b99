# Switch a server to another installation of Kafka, as root: sh -c SCRIPT chaosk ACTION LINK KIND PLACE CONFIG ...
#
#   fits ... VERSION FOLDER SPAN   check that it can be switched to VERSION in FOLDER, and back; SPAN is the allowed
#                                  distance from the version in use: release (the same first two numbers), or any
#   point ... VERSION FOLDER       point LINK at FOLDER; the server must be gone
#   switched ... VERSION FOLDER    check that LINK points at it, and that the server runs VERSION from there
#   away                           check that there is something to restore
#   back                           restore LINK, once nothing runs from its present target
#   returned                       check that there is nothing to restore, and that the server runs from LINK's target
#
#   LINK      the symbolic link that the server is started through; KIND, PLACE and CONFIG as for service.sh
#
# The link's original target is written to a note first, one note a link; without a note there is nothing to restore.
# The link is replaced atomically, so that a server started meanwhile finds one installation or the other. A link that
# was changed by others since is left alone.
#
# A JVM opens a jar by its path when it first needs it: a process that runs while its link is changed may load classes
# of the other version, or none. So the process must be gone first.
#
# Files in a folder of another account are searched and replaced as that account, because it could lead root anywhere.
#
# owned.sh, process.sh, enter.sh and jar.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 link=$2 kind=$3 place=$4 config=$5 version=$6 folder=$7 span=$8
kept=/var/lib/chaosk/versions
note=$kept/$(printf %s "$link" | sha256sum | cut -c 1-16)
parent=${link%/*}
parent=${parent:-/}
name=${link##*/}

# Check that two paths lead to the same place.
same() { [ "$(readlink -f -- "$1")" = "$(readlink -f -- "$2")" ]; }

# The version in the name of a jar, and its first two numbers.
version_of() { basename -- "$1" .jar | sed 's/^kafka-clients-//'; }
release_of() { echo "$1" | cut -d . -f 1,2; }

# Sets jar: the jar that the server runs from.
find_jar() {
    find_process
    [ -n "$pid" ] || fail "the server of $link does not run"
    jar=$(clients_jar "$pid")
    [ -n "$jar" ] || fail "process $pid has no jar of Kafka's clients open, so nobody can tell what it runs"
}

# Changes into the folder of the link, and sets owner to the account that can replace the link.
go_in() {
    enter "$parent"
    owner=$(stat -c %u:%g .)
    case $owner in 0:*) roots_alone "$parent" || fail "$parent is root's, and is not root's alone" ;; esac
}

# Check that the Kafka jar of a version is below a folder.
has_jar() {
    find_owner "$1"
    [ -n "$(as_account find -L "$1" -maxdepth 5 -name "kafka-clients-$2.jar" 2>/dev/null | head -n 1)" ]
}

fits() {
    (go_in) || exit
    [ -L "$link" ] || fail "$link is no symbolic link: start the server through one that names its installation"
    case $(readlink -- "$link") in *[![:print:]]*) fail "what $link names cannot be printed" ;; esac
    [ ! -e "$note" ] || fail "$link is switched already"
    [ -d "$folder" ] || fail "there is no directory $folder"
    has_jar "$folder" "$version" ||
        fail "Kafka $version is not installed there: no kafka-clients-$version.jar is in $folder"
    ! same "$link" "$folder" || fail "$link names $folder already: $version is the version in use"
    find_jar
    below "$jar" "$link" || fail "process $pid runs from $jar, and $link leads to $(readlink -f -- "$link")"
    used=$(version_of "$jar")
    [ "$span" = any ] || [ "$(release_of "$used")" = "$(release_of "$version")" ] ||
        fail "$used and $version are different releases, whose data the other may not be able to read: if all that the" \
            "newer one may write can be read by the older one, write \`across_releases: true\`"
    echo "process $pid runs $used from $jar"
}

# Replaces the link by a new one; it keeps its owner if root alone can replace it.
name() {
    (
        go_in
        whose=$(stat -c %u:%g -- "./$name") && as_account ln -sfnT -- "$1" "./$name.chaosk" || exit
        case $owner in 0:*) chown -h -- "$whose" "./$name.chaosk" || exit ;; esac
        as_account mv -T -- "./$name.chaosk" "./$name"
    ) || fail "cannot change $link"
}

point() {
    find_process
    [ -z "$pid" ] || fail "process $pid still runs"
    [ -e "$note" ] || {
        umask 077
        mkdir -p "$kept" && printf '%s\n' "$(readlink -- "$link")" "$folder" >"$note.new" && sync -- "$note.new" &&
            mv "$note.new" "$note"
    } || fail "cannot write $note"
    name "$folder"
}

switched() {
    same "$link" "$folder" || fail "$link names $(readlink -- "$link")"
    find_jar
    below "$jar" "$folder" && [ "$(version_of "$jar")" = "$version" ] || fail "process $pid runs from $jar"
    echo "process $pid runs from $jar"
}

# Check that a process exists that runs from the link's new target, or may start to.
lingers() {
    find_process
    [ -n "$pid" ] || return 1
    jar=$(clients_jar "$pid")
    [ -z "$jar" ] || below "$jar" "$folder"
}

back() {
    [ -e "$note" ] || return 0
    { IFS= read -r former && IFS= read -r folder; } <"$note" || fail "cannot read $note"
    end=$(($(up) + 100))
    while lingers; do
        [ "$(up)" -lt $end ] || fail "process $pid still runs from $folder"
        sleep 0.5
    done
    case $(readlink -- "$link") in
        "$former") ;;
        "$folder") name "$former" ;;
        *) fail "somebody has pointed $link elsewhere; point it to $former, then do: chaosk heal" ;;
    esac
    (go_in && as_account rm -f -- "./$name.chaosk" && rm -f -- "$note") || fail "cannot remove $note"
}

returned() {
    [ ! -e "$note" ] || fail "$link is not put back"
    find_jar
    below "$jar" "$link" || fail "process $pid runs from $jar, and $link leads to $(readlink -f -- "$link")"
    echo "process $pid runs from $jar"
}

case $action in
    fits | point | switched | back | returned) "$action" ;;
    away) [ -e "$note" ] || fail "$link names what it always did: it was not switched" ;;
    *) fail "no such action: $action" ;;
esac
