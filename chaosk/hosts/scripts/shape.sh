# Delay, limit, duplicate or reorder packets that leave this host, as root: sh -c SCRIPT chaosk ACTION ID [HOW] <RULES
#
#   fits ID HOW     check that the kernel supports it, and that the queues are not configured by others
#   put ID HOW      install it; repeating it installs it again
#   stands ID HOW   check that all of it is in place; prints its traffic
#   lasts ID        check cheaply that it is in place; prints the same marks as stands, new ones after each put
#   lift ID         remove it; the kernel restores its own queues
#   gone ID         check that nothing of it is left, and that every interface has its original queues
#
#   ID      ten hexadecimal digits
#   HOW     in tc's words, `netem WORDS`, or `htb WORDS limit BYTES` for a rate
#   RULES   for fits, put and stands: as for a cut (cut.sh), of side O only; -j DROP selects packets
#
# Each interface to a selected peer gets a root queueing discipline: htb, with one class for the packets that filters
# select. All other packets, SSH first, pass it directly as before. A root of another program is never replaced. The
# original queues are written to a note first; without a note nothing was changed.
#
# rules.sh and kept.sh come before this.
#
# shellcheck disable=SC2154 # rules.sh and kept.sh set them: kept rules ssh_port

set -f
action=$1 id=$2 how=$3
named "$id"
note=$kept/queues/$id
handle=c4$(printf %.2s "$id") # the mark of this script's queues
through="flowid $handle:1" past="flowid $handle:0"

# --- which packets --------------------------------------------------------------------------------------------------

# The conditions of one rule in the syntax of the u32 filter.
u32_words() {
    case $1 in 4) ip=ip all=32 ;; *) ip=ip6 all=128 ;; esac
    [ "$2" = O ] || fail "only what leaves can be held up: $*"
    found='' flow=
    shift 2
    while [ $# -ge 2 ]; do
        case $1 in
            -s) found="$found match $ip src $2/$all" ;;
            -d) found="$found match $ip dst $2/$all" ;;
            -p) found="$found match $ip protocol 6 0xff" ;;
            --sport | --dport) found="$found match $ip ${1#--} $2 0xffff" ;;
            -j) case $2 in RETURN) flow=$past ;; *) flow=$through ;; esac ;;
            *) fail "no such condition: $1" ;;
        esac
        shift 2
    done
    echo "u32${found:- match u32 0 0} $flow"
}

# The rules for an interface: those with a peer that it leads to, and those for any peer.
rules_for() {
    printf '%s\n' "$rules" | sed 's/^maybe-//' | while read -r family side words; do
        case " $words" in
            *' -d '*)
                peer=${words#*-d }
                peer=${peer%% *}
                way=$(way_to "$peer") || exit 1
                [ "$way" != "$1" ] || echo "$family $side $words"
                ;;
            *) echo "$family $side $words" ;;
        esac
    done
}

way_to() {
    way=$(ip -o route get "$1" 2>&1) || fail "there is no way to $1: $way"
    way=$(printf '%s\n' "$way" | sed -n 's/.* dev \([^ ]*\).*/\1/p')
    [ "$way" != lo ] || fail "$1 is an address of this host itself"
    echo "$way"
}

# The interfaces to all named peers, and for a rule on any peer all that have routes.
interfaces() {
    ways=$(printf '%s\n' "$rules" | sed -n 's/.* -d \([^ ]*\).*/\1/p' | sort -u | while read -r peer; do
        way_to "$peer" || exit 1
    done) || exit 1
    if printf '%s\n' "$rules" | grep -v -q -e ' -d '; then
        ways="$ways
$({ ip -o -4 route show; ip -o -6 route show; } | sed -n 's/.* dev \([^ ]*\).*/\1/p' | grep -v -x lo)"
    fi
    printf '%s\n' "$ways" | sort -u
}

# --- what is placed -------------------------------------------------------------------------------------------------

# The input of `tc -batch` that installs it; SSH comes first, then neighbour discovery, or SSH would not find the way.
batch() {
    rate='rate 1000gbit burst 100mb cburst 100mb' queue="netem limit 100000 ${how#netem }"
    case $how in htb\ *) rate=${how#htb } queue="bfifo limit ${how##* }" && rate=${rate% limit *} ;; esac
    echo "qdisc add dev $1 root handle $handle: htb default 0 direct_qlen 10000"
    echo "class add dev $1 parent $handle: classid $handle:1 htb $rate quantum 60000"
    echo "qdisc add dev $1 parent $handle:1 $queue"
    lines=$(filters "$2") || exit 1
    number=0
    printf '%s\n' "$lines" | while read -r protocol words; do
        number=$((number + 1))
        echo "filter add dev $1 parent $handle: protocol $protocol prio $number $words"
    done
}

filters() {
    echo "ip u32 match ip protocol 6 0xff match ip sport $ssh_port 0xffff $past"
    echo "ipv6 u32 match ip6 protocol 6 0xff match ip6 sport $ssh_port 0xffff $past"
    for type in 0x85 0x86 0x87 0x88; do
        echo "ipv6 u32 match ip6 protocol 58 0xff match u8 $type 0xff at 40 $past"
    done
    printf '%s\n' "$1" | while read -r line; do
        # shellcheck disable=SC2086 # words
        words=$(u32_words $line) || exit 1
        case $line in 4*) echo "ip $words" ;; *) echo "ipv6 $words" ;; esac
    done
}

# The queues of an interface as listed, without varying names and counters.
# shellcheck disable=SC2016 # the inner shells expand
listing='tc qdisc show dev "$1"; tc class show dev "$1"; tc filter show dev "$1" parent "$2"'
plain() {
    sed "s/ refcnt [0-9]*//; s/ seed [0-9]*//; s/ direct_packets_stat [0-9]*//; s/ not_in_hw//; s/ leaf [0-9a-f]*://
        s/ dev [^ ]*//; s/^qdisc \([a-z_]*\) [0-9a-f]*: parent/qdisc \1 parent/" |
        grep -E -e " $handle:1? root| parent $handle:| $handle:|^ *match"
}

listed() { sh -c "$listing" sh "$1" "$handle:" | plain; }

# The expected listing, made in a temporary network namespace; also proves that the kernel supports it.
wanted() {
    words=$(batch lo "$1") || exit 1
    made=$(printf '%s\n' "$words" | unshare --net sh -c "tc -batch - && { $listing; }" sh lo "$handle:" 2>&1) ||
        fail "the kernel or tc cannot do it here: $(printf '%s\n' "$made" | head -n 1)"
    printf '%s\n' "$made" | plain
}

# --- the queues that were there ---------------------------------------------------------------------------------------

queues() { tc qdisc show dev "$1" | grep -E ' root | parent :' | sed 's/ refcnt [0-9]*//'; }

# Fails unless the root is the kernel's own, and is what the kernel would restore.
untouched() {
    now=$(queues "$1")
    usual=$(cat /proc/sys/net/core/default_qdisc 2>/dev/null) || usual=pfifo_fast
    case $now in
        'qdisc noqueue 0: root'*) return ;;
        'qdisc mq 0: root'*) kinds=$(printf '%s\n' "$now" | sed -n '2,$ { s/^qdisc \([^ ]* [0-9a-f]*:\).*/\1/p }' | sort -u) ;;
        *) kinds=$(printf '%s\n' "$now" | sed 's/^qdisc \([^ ]* [0-9a-f]*:\).*/\1/') ;;
    esac
    case $kinds in
        "$usual 0:") ;;
        *' 0:') fail "$1 has the queue ${kinds%% *}, and the kernel would not put it there again (net.core.default_qdisc is $usual)" ;;
        *) fail "the queues of $1 are arranged by somebody else ($kinds), and what is there is never replaced" ;;
    esac
}

ours() { tc qdisc show | sed -n "s/^qdisc htb $handle: dev \([^ ]*\) root .*/\1/p"; }

# --- what is asked ----------------------------------------------------------------------------------------------------

each() {
    [ -n "$SSH_CONNECTION" ] || fail "which port must stay as it is is unknown"
    found_on=$(interfaces) || exit 1
    [ -n "$found_on" ] || fail "no interface leads to them"
    for interface in $found_on; do
        its=$(rules_for "$interface") || exit 1
        "$1" "$interface" "$its" || exit 1
    done
}

fits_on() {
    untouched "$1"
    wanted "$2" >/dev/null || exit 1
    echo "$1: $(queues "$1" | head -n 1)"
}

noted_on() {
    untouched "$1"
    queues "$1" | sed "s/^/$1 /"
}

put() {
    lift
    was=$(each noted_on) || exit 1
    (umask 077; mkdir -p "${note%/*}" && printf '%s\n' "$was" >"$note.new" && sync -- "$note.new" &&
        mv "$note.new" "$note") || fail "cannot write $note"
    (each put_on) || { lift && exit 1; }
}

put_on() {
    words=$(batch "$1" "$2") || exit 1
    printf '%s\n' "$words" | tc -batch - || fail "tc cannot place it on $1"
}

stands_on() {
    expected=$(wanted "$2") || exit 1
    [ "$(listed "$1")" = "$expected" ] || fail "the queues of $1 are not as they were made"
    sent=$(tc -s class show dev "$1" | sed -n "/^class htb $handle:1 /,\$ s/^ *Sent \(.*\), overlimits.*/\1)/p" | head -n 1)
    echo "$1: $(printf '%s\n' "$2" | grep -c -e '-j DROP') filters; sent through it: $sent"
}

# For each interface: its queues, and the bytes that passed them, which only grow.
marks() {
    noted=$(cut -d ' ' -f 1 "$note" 2>/dev/null | sort -u)
    for interface in $noted; do
        found=$(tc -s qdisc show dev "$interface" root 2>/dev/null) || continue # the interface is gone
        case $found in "qdisc htb $handle: "*) ;; *) fail "somebody has taken it away from $interface: $found" ;; esac
        echo "mark $interface $(listed "$interface" | cksum | tr ' ' -)"
        echo "count $interface $(printf '%s\n' "$found" | sed -n 's/^ *Sent \([0-9]*\) bytes.*/\1/p' | head -n 1)"
    done
}

lasts() {
    [ -n "$(ours)" ] || fail "no interface has it"
    marks
}

lift() {
    for interface in $(ours); do tc qdisc del dev "$interface" root || fail "tc cannot take it away from $interface"; done
    [ -e "$note" ] || return 0
    as_before
    rm -f -- "$note" || fail "cannot remove $note"
}

# Check that each remaining interface has its original queues, or by now those of another program.
as_before() {
    noted=$(cut -d ' ' -f 1 "$note" | sort -u)
    for interface in $noted; do
        [ -e "/sys/class/net/$interface" ] || continue
        now=$(queues "$interface")
        case $now in 'qdisc '*' 0: root'*) ;; *) continue ;; esac
        [ "$now" = "$(sed -n "s/^$interface //p" "$note")" ] || fail "$interface has other queues than before: $now"
    done
}

case $action in
    fits | put | stands)
        read_rules
        case $action in
            put) put ;;
            stands) each stands_on && marks ;;
            *) each "${action}_on" ;;
        esac
        ;;
    lasts) lasts ;;
    lift) lift ;;
    gone)
        found=$(ours)
        [ -z "$found" ] || fail "it is on $found"
        [ ! -e "$note" ] || fail "it is not undone: $note is there"
        echo "no queues of ours"
        ;;
    *) fail "no such action: $action" ;;
esac
