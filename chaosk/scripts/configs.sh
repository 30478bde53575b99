# Kafka's own tools, as the account that owns them; for scripts that change settings, rights and certificates.
#
# What comes after this sets tool, the program; config, a file of client properties or nothing; servers, brokers,
# host:port with commas between; broker, user and client: whose settings they are, the others are empty.
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

alter() {
    set -- --bootstrap-server "$servers" --alter
    [ -z "$config" ] || set -- "$@" --command-config "$config"
    [ -z "$broker" ] || set -- "$@" --entity-type brokers --entity-name "$broker"
    [ -z "$user" ] || set -- "$@" --entity-type users --entity-name "$user"
    [ -z "$client" ] || set -- "$@" --entity-type clients --entity-name "$client"
    [ -z "$added" ] || set -- "$@" --add-config "$added"
    [ -z "$removed" ] || set -- "$@" --delete-config "$removed"
    as_owner "$@"
}

as_owner() {
    owner=$(stat -c %u:%g -- "$tool") || fail "there is no $tool"
    # LOG_DIR exists, so the tool makes no folder for logs of its own below HOME.
    cd / && LOG_DIR=/tmp setpriv --reuid "${owner%:*}" --regid "${owner#*:}" --clear-groups -- "$tool" "$@"
}

refused='s/.*Invalid config(s): *\([A-Za-z0-9._, -]*\).*/\1/p'

# Kafka's tool refuses to remove what is not set, and does nothing then: it names what that is.
change() {
    unset_there=,
    for try in 1 2; do
        added='' removed=''
        for setting; do
            case $setting in
                *=*) added=${added:+$added,}$setting ;;
                *) case $unset_there in *",$setting,"*) ;; *) removed=${removed:+$removed,}$setting ;; esac ;;
            esac
        done
        [ -n "$added$removed" ] || return 0
        said=$(alter 2>&1) && return 0
        names=$(printf '%s\n' "$said" | sed -n "$refused" | head -n 1 | tr -d ' ')
        [ "$try" = 1 ] && [ -n "$names" ] || fail "$(printf '%s\n' "$said" | head -n 3)"
        unset_there=,$names,
    done
}
