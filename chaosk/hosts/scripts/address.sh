# Add an address to a host, as root: sh -c SCRIPT chaosk ACTION ID ADDRESS [PORT...]
#
#   fits      whether the host can have it: nobody has it, its network is at hand, and what serves PORTs serves them there
#   add       have it, unless somebody has it; doing it again changes nothing
#   there     whether the host has it
#   remove    take it away, if we added it
#   gone      whether there is nothing to take away
#
#   ID        what it is called on this host, hexadecimal
#   ADDRESS   of IPv4 or IPv6, as the kernel spells it
#   PORT      TCP ports at which it is to be reached, for fits
#
# It is added to the interface by which the kernel would reach it, as a network of its own (/32, /128): no route comes or
# goes with it. That it is ours is written down before; a boot takes it away by itself.
#
# Who is connected to an address that goes away is told nothing, and waits: therefore connections are reset before.

action=$1 id=$2 address=$3
kept=/var/lib/chaosk/address
note=$kept/$id
tag=chaosk-address-$id

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

boot() { cat /proc/sys/kernel/random/boot_id; }
length() { case $address in *:*) echo 128 ;; *) echo 32 ;; esac }

# Whether this host has the address, on any interface.
ours() { [ -n "$(ip -o addr show to "$address/$(length)")" ]; }

# Sets dev to the interface by which the kernel would reach the address without asking anybody to pass it on.
find_dev() {
    route=$(ip -o route get "$address" 2>/dev/null) || fail "this host has no network that $address is in"
    case " $route " in *" via "*) fail "this host has no network that $address is in" ;; esac
    dev=${route##* dev }
    dev=${dev%% *}
}

# Whether somebody answers for the address: the kernel asks, and has given up after three seconds.
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

# Whether something listens at a port whatever the address; what does so for IPv6 does it for IPv4 as well.
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

# Sets what add has written down; fails if there is nothing.
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

# Whether the interface has the address as it was added.
is_there() { ip -o addr show dev "$dev" | grep -q -F " $address/$(length) "; }

there() {
    recall || fail "$address was not added"
    is_there || fail "somebody has taken $address away"
    echo "$dev has $address"
}

# The address as ss takes it.
spelt() { case $address in *:*) echo "[$address]" ;; *) echo "$address" ;; esac }

# How many connections stand at the address.
connected() { ss -H -t -n state established src "$(spelt)" | grep -c .; }

# In place from now on: whoever sends to the address is answered with a reset.
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

# No more of that, however often it was put in place.
refuse_no_more() {
    case $address in *:*) by=ip6tables ;; *) by=iptables ;; esac
    ! nft list table inet "$tag" >/dev/null 2>&1 || nft delete table inet "$tag" || return 1
    case $("$by-save" -t filter 2>/dev/null) in *"$tag"*) ;; *) return 0 ;; esac
    # shellcheck disable=SC2046 # words
    while "$by" -w 10 -D INPUT $(refusal) 2>/dev/null; do :; done
}

# The kernel itself where it can (CONFIG_INET_DIAG_DESTROY); else whoever sends within ten seconds is refused.
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
