# Print the state of this host that faults can change, as root: sh -c SCRIPT chaosk [KIND PLACE]...
#
# KIND is systemd (PLACE is a unit), script (PLACE is a pid file), data (PLACE is a data directory) or link (PLACE is
# the symbolic link to an installation). The output has one fact a line, `SUBJECT WHAT`, without counters, process ids
# and times, so that two outputs can be compared line by line.
#
# owned.sh comes before this.

service() {
    case $1 in
        systemd) pid=$(systemctl show --property MainPID --value -- "$2") ;;
        script) pid=$([ ! -f "$2" ] || head_of 20 "$2" | tr -cd 0-9) ;;
    esac
    case $(sed 's/.*) \(.\) .*/\1/' "/proc/${pid:-0}/stat" 2>/dev/null) in
        '' | Z | X) echo "absent" ;;
        T) echo "frozen" ;;
        *) echo "running$(around "$pid")" ;;
    esac
}

# Reports that the process around a server is stopped (parent.sh).
around() {
    case $(sed 's/.*) \(.\) .*/\1/' "/proc/$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat" 2>/dev/null)/stat" 2>/dev/null) in
        T) echo ", and the process around it is frozen" ;;
    esac
}

# A data directory: its owner, whether it is writable, and files of chaosk's in it or beside it.
data() {
    echo "data $1 $(stat -c 'owner %u:%g mode %a' -- "$1" 2>/dev/null || echo absent)"
    [ ! -d "$1" ] || [ -w "$1" ] || echo "data $1 is read-only"
    # shellcheck disable=SC2016 # the inner shell expands
    (find_owner "$1" && as_account sh -c 'for file in "$0"/chaosk-* "$0".chaosk-*; do
        [ ! -e "$file" ] || printf "data %s\n" "$file"
    done' "$1") 2>/dev/null
}

# Shows a reboot.
echo "boot $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
# Empty tables and accepting built-in chains are left out: the first rule ever creates them.
for tool in iptables ip6tables; do
    rules=$("$tool-save" 2>/dev/null) || continue
    printf '%s\n' "$rules" |
        sed -n "s/ \[[0-9]*:[0-9]*\]\$//; /^:[A-Z]* ACCEPT\$/d; s/^[-:]/$tool &/p"
done
if command -v nft >/dev/null; then
    nft --stateless list tables 2>/dev/null | sed -n '/ ip6* filter$/d; s/^/nft /p'
fi
if command -v tc >/dev/null; then
    # shape.sh's root is recognized by its handle
    tc qdisc show 2>/dev/null |
        sed 's/ direct_packets_stat [0-9]*//; s/^qdisc htb c4[0-9a-f][0-9a-f]: dev/chaosk htb dev/; s/^qdisc \([^ ]*\) [^ ]* dev/\1 dev/; s/^/qdisc /'
fi
# Processes of a load have its mark (load.sh).
grep -h -o -s -a 'CHAOSK_LOAD=[0-9a-f]*' /proc/[0-9]*/environ | sort -u | sed 's/^CHAOSK_LOAD=/load chaosk-/'
# Addresses that do not expire.
if command -v ip >/dev/null; then
    ip -o addr show permanent | sed 's/^[0-9]*: *\([^ ]*\) *\([^ ]* [^ ]*\) .*/address \1 \2/'
fi
# Notes of pending undos: readonly.sh, mapper.sh, wipe.sh, corrupt.sh, address.sh and version.sh.
for note in /var/lib/chaosk/readonly/* /var/lib/chaosk/mapper/* /var/lib/chaosk/wiped/* /var/lib/chaosk/corrupted/* \
    /var/lib/chaosk/address/* /var/lib/chaosk/versions/*; do
    [ ! -e "$note" ] || echo "kept $note"
done
while [ $# -ge 2 ]; do
    case $1 in
        data) data "$2" ;;
        link) echo "link $2 names $(readlink -- "$2")" ;;
        *) echo "service $2 $(service "$1" "$2")" ;;
    esac
    shift 2
done
