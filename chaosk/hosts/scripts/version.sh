# Switch a server to another installation of Kafka, as root: sh -c SCRIPT chaosk ACTION LINK KIND PLACE CONFIG ...
#
#   fits ... VERSION FOLDER SPAN   whether it can be switched to VERSION, which is in FOLDER, and back; SPAN says how far
#                                  that may be from the version in use: release (its first two numbers), or any
#   point ... VERSION FOLDER       have LINK name FOLDER; the server must be gone
#   switched ... VERSION FOLDER    whether LINK names it, and the server runs VERSION from there
#   away                           whether there is something to put back
#   back                           have LINK name what it named, once nothing runs from where it leads
#   returned                       whether there is nothing to put back, and the server runs from where LINK leads
#
#   LINK      the symbolic link through which it is started; KIND, PLACE and CONFIG say which server, as for service.sh
#
# What the link named is written down before it is changed, in a file of the link's: no file, nothing to put back. The
# link is replaced in one step, so that whoever starts meanwhile finds the one installation or the other. A link that
# somebody else has pointed elsewhere meanwhile is left alone.
#
# A JVM opens a jar when it first needs it, by its path: a process that runs while its link is changed may find classes
# of the other version, or none. So nothing is changed before the process is gone.
#
# What is in a folder of another account's is looked through and replaced as that account, which could lead root anywhere.
#
# owned.sh, process.sh, enter.sh and jar.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # it reads kind, place and config, and sets pid

action=$1 link=$2 kind=$3 place=$4 config=$5 version=$6 folder=$7 span=$8
kept=/var/lib/chaosk/versions
note=$kept/$(printf %s "$link" | sha256sum | cut -c 1-16)
parent=${link%/*}
parent=${parent:-/}
name=${link##*/}

# Whether two paths lead to the same place.
same() { [ "$(readlink -f -- "$1")" = "$(readlink -f -- "$2")" ]; }

# The version in the name of a jar, and its first two numbers.
version_of() { basename -- "$1" .jar | sed 's/^kafka-clients-//'; }
release_of() { echo "$1" | cut -d . -f 1,2; }

# Sets jar: where the server runs from.
find_jar() {
    find_process
    [ -n "$pid" ] || fail "the server of $link does not run"
    jar=$(clients_jar "$pid")
    [ -n "$jar" ] || fail "process $pid has no jar of Kafka's clients open, so nobody can tell what it runs"
}

# Goes into the folder that the link is in, and sets owner to the account that can replace it there.
go_in() {
    enter "$parent"
    owner=$(stat -c %u:%g .)
    case $owner in 0:*) roots_alone "$parent" || fail "$parent is root's, and is not root's alone" ;; esac
}

# Whether Kafka's jar of a version is below a folder.
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

# A new link beside the old one takes its place, and belongs to whom that did, if nobody else can put another one there.
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

# Whether a process is there that runs from where the link was pointed, or may yet.
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
