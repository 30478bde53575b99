# Settings of brokers and clients, changed by Kafka's own tool. tool.sh comes before this.
#
# The file after this sets servers: brokers as host:port, comma-separated. It also sets broker, user and client: the
# owner of the settings; unused ones are empty.
#
# shellcheck disable=SC2154 # see above

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

refused='s/.*Invalid config(s): *\([A-Za-z0-9._, -]*\).*/\1/p'

# Kafka's tool refuses as a whole if a setting to remove is not set, and names such settings. They are left out then.
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
