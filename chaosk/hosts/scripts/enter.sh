# Enter a directory through no link; for scripts that work, as root, in folders that a server's account may own.
#
# That account may rename and replace entries there at any moment, and create links. So root uses no path through such a
# folder: the script after this uses names relative to its current directory.

enter() {
    cd -- "$1" 2>/dev/null || fail "there is no directory $1"
    [ "$(readlink /proc/self/cwd)" = "$1" ] || fail "a link leads to $1; name what it leads to"
}
