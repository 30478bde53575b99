# Swap a broker's certificate at one of its listeners, as root: sh -c SCRIPT chaosk ACTION
#
#   put  HOME CONFIG SERVER BROKER ID SETTING      key and certificate on standard input, as PEM
#   lift HOME CONFIG SERVER BROKER ID SETTING...
#
# HOME is Kafka's, CONFIG a file of client properties, SERVER the broker's address for clients (host:port), BROKER its
# id. ID names a file on this host, in hexadecimal. put creates the file and lift removes it. It is readable for any
# account, because the broker's may be any, and no client trusts its key. put points the keystore SETTING at that file.
# lift restores each SETTING: NAME=VALUE, or NAME if it was not set. kafka-configs.sh connects to the broker itself,
# whose certificate it does not trust meanwhile. So lift makes it trust exactly that certificate, and falls back to
# CONFIG if the broker presents another one. tool.sh and configs.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # configs.sh reads broker, user and client; find_owner sets owner

action=$1 tool=$2/bin/kafka-configs.sh config=$3
folder=/var/lib/chaosk-certificates

put() {
    setting=$1
    (umask 022 && mkdir -p "$folder" && cat >"$file.new" && sync "$file.new" && mv "$file.new" "$file") ||
        fail "cannot write $file"
    change "$setting.location=$file" "$setting.type=PEM"
}

# The file has a password in it, so it is written and read as the account of the tool, and is closed to others.
trusting() {
    (
        umask 077
        find_owner "$tool"
        case $owner in 0:*) root_may_run "${tool%/bin/*}" ;; esac
        { as_account grep -v '^ssl\.truststore\.' "$config" || [ $? = 1 ]; } >"$file.properties" && # 1: no other lines
            printf '\nssl.truststore.type=PEM\nssl.truststore.location=%s\n' "$file" >>"$file.properties" &&
            chown "$owner" "$file.properties"
    ) || fail "cannot write $file.properties"
}

lift() {
    if [ -e "$file" ]; then
        trusting
        (config=$file.properties && change "$@") 2>/dev/null || change "$@"
    else
        change "$@"
    fi
    rm -f -- "$file" "$file.new" "$file.properties" || fail "cannot remove $file"
}

case $action in
    put | lift)
        [ $# -ge 7 ] || fail "no settings"
        servers=$4 broker=$5 user='' client='' file=$folder/$6.pem
        shift 6
        "$action" "$@"
        ;;
    *) fail "no such action: $action" ;;
esac
