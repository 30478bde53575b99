# End established TCP connections of this host that match rules, as root: sh -c SCRIPT chaosk ACTION <RULES
#
#   fits   check that the kernel supports it, on a connection attempt in a temporary network namespace
#   end    end them once: the kernel drops each of them and sends a reset to its peer. RULES are those of a cut
#          (rules.sh comes before this) for incoming packets; connections that they would stop are ended. Fails if there
#          are none, or if one is left
#
# ss -K asks the kernel to end them, and does not report failures. So they are listed again, by their socket numbers
# (sk:), which are unique. Nothing is left behind, so there is nothing to undo. SSH connections are never ended, neither
# on this session's port nor on the default port, in either direction.
#
# shellcheck disable=SC2154 # rules.sh sets them: rules ssh_port

set -f

# The established connections of a selection, one a line, with numeric addresses. Without control groups ss warns each
# time.
connections() { ss "$@" -H -t -n -e state established "$which" 2>/dev/null; }

# Adds a condition on the same connection.
also() { said="$said${said:+ and }$1"; }

in_brackets() { case $1 in *:*) echo "[$1]" ;; *) echo "$1" ;; esac }

# The addresses of connections within this host.
here() {
    printf 'dst 127.0.0.0/8'
    ip -o address show | awk '{ sub("/.*", "", $4); print $4 }' | while read -r own; do
        printf ' or dst %s' "$(in_brackets "$own")"
    done
}

# The ss expression for connections whose incoming packets match a rule.
condition() {
    said=
    while [ $# -ge 2 ]; do
        case $1 in
            -i) also "( $(here) )" ;;
            -s) also "dst $(in_brackets "$2")" ;;
            -d) also "src $(in_brackets "$2")" ;;
            --sport) also "dport = :$2" ;;
            --dport) also "sport = :$2" ;;
            -p | -j) ;;
            *) fail "no such condition: $1" ;;
        esac
        shift 2
    done
    echo "${said:-sport >= :1}"
}

# All rules as one ss expression: as in a packet filter, the first match decides.
expression() {
    open='' close=''
    while read -r _ side words; do
        [ "$side" = I ] || continue
        # shellcheck disable=SC2086 # words
        said=$(condition $words) || exit 1
        case $words in
            *"-j RETURN") open="$open( ! ( $said ) and " ;;
            *) open="$open( ( $said ) or " ;;
        esac
        close="$close )"
    done
    [ -n "$open" ] || fail "no rule speaks of arriving packets"
    echo "$open sport = :0$close" # matches no connection
}

without_ssh() {
    for port in 22 "$ssh_port"; do printf 'sport != :%s and dport != :%s and ' "$port" "$port"; done
    echo "( $1 )"
}

# Lines of the second list that are also in the first, or that have no socket number to tell.
in_both() {
    printf '%s\n---\n%s\n' "$1" "$2" | awk '
        $0 == "---" { second = 1; next }
        NF == 0 { next }
        { number = ""; for (n = 1; n <= NF; n++) if ($n ~ /^sk:/) number = $n }
        !second { there[number] = 1; next }
        number == "" || number in there'
}

end() {
    read_rules
    which=$(printf '%s\n' "$rules" | expression) || exit 1
    which=$(without_ssh "$which")
    before=$(connections) || fail "ss failed"
    [ -n "$before" ] || fail "there is no connection between them"
    ended=$(connections -K) || fail "ss -K failed"
    after=$(connections) || fail "ss failed"
    left=$(in_both "$before" "$after")
    [ -z "$left" ] || fail "not ended: $(printf '%s\n' "$left" | awk 'NR <= 5 { print $3, "to", $4 }')"
    [ -n "$ended" ] || fail "what there was ended by itself"
    printf '%s\n' "$ended" | awk '
        NR <= 10 { list = list "\n" $3 " to " $4 }
        END { print NR " ended:" list; if (NR > 10) print "and others" }'
}

# Check that a connection attempt without an answer can be ended, in a network namespace without a way out.
# shellcheck disable=SC2016 # the inner shell expands
trial='
    ip link set lo up && ip route add 192.0.2.1/32 dev lo src 127.0.0.1 || exit 2
    timeout 10 bash -c "exec 3<>/dev/tcp/192.0.2.1/9" 2>/dev/null &
    attempt=$! looks=50
    until [ -n "$(ss -H -t -n state syn-sent dst 192.0.2.1)" ]; do
        looks=$((looks - 1))
        [ "$looks" -gt 0 ] || exit 2
        sleep 0.1
    done
    [ -n "$(ss -K -H -t -n state syn-sent dst 192.0.2.1)" ]
    ended=$?
    kill "$attempt" 2>/dev/null
    exit "$ended"'

fits() {
    why=$(unshare --net sh -c "$trial" 2>&1)
    case $? in
        0) echo "this kernel ends connections" ;;
        1) fail "this kernel ends no connections: it was built without CONFIG_INET_DIAG_DESTROY" ;;
        *) fail "whether this kernel ends connections cannot be tried here: $why" ;;
    esac
}

case $1 in
    fits) fits ;;
    end) end ;;
    *) fail "no such action: $1" ;;
esac
