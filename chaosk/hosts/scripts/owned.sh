# Act on a path as the account that owns it, so that links of that account lead root nowhere.

# Check that only root can change or replace the file at a path, with all links on the way. In a folder like /tmp others
# can create files, but not replace root's.
roots_alone() {
    namei -om -- "$1" 2>/dev/null | awk '
        NR == 1 { next }
        $2 != "root" || ($1 !~ /^l/ && ($1 ~ /^.....w/ || $1 ~ /^........w/) && $1 !~ /[tT]$/) { other = 1 }
        END { exit NR < 2 || other }'
}

# Sets owner to the account that acts on a path: the owner of the file. If a link of another account leads there, it is
# the account that could place that link, because it could otherwise make root act as any account.
find_owner() {
    at=${1%/*} it=${1##*/}
    at=${at:-/}
    owner=$(owner_in "$at" "$at") || {
        follow_roots "$1"
        real=$(readlink -f -- "$alone")
        way=${way%/*}
        owner=$(owner_in "$at" "${real%/}${way#"${alone%/}"}") || owner=$(stat -c %u:%g -- "$theirs" 2>/dev/null) ||
            fail "there is no $1"
    }
    case $owner in
        0:*) roots_alone "$1" || fail "$1 is root's, and where it lies is not root's alone: root does nothing with it" ;;
    esac
}

# Sets way to the path with links owned by root resolved, alone to its longest prefix that is root's alone, and theirs
# to that prefix and the next component.
follow_roots() {
    way=$1 hops=0
    while :; do
        alone=$way theirs=$way
        until roots_alone "$alone"; do
            theirs=$alone alone=${alone%/*}
            alone=${alone:-/}
        done
        [ "$theirs" != "$alone" ] && [ -L "$theirs" ] && [ "$(stat -c %u -- "$theirs")" = 0 ] && [ $hops -lt 10 ] || return 0
        hops=$((hops + 1)) to=$(readlink -- "$theirs")
        case $to in /*) way=$to${way#"$theirs"} ;; *) way=${alone%/}/$to${way#"$theirs"} ;; esac
    done
}

# The owner, seen from within the directory after a check of its path: the current directory cannot be redirected.
owner_in() { (cd -- "$1" && [ "$(readlink /proc/self/cwd)" = "$2" ] && stat -c %u:%g -- "./$it") 2>/dev/null; }

# The first bytes of a file. In a folder of another account, that account opens it: it may replace the file at any
# moment.
head_of() {
    if roots_alone "$2"; then
        head -c "$1" -- "$2"
    else
        owner=$(stat -c %u -- "${2%/*}") && as_account timeout 5 head -c "$1" -- "$2" 2>/dev/null
    fi
}

# Runs a command as `owner`, by the number of the account. Its group is the account's own, not the file's, which may be
# root's.
as_account() {
    if [ "$(id -u)" = 0 ]; then
        group=$(id -g -- "${owner%:*}" 2>/dev/null) || group=65534
        setpriv --reuid "${owner%:*}" --regid "$group" --clear-groups -- "$@"
    else
        "$@"
    fi
}
