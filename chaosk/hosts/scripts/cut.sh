# Cut this host's network, as root: sh -c SCRIPT chaosk ACTION CHAIN COMMENT FLAVOUR <RULES
#
#   ACTION   install | standing | lasts | gone | remove; standing checks the rules, lasts (cheap) only that they are
#            there; both print the same marks, which change if the cut is installed again
#   CHAIN    names the cut, CHAOSK-HASH; with iptables its chains are CHAIN-I for incoming and CHAIN-O for outgoing
#            packets, with nft its table is inet chaosk-HASH
#   COMMENT  tags it; one word
#   FLAVOUR  nft, iptables, or auto: nft if it is installed and the kernel supports it, otherwise iptables
#   RULES    for install and standing, one a line: FAMILY SIDE WORDS; FAMILY is 4, 6 or any, SIDE is I or O, WORDS are
#            those of iptables, with names in them (rules.sh).
#
# rules.sh, cut_iptables.sh and cut_nft.sh come before this. A cut by nft that is installed under a lease (lease.sh
# names its folder in CHAOSK_LEASE) ends with the lease, even if every process dies.

set -f
# shellcheck disable=SC2034 # the files before this read some of them
action=$1 chain=$2 comment=$3 flavour=$4 table=chaosk-${2#CHAOSK-}

# The packet filter to install it with.
choice() {
    case $flavour in
        nft)
            command -v nft >/dev/null || fail "there is no nft; install it there (nftables on Debian)"
            nft_listed >/dev/null || fail "nft cannot do it here; write \`firewall: iptables\` for this host"
            echo nft
            ;;
        auto) if nft_able; then echo nft; else echo iptables; fi ;;
        *) echo iptables ;;
    esac
}

# The packet filter that it is installed in.
found() { if [ "$flavour" != iptables ] && nft_there; then echo nft; else echo "${flavour#auto}"; fi; }

# Check that it is installed; unknown if a packet filter does not answer.
lasts() {
    if [ "$flavour" != iptables ] && command -v nft >/dev/null; then
        tables=$(nft list tables 2>&1) || { [ "$flavour" = auto ] && no_nf_tables "$tables"; } ||
            unasked "nft does not answer: $tables"
        if printf '%s\n' "$tables" | grep -q -x -F "table inet $table"; then
            nft_lasts
            return
        fi
    fi
    if [ "$flavour" = nft ] || ! command -v iptables-save >/dev/null; then fail "no table $table$(suspects)"; fi
    iptables_lasts
}

# Possible causes of lost rules: managers of the packet filter, and those of them started or stopped within a minute.
suspects() {
    [ -z "$(nft list tables 2>/dev/null)" ] && ! command -v iptables-save >/dev/null && printf ', nor any other table'
    found=$(set +f; cat /proc/[0-9]*/comm 2>/dev/null |
        grep -x -E 'firewalld|ufw|dockerd|kube-proxy|fail2ban-server|crowdsec.*|cilium-agent|calico-node|felix' | sort -u |
        tr '\n' ' ')
    [ -z "$found" ] || printf '; here run %s, which change the packet filter' "${found% }"
    [ ! -d /run/systemd/system ] || recent
}

# Units that load a packet filter, and were active within the last minute.
recent() {
    read -r up _ </proc/uptime
    systemctl show --property=Id --property=StateChangeTimestampMonotonic -- firewalld nftables ufw iptables ip6tables \
        netfilter-persistent docker fail2ban 2>/dev/null | awk -F= -v up="$up" '
        $1 == "Id" { id = $2 }
        $1 == "StateChangeTimestampMonotonic" && $2 > 0 && up - $2 / 1e6 < 60 {
            printf "; %s was started, stopped or loaded anew %.0f s ago", id, up - $2 / 1e6
        }'
}

# Removes it from each possible packet filter, from the second also if the first fails.
each() {
    failed=
    for one in iptables nft; do
        case $flavour:$one in
            auto:iptables) ! command -v iptables-save >/dev/null || ("${one}_$1") || failed=yes ;;
            auto:nft | "$one:$one") ("${one}_$1") || failed=yes ;;
        esac
    done
    [ -z "$failed" ]
}

case $action in install | standing | lasts | gone | remove) ;; *) fail "no such action: $action" ;; esac
case $flavour in auto | nft | iptables) ;; *) fail "no such flavour: $flavour" ;; esac
case $action in
    install)
        read_rules
        by=$(choice) || exit 1
        "${by}_install"
        ;;
    standing)
        read_rules
        by=$(found) || exit 1
        "${by:-iptables}_standing"
        ;;
    lasts) lasts ;;
    *) each "$action" ;;
esac
