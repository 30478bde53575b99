# Examine programs, units, disk space and kernel features of this host, as root: sh -c SCRIPT chaosk [KIND WHAT]...
#
#   tool NAME      check that a program is installed -> tool NAME yes|no
#   program FILE   the account that runs an operator's program: root if only root can replace its file, otherwise the
#                  file's owner; `shared` is root's, but others can replace it
#                                                    -> program FILE no|root|shared|ACCOUNT
#   unit NAME      the state of a systemd unit       -> unit NAME loaded|not-found|...
#                  and its restart policy            -> restart NAME HOW AFTER
#   space PATH     KiB free and KiB in all, at PATH or the nearest existing folder above, and whether it is writable
#                                                    -> space PATH FREE ALL yes|no
#   filter TOOL    iptables, ip6tables or nft: its flavour, and whether it answers
#                                                    -> filter TOOL nf_tables|legacy|none yes|no WHY
#   kernel WHAT    htb (queues for the packets that tc filters select), netem (the same with a delay), timeouts (nft
#                  sets with elements that expire), numgen (random drops in nft) or statistic (in iptables), tried in
#                  a temporary network namespace
#                                                    -> kernel WHAT yes|no|unknown WHY
#
# owned.sh comes before this.
#
# The output begins with `uid NUMBER`, `timer systemd|setsid` (the timer of leases here) and `release KERNEL`. The
# script changes nothing.

yes_no() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }

# Prints the last line of a command's output as the reason, and returns the command's status.
why() {
    said=$("$@" 2>&1) && return
    printf '%s\n' "$said" | tail -n 1
    return 1
}

filter() {
    flavour=none
    if command -v "$1" >/dev/null; then
        case $1:$("$1" --version 2>/dev/null) in
            nft:* | *nf_tables*) flavour=nf_tables ;;
            *) flavour=legacy ;;
        esac
    fi
    case $1 in
        nft) words="list tables" ;;
        *) words="-w 5 -S INPUT" ;;
    esac
    # shellcheck disable=SC2086 # words
    if reason=$(why "$1" $words); then works=yes; else works=no; fi
    echo "filter $1 $flavour $works $reason"
}

program() {
    file=$(command -v -- "$1") || { echo "program $1 no" && return; }
    whose=root
    # shellcheck disable=SC2154 # find_owner sets owner
    roots_alone "$file" ||
        whose=$( (find_owner "$file" && { id -n -u -- "${owner%:*}" || echo "${owner%:*}"; }) 2>/dev/null) || whose=shared
    echo "program $1 $whose"
}

unit() {
    echo "unit $1 $(systemctl show --property LoadState --value -- "$1" 2>/dev/null || echo unknown)"
    again=$(systemctl show --property Restart --value -- "$1" 2>/dev/null)
    [ -z "$again" ] || echo "restart $1 $again $(systemctl show --property RestartUSec --value -- "$1")"
}

space() {
    place=$1
    while [ -n "$place" ] && [ ! -e "$place" ]; do place=${place%/*}; done
    place=${place:-/}
    # df would open it, and a device in its place may act on being opened
    free=$(stat -f -c '%a %b %S' -- "$place" 2>/dev/null | awk '{ printf "%.0f %.0f", $1 * $3 / 1024, $2 * $3 / 1024 }')
    echo "space $1 ${free:-0 0} $(yes_no test -w "$place")"
}

alone() { unshare --net -- "$@"; }
queue() {
    printf '%s\n' 'qdisc add dev lo root handle 1: htb' 'class add dev lo parent 1: classid 1:1 htb rate 1gbit' \
        'filter add dev lo parent 1: protocol ip prio 1 u32 match u32 0 0 flowid 1:1' "qdisc add dev lo parent 1:1 $*" |
        alone tc -batch -
}
htb() { queue bfifo limit 1000000; }
netem() { queue netem delay 1ms; }
timeouts() {
    alone nft 'add table inet t; add set inet t s { type ipv4_addr; flags timeout; }
        add element inet t s { 192.0.2.1 timeout 1s }'
}
numgen() {
    alone nft 'add table inet t; add chain inet t c; add rule inet t c numgen random mod 10000 < 100 counter drop'
}
statistic() { alone iptables -A INPUT -m statistic --mode random --probability 0.0100 -j DROP; }

kernel() {
    case $1 in
        netem | htb) tool=tc ;;
        statistic) tool=iptables ;;
        *) tool=nft ;;
    esac
    if ! command -v $tool >/dev/null; then
        echo "kernel $1 no there is no $tool"
    elif ! why alone true >/dev/null; then
        echo "kernel $1 unknown no network namespace can be made to try it in"
    elif reason=$(why "$1"); then
        echo "kernel $1 yes"
    else
        echo "kernel $1 no $reason"
    fi
}

echo "uid $(id -u)"
echo "timer $(if [ -d /run/systemd/system ]; then echo systemd; else echo setsid; fi)"
echo "release $(uname -r)"
while [ $# -ge 2 ]; do
    case $1 in
        tool) echo "tool $2 $(yes_no command -v "$2")" ;;
        program) program "$2" ;;
        unit) unit "$2" ;;
        space) space "$2" ;;
        filter) case $2 in iptables | ip6tables | nft) filter "$2" ;; esac ;;
        kernel) case $2 in netem | htb | timeouts | numgen | statistic) kernel "$2" ;; esac ;;
    esac
    shift 2
done
