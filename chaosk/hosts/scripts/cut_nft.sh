# The cut of cut.sh by a separate nft table, which the kernel ends with the lease.
#
# Every rule depends on the elements of a set that time out with the lease. Without them all packets pass, even if no
# process on this host is left to remove the rules. A renewal of the lease renews the elements, by the file `renewed` in
# the lease's folder. A change is one transaction. No other rule can pass what these rules drop, so they need not come
# first. They are applied after address translation, at the position of the iptables rules.
#
# shellcheck disable=SC2154 # cut.sh sets them: chain comment flavour rules ssh_port table

# nft's error message if the kernel has no nf_tables; the cut cannot exist then.
no_nf_tables() { case $1 in *"not supported"* | *"Invalid argument"*) ;; *) return 1 ;; esac }

# Translates one iptables rule to nft; only the forms of rules.py are accepted.
nft_words() {
    case $1 in 4) words="meta nfproto ipv4" ip=ip ;; *) words="meta nfproto ipv6" ip=ip6 ;; esac
    shift 2
    while [ $# -ge 2 ]; do
        case $1 in
            -i) words="$words iifname \"$2\"" ;;
            -o) words="$words oifname \"$2\"" ;;
            -s) words="$words $ip saddr $2" ;;
            -d) words="$words $ip daddr $2" ;;
            -p) words="$words meta l4proto $2" ;;
            --sport | --dport) words="$words tcp ${1#--} $2" ;;
            -m | --mode) case $2 in statistic | random) ;; *) fail "no such match: $2" ;; esac ;;
            --probability) words="$words numgen random mod 10000 < $(echo "${2#*.}" | sed 's/^0*//')" ;;
            -j) case $2 in
                RETURN) words="$words return" ;;
                DROP) words="$words counter drop" ;;
                REJECT) words="$words counter reject" ;;
                *) fail "no such verdict: $2" ;;
            esac ;;
            --reject-with) words="$words with $(echo "$2" | tr - ' ')" ;;
            *) fail "no such condition: $1" ;;
        esac
        shift 2
    done
    echo "$words"
}

# One chain. SSH comes first, then neighbour discovery, or SSH over IPv6 would not find the way.
nft_chain() {
    lines=$(printf '%s\n' "$rules" | sed -n "s/^maybe-//; /^[46] $1 /p")
    [ -n "$lines" ] || return 0
    case $1 in I) hook=input port=dport ;; O) hook=output port=sport ;; esac
    cat <<END
chain $hook {
type filter hook $hook priority -5; policy accept;
meta nfproto != @lease return comment "$(printf %.120s "$comment")"
tcp $port $ssh_port return
icmpv6 type { 133, 134, 135, 136 } return
END
    case $lines in *REJECT*) nft_refusals ;; esac
    printf '%s\n' "$lines" | while read -r line; do
        # shellcheck disable=SC2086 # words
        nft_words $line || exit 1
    done || exit 1
    echo "}"
}

# The packets of a refusal, resets and unreachables: this host sends them, and the same rules would stop them.
nft_refusals() {
    echo "tcp flags & rst == rst return"
    echo "icmp type destination-unreachable return"
    echo "icmpv6 type destination-unreachable return"
}

# The table, with an empty set.
nft_table() {
    echo "table inet $table {"
    echo "set lease { type nf_proto; flags timeout; }"
    nft_chain I || exit 1
    nft_chain O || exit 1
    echo "}"
}

# The table as nft lists it, made in a temporary network namespace; also proves that nft and the kernel support it.
nft_listed() {
    wanted=$(nft_table) || exit 1
    # shellcheck disable=SC2016 # the inner shell expands
    printf '%s\n' "$wanted" |
        unshare --net sh -c 'nft -f - && nft --stateless --terse list table inet "$1"' sh "$table"
}

# The elements that keep the cut in force for some hundredths of a second; without a lease, until it is removed.
nft_elements() { echo "{ ipv4${1:+ timeout ${1}0ms}, ipv6${1:+ timeout ${1}0ms} }"; }

nft_able() { command -v nft >/dev/null && nft_listed >/dev/null 2>&1; }

nft_install() {
    wanted=$(nft_table) || exit 1
    left=
    if [ -n "$CHAOSK_LEASE" ]; then left=$(sh "$CHAOSK_LEASE/lease" left "${CHAOSK_LEASE##*/}") || exit 1; fi
    nft -f - <<END || fail "nft failed"
add table inet $table
delete table inet $table
$wanted
add element inet $table lease $(nft_elements "$left")
END
    [ -z "$CHAOSK_LEASE" ] || nft_renewed >"$CHAOSK_LEASE/renewed" || fail "cannot write $CHAOSK_LEASE/renewed"
}

# The script that renews the elements; fails if they have timed out, because then there was a time without the cut.
nft_renewed() {
    # shellcheck disable=SC2016 # the file's own argument
    cat <<END
nft list table inet $table >/dev/null 2>&1 || exit 0
nft -f - <<WORDS
delete element inet $table lease { ipv4, ipv6 }
add element inet $table lease $(nft_elements '${1}')
WORDS
END
}

nft_standing() {
    expected=$(nft_listed) || fail "nft failed"
    [ "$(nft --stateless --terse list table inet "$table")" = "$expected" ] || fail "$table has not the rules it was given"
    nft_in_force
    nft list table inet "$table" | awk -v table="$table" '
        / counter packets / { rules++; sub(/.* counter packets /, ""); stopped += $1 }
        END { print table ": " rules + 0 " rules that stop, " stopped + 0 " packets stopped" }'
    echo "lease: $left"
    nft_mark
}

nft_in_force() {
    left=$(nft list set inet "$table" lease | sed -n 's/.*elements = //p')
    case $left in
        *ipv4*ipv6* | *ipv6*ipv4*) ;;
        *) fail "the kernel has ended $table: its lease was not renewed" ;;
    esac
}

nft_lasts() {
    nft_in_force
    echo "$table is in force"
    nft_mark
}

# The whole table, with the kernel's rule handles, which are never reused.
nft_mark() {
    listed=$(nft --handle --stateless --terse list table inet "$table") || unasked "nft does not answer"
    echo "mark $table $(printf '%s' "$listed" | cksum | tr ' ' -)"
}

# Check that the table exists; fails if nft does not answer.
nft_there() {
    command -v nft >/dev/null || return 1
    tables=$(nft list tables 2>&1) || { no_nf_tables "$tables" && return 1; } || fail "nft does not answer: $tables"
    printf '%s\n' "$tables" | grep -q -x -F "table inet $table"
}

nft_remove() {
    ! nft_there || printf '%s\n' "add table inet $table" "delete table inet $table" | nft -f - || fail "nft failed"
}

nft_gone() {
    ! nft_there || fail "$table is there"
    echo "no table $table"
}
