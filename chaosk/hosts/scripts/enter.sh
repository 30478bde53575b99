# Enter a directory through no link; for scripts that work, as root, in folders that a server's account may own.
#
# It may rename and replace what is in there at any moment, and put a link anywhere. So root opens, changes and moves
# nothing by a path that leads through it: what comes after this uses names relative to where it is. It has a fail.

enter() {
    cd -- "$1" 2>/dev/null || fail "there is no directory $1"
    [ "$(readlink /proc/self/cwd)" = "$1" ] || fail "a link leads to $1; name what it leads to"
}
