# A network cut on this host, as root: sh -c SCRIPT chaosk ACTION CHAIN COMMENT <RULES
#
#   ACTION   install | standing | gone | remove
#   CHAIN    names the cut; its chains are CHAIN-I for arriving packets and CHAIN-O for leaving ones
#   COMMENT  tags the two jumps into them; one word
#   RULES    for install and standing, one a line: FAMILY SIDE WORDS; FAMILY is 4, 6 or any, SIDE is I or O. In WORDS
#            `@_self` is the address of chaosk's machine as this host sees it, `@NAME` every address of a host name.
#
# Only these chains and jumps are ever touched. Each family's change is one transaction. The jumps come first in INPUT
# and OUTPUT, so that the chains also stop packets of established connections; in them, SSH to this host comes first.

set -f
action=$1 chain=$2 comment=$3
client=${SSH_CONNECTION%% *}
client=${client#::ffff:}
ssh_port=${SSH_CONNECTION##* }

fail() {
    echo "$*" >&2
    exit 1
}

tool() { case $1 in 4) echo iptables ;; 6) echo ip6tables ;; esac }
base() { case $1 in I) echo INPUT ;; O) echo OUTPUT ;; esac }
family_of() { case $1 in *:*) echo 6 ;; *) echo 4 ;; esac }

addresses() {
    case $1 in
        _self) echo "$client" ;;
        *) getent ahosts "$1" | cut -d ' ' -f 1 | sort -u ;;
    esac
}

# RULES with every address numeric and every family 4 or 6; `any` without an address becomes 4 and maybe-6.
expand() {
    while read -r family side words; do
        case $family:$words in
            *@*) with_addresses "$family" "$side" "$words" || exit 1 ;;
            any:*) printf '%s\n' "4 $side $words" "maybe-6 $side $words" ;;
            *) echo "$family $side $words" ;;
        esac
    done
}

# One rule for every address that the name in it has, of the rule's family.
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

# Without IPv6 tables a cut is whole all the same, if the host has no IPv6 address that others could use.
has_ipv6() { ip6tables -w 5 -S INPUT >/dev/null 2>&1; }
uses_ipv6() { [ -r /proc/net/if_inet6 ] && awk '$4 == "00" { found = 1 } END { exit !found }' /proc/net/if_inet6; }

read_rules() {
    [ -n "$SSH_CONNECTION" ] || fail "sshd has not set SSH_CONNECTION: which port must stay open is unknown"
    rules=$(expand) || exit 1
    [ -n "$rules" ] || fail "no rules"
    if has_ipv6; then
        rules=$(printf '%s\n' "$rules" | sed 's/^maybe-6/6/')
    elif uses_ipv6 || printf '%s\n' "$rules" | grep -q '^6'; then
        fail "ip6tables does not work here, and this host uses IPv6: the cut would have a hole"
    fi
}

# The rules of one chain, SSH first; for IPv6, neighbour discovery as well, or SSH would not find the way.
rules_of() {
    lines=$(printf '%s\n' "$rules" | sed -n "s/^$1 $2 //p")
    [ -n "$lines" ] || return 0
    case $2 in
        I) echo "-p tcp --dport $ssh_port -j RETURN" ;;
        O) echo "-p tcp --sport $ssh_port -j RETURN" ;;
    esac
    if [ "$1" = 6 ]; then
        for type in 133 134 135 136; do echo "-p ipv6-icmp --icmpv6-type $type -j RETURN"; done
    fi
    printf '%s\n' "$lines"
}

# What iptables-restore reads to add the chains of one family; nothing if it has no rules.
addition() {
    for side in I O; do
        [ -n "$(rules_of "$1" $side)" ] || continue
        echo ":$chain-$side - [0:0]"
        rules_of "$1" $side | sed "s/^/-A $chain-$side /"
        echo "-I $(base $side) 1 -m comment --comment $comment -j $chain-$side"
    done
}

# What iptables-restore reads to remove all there is of the cut in one family; nothing if there is nothing.
removal() {
    "$1-save" -t filter | awk -v arriving="$chain-I" -v leaving="$chain-O" '
        $1 == ":" arriving || $1 == ":" leaving { name = substr($1, 2); last = last "-F " name "\n-X " name "\n" }
        $1 == "-A" && ($NF == arriving || $NF == leaving) { sub(/^-A/, "-D"); print }
        END { printf "%s", last }'
}

apply() {
    [ -z "$2" ] || printf '*filter\n%s\nCOMMIT\n' "$2" | "$1-restore" --noflush -w 5 || fail "$1-restore failed"
}

remove() {
    apply iptables "$(removal iptables)"
    ! has_ipv6 || apply ip6tables "$(removal ip6tables)"
}

gone() {
    saved=$(iptables-save -t filter) || fail "iptables-save failed"
    ! has_ipv6 || saved=$saved$(ip6tables-save -t filter) || fail "ip6tables-save failed"
    case $saved in *"$chain"*) return 1 ;; esac
}

install() {
    remove
    for family in 4 6; do
        # half a cut is none: what stands by then is taken away
        (apply "$(tool $family)" "$(addition $family)") || { remove && exit 1; }
    done
}

# One chain as it should be: its jump before any rule that is not a cut's, and its rules, all of them and no others.
chain_stands() {
    command=$(tool "$1") name=$chain-$2
    expected=$(rules_of "$1" "$2")
    [ -n "$expected" ] || return 0
    # shellcheck disable=SC2046 # one word
    "$command" -w 5 -C $(base "$2") -m comment --comment "$comment" -j "$name" 2>/dev/null || fail "no jump to $name"
    "$command" -w 5 -S "$(base "$2")" | awk -v name="$name" '
        $1 == "-A" && $NF == name { found = 1; exit }
        $1 == "-A" && $NF !~ /^CHAOSK-/ { exit }
        END { exit !found }' || fail "another rule comes before the jump to $name"
    [ "$("$command" -w 5 -S "$name" | grep -c '^-A')" = "$(printf '%s\n' "$expected" | grep -c .)" ] ||
        fail "$name has not the rules it was given"
    printf '%s\n' "$expected" | while read -r words; do
        # shellcheck disable=SC2086 # words
        "$command" -w 5 -C "$name" $words 2>/dev/null || fail "$name lacks: $words"
    done || exit 1
    stopped=$("$command" -w 5 -nvxL "$name" | awk '$3 == "DROP" || $3 == "REJECT" { n += $1 } END { print n + 0 }')
    echo "$name (IPv$1): $(printf '%s\n' "$expected" | grep -c .) rules, $stopped packets stopped"
}

case $action in
    install)
        read_rules
        install
        ;;
    standing)
        read_rules
        for family in 4 6; do
            for side in I O; do chain_stands $family $side || exit 1; done
        done
        ;;
    gone)
        gone || fail "$chain is there"
        echo "no rule of $chain"
        ;;
    remove)
        remove
        ;;
    *) fail "no such action: $action" ;;
esac
