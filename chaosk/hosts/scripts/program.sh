# Run a program of Kafka's as the account that owns it. owned.sh comes before this.
#
# The file after this sets tool, the program; owner, numbers; and config, a file of client properties or nothing.
#
# shellcheck disable=SC2154 # see above

# Runs `tool`, a program of Kafka's, as `owner`; as root only if all that it loads is root's alone.
run_tool() {
    case $owner in 0:*) root_may_run "${tool%/bin/*}" ;; esac
    # LOG_DIR exists, so the tool creates no log folder below HOME.
    cd / && LOG_DIR=/tmp as_account "$tool" "$@"
}

root_may_run() {
    for each in "$tool" "$1/bin" "$1/libs" "$1/config" "$config"; do
        [ ! -e "$each" ] || roots_alone "$each" || others_can "$each"
    done
    each=$(find "$1/bin" "$1/libs" "$1/config" -type l 2>/dev/null | while IFS= read -r link; do
        roots_alone "$link" || printf '%s\n' "$link"
    done | head -n 1)
    [ -z "$each" ] || others_can "$each"
    each=$(find -L "$1/bin" "$1/libs" "$1/config" ! -type l \( ! -user 0 -o -perm /022 \) 2>/dev/null | head -n 1)
    [ -z "$each" ] || others_can "$each"
}

others_can() { fail "root would run $tool, and $1 is not root's alone: have Kafka's files belong to another account"; }
