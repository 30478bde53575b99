# Swap a broker's certificate at one of its listeners, as root: sh -c SCRIPT chaosk ACTION
#
#   put  HOME CONFIG SERVER BROKER ID SETTING      key and certificate on standard input, as PEM
#   lift HOME CONFIG SERVER BROKER ID SETTING...
#
# HOME is Kafka's, CONFIG a file of client properties, SERVER where that broker answers clients, host:port, BROKER its id.
# ID is what it is called on this host, hexadecimal; the file with that name, which put makes and lift removes, is for
# the broker's account to read, whichever that is: nobody trusts its key. put sets SETTING, a name, to that file; lift
# has each SETTING as it was, NAME=VALUE or NAME where it was not set. kafka-configs.sh asks the broker itself, whose
# certificate it does not trust meanwhile: lift has it trust exactly that one, and whom it trusts by CONFIG if that is
# not what it shows. tool.sh and configs.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # it reads broker, user and client; find_owner sets owner

action=$1 tool=$2/bin/kafka-configs.sh config=$3
folder=/var/lib/chaosk-certificates

put() {
    setting=$1
    (umask 022 && mkdir -p "$folder" && cat >"$file.new" && sync "$file.new" && mv "$file.new" "$file") ||
        fail "cannot write $file"
    change "$setting.location=$file" "$setting.type=PEM"
}

# The file has a password in it: for the account alone that the tool runs as. It is read as that, too.
trusting() {
    (
        umask 077
        find_owner "$tool"
        case $owner in 0:*) root_may_run "${tool%/bin/*}" ;; esac
        { as_account grep -v '^ssl\.truststore\.' "$config" || [ $? = 1 ]; } >"$file.properties" && # 1: nothing else in it
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
