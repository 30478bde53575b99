# Does something as the account that owns what it is done to: whatever links that account puts there lead root nowhere.
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

# Carries out a command as the account that a file or directory belongs to; as root only if that is root's alone.
as_owner_of() {
    owner=$(stat -c %u:%g -- "$1" 2>/dev/null) || fail "there is no $1"
    case $owner in
        0:*) roots_alone "$1" || fail "$1 is root's, and somebody else can replace it: root does nothing with it" ;;
    esac
    shift
    as_account "$@"
}

# The same as `owner`, whose first part is the account's number. Its group is its own, not the file's, which may be root's.
as_account() {
    if [ "$(id -u)" = 0 ]; then
        group=$(id -g -- "${owner%:*}" 2>/dev/null) || group=65534
        setpriv --reuid "${owner%:*}" --regid "$group" --clear-groups -- "$@"
    else
        "$@"
    fi
}
