# Act on a path as the account that owns it, so that links of that account lead root nowhere.
#
# What comes after this has a fail.

# Whether nobody but root can change or replace what is at a path, whichever links lead there. In a folder like /tmp others
# can make files, and not replace root's.
roots_alone() {
    namei -om -- "$1" 2>/dev/null | awk '
        NR == 1 { next }
        $2 != "root" || ($1 !~ /^l/ && ($1 ~ /^.....w/ || $1 ~ /^........w/) && $1 !~ /[tT]$/) { other = 1 }
        END { exit NR < 2 || other }'
}

# Sets owner to the account as which something is done at a path: whose it is. Where a link leads there that is not
# root's, it is the account that could put that link there, which else could have root act as anybody.
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

# Sets way to a path without the links of root's, alone to the part of it that is root's alone, and theirs to that and
# the first one that is not.
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

# Whose it is, in a directory that is where it should be: nobody can lead elsewhere what has gone into it.
owner_in() { (cd -- "$1" && [ "$(readlink /proc/self/cwd)" = "$2" ] && stat -c %u:%g -- "./$it") 2>/dev/null; }

# The first bytes of a file, so many at most. In a folder that is not root's its account may put anything there at any
# moment, so that account opens it.
head_of() {
    if roots_alone "$2"; then
        head -c "$1" -- "$2"
    else
        owner=$(stat -c %u -- "${2%/*}") && as_account timeout 5 head -c "$1" -- "$2" 2>/dev/null
    fi
}

# Carries out a command as `owner`, whose first part is the account's number. Its group is its own, not the file's, which
# may be root's.
as_account() {
    if [ "$(id -u)" = 0 ]; then
        group=$(id -g -- "${owner%:*}" 2>/dev/null) || group=65534
        setpriv --reuid "${owner%:*}" --regid "$group" --clear-groups -- "$@"
    else
        "$@"
    fi
}
