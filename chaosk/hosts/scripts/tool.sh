# Run Kafka's tools as the account that owns them; for scripts that change settings, rights, certificates and topics.
#
# owned.sh and program.sh come before this. The file after this sets tool, the program, and config, a file of client
# properties or empty.
#
# shellcheck disable=SC2154 # see above

fits() {
    [ -x "$tool" ] || fail "there is no $tool"
    find_owner "$tool"
    [ -z "$config" ] || as_account test -r "$config" || fail "$config cannot be read by the account that $tool belongs to"
    case $owner in 0:*) root_may_run "${tool%/bin/*}" ;; esac
    echo "$tool is there"
}

as_owner() {
    find_owner "$tool"
    run_tool "$@"
}
