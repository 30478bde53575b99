# Add an address to a host, as root: sh -c SCRIPT chaosk ACTION ID ADDRESS [PORT...]
#
#   fits      check that the host can take it: it is unused and on a local network, and servers accept it on PORTs
#   add       add it, unless it is in use; idempotent
#   there     check that the host has it
#   remove    remove it, if this script has added it
#   gone      check that there is nothing to remove
#
#   ID        id of its note on this host, hexadecimal
#   ADDRESS   IPv4 or IPv6, in the kernel's spelling
#   PORT      TCP ports that clients will use there, for fits
#
# It is added to the interface that the kernel would reach it by, with a prefix of /32 or /128, so that no route is
# added or removed with it. A note is written first. A reboot removes the address.
#
# Connections to an address that is removed get no reset and hang. So they are reset first.

action=$1 id=$2 address=$3
kept=/var/lib/chaosk/address
note=$kept/$id
tag=chaosk-address-$id

boot() { cat /proc/sys/kernel/random/boot_id; }
length() { case $address in *:*) echo 128 ;; *) echo 32 ;; esac }

# Check that this host has the address, on any interface.
ours() { [ -n "$(ip -o addr show to "$address/$(length)")" ]; }

# Sets dev to the interface that reaches the address without a gateway.
find_dev() {
    route=$(ip -o route get "$address" 2>/dev/null) || fail "this host has no network that $address is in"
    case " $route " in *" via "*) fail "this host has no network that $address is in" ;; esac
    dev=${route##* dev }
    dev=${dev%% *}
}

# Check that another host answers for the address. The kernel asks for three seconds.
taken() {
    ip neigh del "$address" dev "$dev" 2>/dev/null
    ip neigh replace "$address" dev "$dev" use || fail "cannot ask the network of $dev for $address"
    looks=0
    while [ $looks -lt 60 ]; do
        case $(ip neigh show "$address" dev "$dev") in
            *FAILED*) return 1 ;;
            *NOARP*) fail "on $dev nobody can be asked whose $address is" ;;
            *lladdr*) return 0 ;;
        esac
        sleep 0.1
        looks=$((looks + 1))
    done
    fail "the kernel does not say whether somebody has $address"
}

# Check that a server listens on a port at all addresses; a wildcard listener for IPv6 serves IPv4 as well.
serves_all() {
    case $address in *:*) tables=/proc/net/tcp6 ;; *) tables="/proc/net/tcp /proc/net/tcp6" ;; esac
    # shellcheck disable=SC2086 # words
    cat $tables 2>/dev/null | PORT=$(printf %04X "$1") awk '
        $4 == "0A" && split($2, at, ":") == 2 && at[2] == ENVIRON["PORT"] && at[1] ~ /^0+$/ { found = 1 }
        END { exit !found }'
}

fits() {
    [ ! -e "$note" ] || fail "this host has $address already"
    ! ours || fail "$address is an address of this host already; name one that nobody has"
    find_dev
    ! taken || fail "somebody has $address; name one that nobody has"
    shift 3
    for port; do
        serves_all "$port" ||
            fail "nothing serves port $port at all addresses; have its listener without one, like CLIENT://:$port"
    done
    echo "$address is free, and in the network of $dev"
}

# Reads the note of add; fails if there is none.
recall() {
    [ -e "$note" ] || return 1
    { read -r booted && read -r dev; } <"$note" || fail "cannot read $note"
}

add() {
    recall || {
        ! ours || fail "$address is an address of this host already"
        find_dev
        ! taken || fail "somebody has $address"
        umask 077
        mkdir -p "$kept" && printf '%s\n' "$(boot)" "$dev" >"$note.new" && sync -- "$note.new" &&
            mv "$note.new" "$note"
    } || fail "cannot write $note"
    # shellcheck disable=SC2046 # a word or none
    ours || ip addr add "$address/$(length)" dev "$dev" $(case $address in *:*) echo nodad ;; esac) ||
        fail "cannot add $address to $dev"
}

# Check that the interface has the address as it was added.
is_there() { ip -o addr show dev "$dev" | grep -q -F " $address/$(length) "; }

there() {
    recall || fail "$address was not added"
    is_there || fail "somebody has taken $address away"
    echo "$dev has $address"
}

# The address in the syntax of ss.
spelt() { case $address in *:*) echo "[$address]" ;; *) echo "$address" ;; esac }

# The number of established connections at the address.
connected() { ss -H -t -n state established src "$(spelt)" | grep -c .; }

# From now on, packets to the address are answered with a reset.
refuse() {
    case $address in *:*) by=ip6tables ip=ip6 ;; *) by=iptables ip=ip ;; esac
    # shellcheck disable=SC2046 # words
    nft -f - 2>/dev/null <<END || "$by" -w 10 -I INPUT $(refusal)
table inet $tag {
chain input {
type filter hook input priority -5; policy accept;
$ip daddr $address tcp flags & rst != rst reject with tcp reset
}
}
END
}
refusal() {
    echo "-d $address -p tcp ! --tcp-flags RST RST -m comment --comment $tag -j REJECT --reject-with tcp-reset"
}

# Removes that rule, also if it was added more than once.
refuse_no_more() {
    case $address in *:*) by=ip6tables ;; *) by=iptables ;; esac
    ! nft list table inet "$tag" >/dev/null 2>&1 || nft delete table inet "$tag" || return 1
    case $("$by-save" -t filter 2>/dev/null) in *"$tag"*) ;; *) return 0 ;; esac
    # shellcheck disable=SC2046 # words
    while "$by" -w 10 -D INPUT $(refusal) 2>/dev/null; do :; done
}

# By the kernel if it supports that (CONFIG_INET_DIAG_DESTROY); otherwise packets within ten seconds are rejected.
reset_connections() {
    refuse_no_more || fail "the packet filter does not forget $address"
    ss -K -t -n src "$(spelt)" >/dev/null 2>&1
    [ "$(connected)" != 0 ] || return 0
    refuse || fail "the packet filter does not refuse those who are connected to $address"
    looks=0
    while [ $looks -lt 100 ] && [ "$(connected)" != 0 ]; do
        sleep 0.1
        looks=$((looks + 1))
    done
    refuse_no_more || fail "the packet filter does not forget $address"
}

remove() {
    recall || return 0
    if [ "$booted" = "$(boot)" ] && is_there; then
        reset_connections
        ip addr del "$address/$(length)" dev "$dev" || fail "cannot take $address from $dev"
    fi
    rm -f -- "$note" || fail "cannot remove $note"
}

case $action in
    fits | add | there | remove) "$action" "$@" ;;
    gone) [ ! -e "$note" ] || fail "$address is not taken away" ;;
    *) fail "no such action: $action" ;;
esac
