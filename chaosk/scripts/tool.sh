# Kafka's own tools, as the account that owns them; for scripts that change settings, rights, certificates and topics.
#
# What comes after this sets tool, the program; config, a file of client properties or nothing.
#
# shellcheck disable=SC2154 # see above

fail() {
    echo "$*" >&2
    exit 1
}

fits() {
    [ -x "$tool" ] || fail "there is no $tool"
    [ -z "$config" ] || [ -r "$config" ] || fail "$config cannot be read"
    echo "$tool is there"
}

as_owner() {
    owner=$(stat -c %u:%g -- "$tool") || fail "there is no $tool"
    # LOG_DIR exists, so the tool makes no folder for logs of its own below HOME.
    cd / && LOG_DIR=/tmp setpriv --reuid "${owner%:*}" --regid "${owner#*:}" --clear-groups -- "$tool" "$@"
}
