# Read rules on packets for the network steps from standard input, one a line: FAMILY SIDE WORDS.
#
# FAMILY is 4, 6 or any, SIDE is I or O. In WORDS `@_self` is the address of chaosk's machine as this host sees it,
# `@NAME` every address of a host name. The file after this uses the rules, and ssh_port.

# shellcheck disable=SC2034 # the files after this read it
ssh_port=${SSH_CONNECTION##* }
client=${SSH_CONNECTION%% *}
client=${client#::ffff:}

# Exits with 2: the answer is unknown.
unasked() {
    echo "$*" >&2
    exit 2
}

family_of() { case $1 in *:*) echo 6 ;; *) echo 4 ;; esac }

addresses() {
    case $1 in
        _self) echo "$client" ;;
        *) getent ahosts "$1" | cut -d ' ' -f 1 | sort -u ;;
    esac
}

# RULES with numeric addresses and the family 4 or 6; `any` without an address becomes 4 and maybe-6.
expand() {
    while read -r family side words; do
        case $family:$words in
            *@*) with_addresses "$family" "$side" "$words" || exit 1 ;;
            any:*) printf '%s\n' "4 $side $words" "maybe-6 $side $words" ;;
            *) echo "$family $side $words" ;;
        esac
    done
}

# One rule for each address of the name in it, of the rule's family.
with_addresses() {
    rest=${3#*@}
    name=${rest%% *}
    found=
    for address in $(addresses "$name"); do
        family=$(family_of "$address")
        [ "$1" = any ] || [ "$1" = "$family" ] || continue
        found=yes
        echo "$family $2 ${3%%@*}$address${rest#"$name"}"
    done
    [ -n "$found" ] || fail "this host knows no address of $name (IP version $1)"
}

read_rules() {
    [ -n "$SSH_CONNECTION" ] || fail "sshd has not set SSH_CONNECTION: which port must stay open is unknown"
    rules=$(expand) || exit 1
    [ -n "$rules" ] || fail "no rules"
}
