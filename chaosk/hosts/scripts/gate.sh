# The sudo gate, installed by `chaosk sudoers`: the only program that may run as root for chaosk's account.
#
#   GATE EDITION CONNECTION SECONDS [MARK] NAME [ARGUMENT...]   by sudo; CONNECTION is sshd's SSH_CONNECTION
#   GATE inner NAME [ARGUMENT...]                               by the scripts themselves, which are root already
#
# MARK is mark-HEX, where sudo asks for a password: the gate writes begun-HEX to standard error, and then reads its
# input.
# NAME is one of chaosk's own scripts, which are part of this file. Every argument is checked: services and folders
# against the list of this cluster, word by word; rules of a cut, and the undo in a lease, against the few forms that
# chaosk makes. Nothing else is run.
#
# The text before this file sets gate (its path) and edition, and defines script_text NAME and listed.
#
# shellcheck disable=SC2154

set -f
umask 022
unset CHAOSK_KEPT
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
tab=$(printf '\t')

refuse() {
    printf '%s\n' "the gate of this host refuses $*" >&2
    exit 1
}

run() {
    script=$1
    shift
    sh -c "$(script_text "$script")" chaosk "$@"
}

names() {
    for word; do
        case $word in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) refuse "the name $word" ;; esac
    done
}

number() { case $1 in '' | . | *[!0-9.]* | *.*.*) refuse "the number $1" ;; esac; }

count() { [ "$1" = "$2" ] || refuse "so many words"; }

# Check that exactly these words are on the list.
on_the_list() {
    line=$(printf "%s$tab" "$@")
    listed | grep -q -x -F -e "$line" || refuse "what is not on its list, \`$*\`; the inventory may have changed since"
}

# A command under a lease has to be this gate again.
ours() { [ "$1" = "$gate" ] && [ "$2" = inner ] || refuse "\`$1\` under a lease"; }

address='@?[A-Za-z0-9_:][A-Za-z0-9_.:/-]*'
by_chance='( -m statistic --mode random --probability 0\.[0-9]{4})?'
rule="(4|6|any) [IO]( -[io] lo| -[sd] $address| -p tcp| --[sd]port [0-9]+)*$by_chance -j (RETURN|DROP|REJECT( --reject-with tcp-reset)?)"

cut_checked() {
    count $# 4
    case $2 in CHAOSK-) refuse "the chain $2" ;; CHAOSK-*) ;; *) refuse "the chain $2" ;; esac
    case ${2#CHAOSK-} in *[!0-9a-f]*) refuse "the chain $2" ;; esac
    case $3 in chaosk:*) names "$(printf %s "$3" | tr -d :)" ;; *) refuse "the comment $3" ;; esac
    case $1 in
        install | standing)
            rules=$(cat)
            ! printf '%s\n' "$rules" | grep -q -v -x -E -e "$rule" || refuse "a rule that chaosk does not make"
            printf '%s\n' "$rules" | run cut "$@"
            ;;
        *) run cut "$@" ;;
    esac
}

reset_checked() {
    count $# 1
    case $1 in
        fits) run reset fits ;;
        end)
            rules=$(cat)
            ! printf '%s\n' "$rules" | grep -q -v -x -E -e "$rule" || refuse "a rule that chaosk does not make"
            printf '%s\n' "$rules" | run reset end
            ;;
        *) refuse "\`reset $1\`" ;;
    esac
}

in_a_queue='[a-z]+|[0-9.]+(us|%|bit)?'
shape_checked() {
    case $2 in ??????????) ;; *) refuse "the id $2" ;; esac
    case $2 in *[!0-9a-f]*) refuse "the id $2" ;; esac
    case $1 in
        fits | put | stands)
            count $# 3
            printf '%s\n' "$3" | grep -q -x -E -e "(netem|htb)( ($in_a_queue))+" || refuse "the queue $3"
            rules=$(cat)
            ! printf '%s\n' "$rules" | grep -q -v -x -E -e "$rule" || refuse "a rule that chaosk does not make"
            printf '%s\n' "$rules" | run shape "$@"
            ;;
        lift | gone | lasts) count $# 2 && run shape "$@" ;;
        *) refuse "\`shape $1\`" ;;
    esac
}

ports_checked() {
    [ $# -ge 4 ] || refuse "no ports"
    shift 3
    for port; do
        case $port in '' | *[!0-9]*) refuse "the number $port" ;; esac
    done
}

assignment='[0-9]+(:[0-9]+)*(,[0-9]+(:[0-9]+)*)*'
topic_setting='[a-z][a-z.]*=[A-Za-z0-9._:,*-]*'
topic_checked() {
    case $1 in
        fits)
            count $# 3
            on_the_list topic fits "$2" "$3"
            run topic "$@"
            return
            ;;
        make) [ $# -ge 6 ] || refuse "no topic" ;;
        there) count $# 6 ;;
        *) refuse "\`topic $1\`" ;;
    esac
    on_the_list topic at "$2" "$3" "$4"
    case $5 in '' | [!A-Za-z0-9._]* | __* | *[!A-Za-z0-9._-]*) refuse "the topic $5" ;; esac
    if [ "$1" = there ]; then
        case $6 in '' | *[!0-9]*) refuse "the number $6" ;; esac
        run topic "$@"
        return
    fi
    printf '%s\n' "$6" | grep -q -x -E -e "$assignment" || refuse "the replicas $6"
    action=$1 home=$2 config=$3 servers=$4 topic=$5 replicas=$6
    shift 6
    for word; do
        printf '%s\n' "$word" | grep -q -x -E -e "$topic_setting" || refuse "the setting $word"
        case $word in *"
"*) refuse "a setting of several lines" ;; esac
    done
    run topic "$action" "$home" "$config" "$servers" "$topic" "$replicas" "$@"
}

# Any address is allowed; the script checks that no other host has it.
address_checked() {
    case $1 in
        fits) ports_checked "$@" ;;
        add | there | remove | gone) count $# 3 ;;
        *) refuse "\`address $1\`" ;;
    esac
    case $2 in '' | *[!0-9a-f]*) refuse "the id $2" ;; esac
    case $3 in '' | *[!0-9a-f.:]*) refuse "the address $3" ;; esac
    run address "$@"
}

clock_checked() {
    case $1 in
        fits | move | moved)
            count $# 4
            case $3 in '' | *[!0-9a-f-]*) refuse "the boot id $3" ;; esac
            by=${4#-}
            case ${by%ppm} in '' | *[!0-9]*) refuse "the number $4" ;; esac
            ;;
        restore | restored) count $# 2 ;;
        *) refuse "\`clock $1\`" ;;
    esac
    case $2 in ??????????) ;; *) refuse "the id $2" ;; esac
    case $2 in *[!0-9a-f]*) refuse "the id $2" ;; esac
    run clock "$@"
}

load_checked() {
    case $1 in
        fits | put | stands)
            count $# 4
            case ${4%ppm} in '' | *[!0-9]*) refuse "the number $4" ;; esac
            ;;
        lift | gone) count $# 3 ;;
        *) refuse "\`load $1\`" ;;
    esac
    case $2 in cpu | memory) ;; *) refuse "the kind $2" ;; esac
    case $3 in '' | *[!0-9a-f]*) refuse "the id $3" ;; esac
    run load "$@"
}

lock_checked() {
    case $1 in
        take) count $# 4 && names "$2" && number "$3" ;;
        keep) count $# 3 && names "$2" && number "$3" ;;
        leave) count $# 2 && names "$2" ;;
        show) count $# 1 ;;
        *) refuse "\`lock $1\`" ;;
    esac
    run lock "$@"
}

# Any log is allowed in the data directories of a broker on the list.
dump_checked() {
    case $1 in markers | batches) [ $# -ge 3 ] || refuse "\`dump $1\`" ;; *) refuse "\`dump $1\`" ;; esac
    on_the_list dump "$1" "$2" "$3"
    action=$1 home=$2 data=$3
    shift 3
    for word; do
        log=$word
        if [ "$action" = batches ]; then
            log=${word%%:*} span=${word#*:}
            case $span in *:*:* | *[!0-9:]* | :* | *:) refuse "the offsets $word" ;; *:*) ;; *) refuse "the offsets $word" ;; esac
        fi
        case $log in *[!A-Za-z0-9._-]* | *-) refuse "the log $word" ;; *-[0-9]*) ;; *) refuse "the log $word" ;; esac
    done
    run dump "$action" "$home" "$data" "$@"
}

# Any topic, group or transactional.id is allowed. The principal and the tool have to be on the list. Everyone may be
# allowed all operations, and only the probes may be denied any.
acl_checked() {
    count $# 9
    on_the_list settings change "$2" "$3" "$4"
    case $5 in topic | group | transactional_id) ;; *) refuse "the kind $5" ;; esac
    case $6 in '' | *[!A-Za-z0-9._-]* | -*) refuse "the name $6" ;; esac
    case $7:$9 in allow:all | deny:read | deny:write | deny:describe) ;; *) refuse "to $7 $9" ;; esac
    on_the_list settings "$7" "$8"
    run settings "$@"
}

# Any broker, client and value is allowed. The tool, the servers and the setting have to be on the list.
settings_checked() {
    if [ "$1" = fits ]; then
        count $# 3
        on_the_list settings fits "$2" "$3"
        run settings "$@"
        return
    fi
    case $1 in
        grant | withdraw)
            acl_checked "$@"
            return
            ;;
    esac
    [ "$1" = change ] && [ $# -ge 8 ] || refuse "\`settings $1\`"
    on_the_list settings change "$2" "$3" "$4"
    home=$2 config=$3 servers=$4 broker=$5 user=$6 client=$7
    shift 7
    case $broker in '') of=clients ;; *[!0-9]*) refuse "the broker $broker" ;; *) of=broker ;; esac
    [ "$of" = clients ] || [ -z "$user$client" ] || refuse "a broker and clients at once"
    [ "$of" = broker ] || [ -n "$user$client" ] || refuse "nobody's quota"
    [ -z "$user" ] || names "$user"
    [ -z "$client" ] || names "$client"
    for word; do
        case $word in *=*=*) refuse "the setting $word" ;; *=*) number "${word#*=}" ;; esac
        on_the_list settings "$of" "${word%%=*}"
    done
    run settings change "$home" "$config" "$servers" "$broker" "$user" "$client" "$@"
}

# Any certificate and former file is allowed. The broker and the listener have to be on the list.
certificate_checked() {
    [ $# -ge 7 ] || refuse "\`certificate $1\`"
    case $1 in put) count $# 7 ;; lift) ;; *) refuse "\`certificate $1\`" ;; esac
    on_the_list certificate "$2" "$3" "$4" "$5"
    case $6 in '' | *[!0-9a-f]*) refuse "the id $6" ;; esac
    action=$1 home=$2 config=$3 server=$4 broker=$5 id=$6
    shift 6
    for word; do
        setting=${word%%=*}
        case $action:$word in
            put:* | lift:*.location | lift:*.type) ;;
            lift:*.location=/*) case ${word#*=} in *[!A-Za-z0-9._/-]*) refuse "the file $word" ;; esac ;;
            lift:*.type=*) case ${word#*=} in *[!A-Z0-9]*) refuse "the kind $word" ;; esac ;;
            *) refuse "the setting $word" ;;
        esac
        [ "$action" = put ] || setting=${setting%.*}
        on_the_list certificate "$setting"
    done
    run certificate "$action" "$home" "$config" "$server" "$broker" "$id" "$@"
}

# Only if the inventory gives a host its own kernel; the script checks that again.
boot_checked() {
    on_the_list boot
    case $2 in '' | *[!0-9a-f-]*) refuse "the boot id $2" ;; esac
    case $1 in
        own | returns) count $# 2 ;;
        changed) count $# 3 && names "$3" ;;
        end)
            count $# 4 && names "$3"
            case $4 in reboot | reset | crash) ;; *) refuse "the end $4" ;; esac
            ;;
        *) refuse "\`boot $1\`" ;;
    esac
    run boot "$@"
}

# Any amount is allowed. The directory has to be on the list, and the file has to be chaosk's.
disk_checked() {
    case $1 in
        fits | fill | filled)
            count $# 4
            case $3 in size | free) ;; *) refuse "the way $3" ;; esac
            case $4 in '' | *[!0-9]*) refuse "the number $4" ;; esac
            ;;
        empty | gone) count $# 2 ;;
        *) refuse "\`disk $1\`" ;;
    esac
    on_the_list disk "${2%/*}/"
    case ${2##*/} in chaosk-fill-?*) ;; *) refuse "the file $2" ;; esac
    case ${2##*/chaosk-fill-} in *[!0-9a-f]*) refuse "the file $2" ;; esac
    run disk "$@"
}

owner_checked() {
    [ $# -ge 3 ] || refuse "\`owner $1\`"
    action=$1 folder=$2 id=$3
    shift 3
    case $id in '' | *[!0-9a-f]*) refuse "the id $id" ;; esac
    on_the_list owner "$action" "$folder" ID "$@"
    run owner "$action" "$folder" "$id" "$@"
}

# Any fault of the disk is allowed. The disk has to be on the list; see also boot_checked.
mapper_checked() {
    [ $# -ge 8 ] || refuse "\`mapper $1\`"
    action=$1 own=$2 id=$3 folder=$4 kind=$5 place=$6 config=$7
    shift 7
    case $own in '' | *[!0-9a-f-]*) refuse "the boot id $own" ;; esac
    case $id in '' | *[!0-9a-f]*) refuse "the id $id" ;; esac
    case $1 in
        slow)
            count $# 3
            case $2$3 in *[!0-9]*) refuse "the numbers $2 and $3" ;; esac
            ;;
        all | writes) count $# 1 ;;
        *) refuse "\`mapper $action\`: $1" ;;
    esac
    on_the_list mapper "$action" BOOT ID "$folder" "$kind" "$place" "$config"
    run mapper "$action" "$own" "$id" "$folder" "$kind" "$place" "$config" "$@"
}

service_checked() {
    case $1 in
        ended | returned)
            count $# 5
            names "$5"
            on_the_list service "$1" "$2" "$3" "$4" ID
            ;;
        *) on_the_list service "$@" ;;
    esac
    run service "$@"
}

supervisor_checked() {
    count $# 3
    names "$3"
    on_the_list supervisor "$1" "$2" ID
    run supervisor "$@"
}

parent_checked() {
    count $# 5
    names "$5"
    on_the_list parent "$1" "$2" "$3" "$4" ID
    run parent "$@"
}

# Only brokers, and only under a lease; the script checks that the kernel is the host's own.
oom_checked() {
    count $# 6
    case $2 in '' | *[!0-9a-f-]*) refuse "the boot id $2" ;; esac
    names "$3"
    on_the_list oom "$1" BOOT ID "$4" "$5" "$6"
    run oom "$@"
}

# Any log is allowed in the data directories of a broker on the list.
corrupt_checked() {
    count $# 7
    case $2 in '' | *[!0-9a-f]*) refuse "the id $2" ;; esac
    case $7 in *[!A-Za-z0-9._-]* | *-) refuse "the log $7" ;; [!_]*-[0-9]*) ;; *) refuse "the log $7" ;; esac
    on_the_list corrupt "$1" ID "$3" "$4" "$5" "$6" LOG
    run corrupt "$@"
}

# Data directories and their servers have to be on the list; the id is the run's.
folder_checked() {
    [ $# -ge 4 ] || refuse "\`$1 $2\`"
    script=$1 action=$2 id=$3
    shift 3
    case $id in '' | *[!0-9a-f]*) refuse "the id $id" ;; esac
    on_the_list "$script" "$action" ID "$@"
    run "$script" "$action" "$id" "$@"
}

# A bundle without the first of its five texts: about, undo, check, look. The scripts may have only these lines.
made_by_chaosk() {
    awk -v gate="$gate inner " -v quote="'" '
        BEGIN { word = "([A-Za-z0-9@%+=:,./_-]+|" quote "[^" quote "]*" quote ")"; words = "^" word "( " word ")*$" }
        function is_call(line) {
            if (!sub(/^timeout -k 2 [0-9.]+ /, "", line) || index(line, gate) != 1) return 0
            return substr(line, length(gate) + 1) ~ words
        }
        function is_undo(line) {
            if (line == "failed=" || line == "[ -z \"$failed\" ]") return 1
            return sub(/ \|\| failed=yes$/, "", line) && is_call(line)
        }
        function is_check(line) {
            if (line ~ /^looks=[0-9]+$/ || line == "    looks=$((looks - 1))" || line == "    sleep 0.5") return 1
            if (line == "    [ \"$looks\" -gt 0 ] || exit 1" || line == "done") return 1
            return sub(/^until /, "", line) && sub(/; do$/, "", line) && is_call(line)
        }
        function is_look(line) { return sub(/^told [0-9]+ /, "", line) && is_call(line) }
        left == 0 { part++; left = $0; if ($0 !~ /^[0-9]+$/ || (part == 1 && left != 1)) bad = 1; next }
        { left--; if (/[^ -~]/ || part > 4) bad = 1 }
        (part == 2 && !is_undo($0)) || (part == 3 && !is_check($0)) || (part == 4 && !is_look($0)) { bad = 1 }
        END { exit bad || part != 4 || left != 0 }'
}

lease_checked() {
    case $1 in
        list) count $# 1 ;;
        heal | disarm | halt | left) count $# 2 && names "$2" ;;
        renew) count $# 5 && names "$2" "$3" && number "$4" && number "$5" ;;
        looks) count $# 3 && names "$2" && number "$3" ;;
        under) names "$2" "$3" && ours "$4" "$5" ;;
        undoing) names "$2" && ours "$3" "$4" ;;
        arm)
            count $# 3 && names "$2" && number "$3"
            bundle=$(cat)
            printf '%s\n' "$bundle" | made_by_chaosk || refuse "an undo that is not made of its own words"
            (script_text lease | wc -l && script_text lease && printf '%s\n' "$bundle") | run lease "$@"
            return
            ;;
        *) refuse "\`lease $1\`" ;;
    esac
    run lease "$@"
}

inner() {
    for word; do # grep would take a line break in a word for two patterns
        case $word in *[![:print:]]*) refuse "a word that cannot be printed" ;; esac
    done
    [ $# -gt 0 ] || refuse "nothing at all"
    case $CHAOSK_LEASE in
        /var/lib/chaosk/leases/*) names "${CHAOSK_LEASE##*/leases/}" ;;
        *) unset CHAOSK_LEASE ;;
    esac
    name=$1
    shift
    case $name in
        address) address_checked "$@" ;;
        boot) boot_checked "$@" ;;
        certificate) certificate_checked "$@" ;;
        clock) clock_checked "$@" ;;
        corrupt) corrupt_checked "$@" ;;
        cut) cut_checked "$@" ;;
        discover) count $# 0 && run discover ;;
        disk) disk_checked "$@" ;;
        dump) dump_checked "$@" ;;
        examine) run examine "$@" ;;
        lease) lease_checked "$@" ;;
        load) load_checked "$@" ;;
        lock) lock_checked "$@" ;;
        mapper) mapper_checked "$@" ;;
        oom) oom_checked "$@" ;;
        owner) owner_checked "$@" ;;
        readonly | wipe) folder_checked "$name" "$@" ;;
        reset) reset_checked "$@" ;;
        settings) settings_checked "$@" ;;
        shape) shape_checked "$@" ;;
        service) service_checked "$@" ;;
        supervisor) supervisor_checked "$@" ;;
        parent) parent_checked "$@" ;;
        topic) topic_checked "$@" ;;
        identity | state | version)
            on_the_list "$name" "$@"
            run "$name" "$@"
            ;;
        *) refuse "\`$name\`" ;;
    esac
}

case $1 in
    inner)
        shift
        inner "$@"
        ;;
    "$edition")
        case $2 in *[!0-9A-Za-z.:%\ ]*) refuse "the connection $2" ;; esac
        number "$3"
        SSH_CONNECTION=$2 seconds=$3
        export SSH_CONNECTION
        unset CHAOSK_LEASE
        shift 3
        case $1 in
            mark-*)
                case ${1#mark-} in '' | *[!0-9a-f]*) refuse "the mark $1" ;; esac
                printf begun-%s "${1#mark-}" >&2
                shift
                ;;
        esac
        exec timeout -k 2 "$seconds" "$gate" inner "$@"
        ;;
    *) refuse "this edition of chaosk; install it again as \`chaosk sudoers\` says" ;;
esac
