# The cut of cut.sh by iptables and ip6tables, each kind of which (nf_tables, legacy) does.
#
# Only the cut's chains and jumps into them are changed, each family in one transaction. The jumps come first in INPUT
# and OUTPUT, so that packets of established connections are stopped, too. In the chains, SSH to this host comes first.
#
# shellcheck disable=SC2154 # cut.sh sets them: chain comment rules ssh_port

tool() { case $1 in 4) echo iptables ;; 6) echo ip6tables ;; esac }
base() { case $1 in I) echo INPUT ;; O) echo OUTPUT ;; esac }

# Without IPv6 tables a cut is still complete if the host has no IPv6 address that others could use.
has_ipv6() { ip6tables -w 5 -S INPUT >/dev/null 2>&1; }
uses_ipv6() { [ -r /proc/net/if_inet6 ] && awk '$4 == "00" { found = 1 } END { exit !found }' /proc/net/if_inet6; }

# Check that every family in use can be cut; then `rules` has no maybe in it.
iptables_ready() {
    if has_ipv6; then
        rules=$(printf '%s\n' "$rules" | sed 's/^maybe-6/6/')
    elif uses_ipv6 || printf '%s\n' "$rules" | grep -q '^6'; then
        fail "ip6tables does not work here, and this host uses IPv6: the cut would have a hole"
    fi
}

# The rules of one chain, SSH first. IPv6 needs neighbour discovery as well, or SSH would not find the way.
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
    case $lines in *REJECT*) refusals_of "$1" ;; esac
    printf '%s\n' "$lines"
}

# The packets of a refusal, resets and unreachables: this host sends them, and the same rules would stop them.
refusals_of() {
    echo "-p tcp --tcp-flags RST RST -j RETURN"
    case $1 in
        4) echo "-p icmp --icmp-type 3 -j RETURN" ;;
        6) echo "-p ipv6-icmp --icmpv6-type 1 -j RETURN" ;;
    esac
}

# Input of iptables-restore that adds the chains of one family; empty without rules.
addition() {
    for side in I O; do
        [ -n "$(rules_of "$1" $side)" ] || continue
        echo ":$chain-$side - [0:0]"
        rules_of "$1" $side | sed "s/^/-A $chain-$side /"
        echo "-I $(base $side) 1 -m comment --comment $comment -j $chain-$side"
    done
}

# Input of iptables-restore that removes the cut from one family; empty if it is not there.
removal() {
    "$1-save" -t filter | awk -v arriving="$chain-I" -v leaving="$chain-O" '
        $1 == ":" arriving || $1 == ":" leaving { name = substr($1, 2); last = last "-F " name "\n-X " name "\n" }
        $1 == "-A" && ($NF == arriving || $NF == leaving) { sub(/^-A/, "-D"); print }
        END { printf "%s", last }'
}

apply() {
    [ -z "$2" ] || printf '*filter\n%s\nCOMMIT\n' "$2" | "$1-restore" --noflush -w 5 || fail "$1-restore failed"
}

iptables_remove() {
    apply iptables "$(removal iptables)"
    ! has_ipv6 || apply ip6tables "$(removal ip6tables)"
}

iptables_gone() {
    saved=$(iptables-save -t filter) || fail "iptables-save failed"
    ! has_ipv6 || saved=$saved$(ip6tables-save -t filter) || fail "ip6tables-save failed"
    case $saved in *"$chain"*) fail "$chain is there" ;; esac
    echo "no rule of $chain"
}

iptables_install() {
    iptables_ready
    iptables_remove
    for family in 4 6; do
        # a partial cut is removed again
        (apply "$(tool $family)" "$(addition $family)") || { iptables_remove && exit 1; }
    done
}

iptables_standing() {
    iptables_ready
    for family in 4 6; do
        for side in I O; do chain_stands $family $side || exit 1; done
    done
    iptables_marks
}

iptables_lasts() {
    found=
    for family in 4 6; do
        [ $family = 4 ] || has_ipv6 || continue
        saved=$("$(tool $family)-save" -t filter) || unasked "$(tool $family)-save does not answer"
        case $saved in *":$chain-"*) found=yes ;; esac
        # every chain has its jump, before all rules of others
        lost=$(printf '%s\n' "$saved" | awk -v chain="$chain-" '
            substr($1, 1, 1) == ":" && index($1, ":" chain) == 1 { wanted[substr($1, 2)] }
            $1 == "-A" && ($2 == "INPUT" || $2 == "OUTPUT") && !closed[$2] {
                if ($NF in wanted) delete wanted[$NF]
                else if ($NF !~ /^CHAOSK-/) closed[$2] = 1
            }
            END { for (name in wanted) printf "%s ", name }')
        [ -z "$lost" ] || fail "no jump to ${lost% } where it has to be (IPv$family)$(suspects)"
    done
    [ -n "$found" ] || fail "neither a table $table nor chains $chain$(suspects)"
    echo "$chain is in force"
    iptables_marks
}

# The rules and jumps of the cut without counters. If nft shows the same tables, the kernel's rule handles are included,
# which are never reused. Otherwise the counters are: they only grow while the rules exist, unless they are reset.
iptables_marks() {
    for family in 4 6; do
        [ $family = 4 ] || has_ipv6 || continue
        saved=$("$(tool $family)-save" -c -t filter) || unasked "$(tool $family)-save does not answer"
        lines=$(printf '%s\n' "$saved" | grep -F -e "$chain-" | grep -v '^:')
        rules_now=$(printf '%s\n' "$lines" | sed 's/^\[[0-9:]*\] //')
        echo "mark $chain/IPv$family $(printf '%s' "$rules_now" | cksum | tr ' ' -)"
        [ $family = 4 ] && kind=ip || kind=ip6
        numbered=$(for side in I O; do
            nft --handle --stateless list chain "$kind" filter "$chain-$side" 2>/dev/null
        done)
        if [ -n "$numbered" ]; then
            echo "mark $chain/IPv$family/numbers $(printf '%s' "$numbered" | cksum | tr ' ' -)"
        else
            counted=$(printf '%s\n' "$lines" | sed -n 's/^\[\([0-9]*\):.*/\1/p' | tr '\n' ' ')
            echo "count $chain/IPv$family $counted"
        fi
    done
}

# One complete chain: its jump before all rules of others, and exactly its rules.
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
