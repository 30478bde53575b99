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

# The commands that may run, one a line: a script, its action or * for any, and the kinds of the other words, which
# word_checked explains. KIND... stands for any number of words; `rules` is no word, but rules on standard input.
#
# A line with `listed`, `file` or a kind in capitals has to be on the list of this cluster, too: script, action, the words
# that are listed, the folders of files, and the names of kinds in capitals.
commands() {
    cat <<'END'
address fits id address port port...
address add id address
address there id address
address remove id address
address gone id address
boot own BOOT
boot returns BOOT
boot changed BOOT name
boot end BOOT name end
clock fits ten boot by
clock move ten boot by
clock moved ten boot by
clock restore ten
clock restored ten
corrupt * ID listed listed listed listed LOG
cut install chain comment any rules
cut standing chain comment any rules
cut * chain comment any
disk fits file way digits
disk fill file way digits
disk filled file way digits
disk empty file
disk gone file
dump markers listed listed log...
dump batches listed listed offsets...
examine * any...
identity * listed...
lease list
lease heal name
lease disarm name
lease halt name
lease left name
lease renew name name number number
lease looks name number
lease under name name gate inner any...
lease undoing name gate inner any...
load fits load id much
load put load id much
load stands load id much
load lift load id
load gone load id
lock take name number any
lock keep name number
lock leave name
lock show
mapper * BOOT ID listed listed listed listed ill
oom * BOOT NAME listed listed listed
owner * listed ID listed...
parent * listed listed listed NAME
readonly * ID listed...
reset fits
reset end rules
service ended listed listed listed NAME
service returned listed listed listed NAME
service * listed...
settings fits listed listed
shape fits ten queue rules
shape put ten queue rules
shape stands ten queue rules
shape lift ten
shape gone ten
shape lasts ten
state * listed...
supervisor * listed NAME
topic fits listed listed
topic make listed listed listed topic replicas setting...
topic there listed listed listed topic digits
version * listed...
wipe * ID listed...
END
}

names() {
    for word; do
        case $word in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) refuse "the name $word" ;; esac
    done
}

number() { case $1 in '' | . | *[!0-9.]* | *.*.*) refuse "the number $1" ;; esac; }

count() { [ "$1" = "$2" ] || refuse "so many words"; }

matches() { printf '%s\n' "$1" | grep -q -x -E -e "$2"; }

# Check that a line is on the list.
on_the_list() {
    listed | grep -q -x -F -e "$1" ||
        refuse "what is not on its list, \`$(printf %s "${1%"$tab"}" | tr "$tab" ' ')\`; the inventory may have changed since"
}

line_of() { printf "%s$tab" "$@"; }

address='@?[A-Za-z0-9_:][A-Za-z0-9_.:/-]*'
by_chance='( -m statistic --mode random --probability 0\.[0-9]{4})?'
rule="(4|6|any) [IO]( -[io] lo| -[sd] $address| -p tcp| --[sd]port [0-9]+)*$by_chance -j (RETURN|DROP|REJECT( --reject-with tcp-reset)?)"
in_a_queue='[a-z]+|[0-9.]+(us|%|bit)?'
assignment='[0-9]+(:[0-9]+)*(,[0-9]+(:[0-9]+)*)*'
topic_setting='[a-z][a-z.]*=[A-Za-z0-9._:,*-]*'

# Check that a word is of a kind. Any address, topic and amount is allowed: the scripts check what they mean.
word_checked() {
    case $1 in
        any | listed) ;;
        id | ID) case $2 in '' | *[!0-9a-f]*) refuse "the id $2" ;; esac ;;
        ten) case $2 in *[!0-9a-f]*) refuse "the id $2" ;; ??????????) ;; *) refuse "the id $2" ;; esac ;;
        boot | BOOT) case $2 in '' | *[!0-9a-f-]*) refuse "the boot id $2" ;; esac ;;
        name | NAME) names "$2" ;;
        number) number "$2" ;;
        digits | port) case $2 in '' | *[!0-9]*) refuse "the number $2" ;; esac ;;
        much) word_checked digits "${2%ppm}" ;;
        by) word_checked much "${2#-}" ;;
        address) case $2 in '' | *[!0-9a-f.:]*) refuse "the address $2" ;; esac ;;
        chain) case ${2#CHAOSK-} in '' | "$2" | *[!0-9a-f]*) refuse "the chain $2" ;; esac ;;
        comment) case $2 in chaosk:*) names "$(printf %s "$2" | tr -d :)" ;; *) refuse "the comment $2" ;; esac ;;
        end) case $2 in reboot | reset | crash) ;; *) refuse "the end $2" ;; esac ;;
        file)
            case ${2##*/} in chaosk-fill-?*) ;; *) refuse "the file $2" ;; esac
            case ${2##*/chaosk-fill-} in *[!0-9a-f]*) refuse "the file $2" ;; esac
            ;;
        gate) [ "$2" = "$gate" ] || refuse "\`$2\` under a lease" ;;
        inner) [ "$2" = inner ] || refuse "\`$2\` under a lease" ;;
        load) case $2 in cpu | memory) ;; *) refuse "the kind $2" ;; esac ;;
        log) case $2 in *[!A-Za-z0-9._-]* | *-) refuse "the log $2" ;; *-[0-9]*) ;; *) refuse "the log $2" ;; esac ;;
        LOG) case $2 in _*) refuse "the log $2" ;; ?*-[0-9]*) word_checked log "$2" ;; *) refuse "the log $2" ;; esac ;;
        offsets)
            word_checked log "${2%%:*}"
            case ${2#*:} in *:*:* | *[!0-9:]* | :* | *:) refuse "the offsets $2" ;; *:*) ;; *) refuse "the offsets $2" ;; esac
            ;;
        queue) matches "$2" "(netem|htb)( ($in_a_queue))+" || refuse "the queue $2" ;;
        replicas) matches "$2" "$assignment" || refuse "the replicas $2" ;;
        setting) matches "$2" "$topic_setting" || refuse "the setting $2" ;;
        topic) case $2 in '' | [!A-Za-z0-9._]* | __* | *[!A-Za-z0-9._-]*) refuse "the topic $2" ;; esac ;;
        way) case $2 in size | free) ;; *) refuse "the way $2" ;; esac ;;
        *) refuse "what it does not know, \`$1\`" ;;
    esac
}

# Any fault of a disk is allowed.
ill_checked() {
    case $1:$# in
        slow:3) case $2$3 in *[!0-9]*) refuse "the numbers $2 and $3" ;; esac ;;
        all:1 | writes:1) ;;
        *) refuse "\`mapper\`: $*" ;;
    esac
}

# Check the words of a command after its action by their kinds, the first argument. Adds to line what has to be on the
# list.
words_checked() {
    kinds=$1
    shift
    [ $# = 0 ] || shift
    for kind in $kinds; do
        case $kind in
            rules) break ;;
            ill) ill_checked "$@" && shift $# ;;
            *...)
                for word; do
                    word_checked "${kind%...}" "$word"
                    [ "$kind" != listed... ] || line=$line$word$tab
                done
                shift $#
                ;;
            *)
                [ $# -gt 0 ] || refuse "so few words"
                word_checked "$kind" "$1"
                case $kind in
                    listed) line=$line$1$tab ;;
                    file) line=$line${1%/*}/$tab ;;
                    [A-Z]*) line=$line$kind$tab ;;
                esac
                shift
                ;;
        esac
    done
    [ $# = 0 ] || refuse "so many words"
}

kinds_of() {
    commands | while read -r script action kinds; do
        case $script:$action in "$1:$2" | "$1:*") echo ":$kinds" && break ;; esac
    done
}

is_a_script() { commands | cut -d ' ' -f 1 | grep -q -x -F -e "$1"; }

# Check a command by its line of the table, and run it.
by_the_table() {
    kinds=$(kinds_of "$1" "$2")
    if [ -z "$kinds" ]; then
        is_a_script "$1" && refuse "\`$1 $2\`"
        refuse "\`$1\`"
    fi
    name=$1 asked=${kinds#:}
    shift
    line=$name$tab${1+$1$tab}
    words_checked "$asked" "$@"
    case " $asked" in *' listed'* | *' file'* | *' '[A-Z]*) on_the_list "$line" ;; esac
    case $asked in
        *rules)
            rules=$(cat)
            # All of the text has to come out of grep again: no program that fails, as by a limit of the account, lets it in.
            found=$(printf '%s\n' "$rules" | grep -x -E -e "$rule")
            [ -n "$rules" ] && [ "$found" = "$rules" ] || refuse "a rule that chaosk does not make"
            printf '%s\n' "$rules" | run "$name" "$@"
            ;;
        *) run "$name" "$@" ;;
    esac
}

# Any topic, group or transactional.id is allowed. The principal and the tool have to be on the list. Everyone may be
# allowed all operations, and only the probes may be denied any.
acl_checked() {
    count $# 9
    on_the_list "$(line_of settings change "$2" "$3" "$4")"
    case $5 in topic | group | transactional_id) ;; *) refuse "the kind $5" ;; esac
    case $6 in '' | *[!A-Za-z0-9._-]* | -*) refuse "the name $6" ;; esac
    case $7:$9 in allow:all | deny:read | deny:write | deny:describe) ;; *) refuse "to $7 $9" ;; esac
    on_the_list "$(line_of settings "$7" "$8")"
    run settings "$@"
}

# Any broker, client and value is allowed. The tool, the servers and the setting have to be on the list.
settings_checked() {
    [ $# -ge 8 ] || refuse "\`settings $1\`"
    on_the_list "$(line_of settings change "$2" "$3" "$4")"
    home=$2 config=$3 servers=$4 broker=$5 user=$6 client=$7
    shift 7
    case $broker in '') of=clients ;; *[!0-9]*) refuse "the broker $broker" ;; *) of=broker ;; esac
    [ "$of" = clients ] || [ -z "$user$client" ] || refuse "a broker and clients at once"
    [ "$of" = broker ] || [ -n "$user$client" ] || refuse "nobody's quota"
    [ -z "$user" ] || names "$user"
    [ -z "$client" ] || names "$client"
    for word; do
        case $word in *=*=*) refuse "the setting $word" ;; *=*) number "${word#*=}" ;; esac
        on_the_list "$(line_of settings "$of" "${word%%=*}")"
    done
    run settings change "$home" "$config" "$servers" "$broker" "$user" "$client" "$@"
}

# Any certificate and former file is allowed. The broker and the listener have to be on the list.
certificate_checked() {
    [ $# -ge 7 ] || refuse "\`certificate $1\`"
    case $1 in put) count $# 7 ;; lift) ;; *) refuse "\`certificate $1\`" ;; esac
    on_the_list "$(line_of certificate "$2" "$3" "$4" "$5")"
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
        on_the_list "$(line_of certificate "$setting")"
    done
    run certificate "$action" "$home" "$config" "$server" "$broker" "$id" "$@"
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

# Any undo is kept that is made of this gate's own words.
arm_checked() {
    words_checked "name number" "$@"
    bundle=$(cat)
    printf '%s\n' "$bundle" | made_by_chaosk || refuse "an undo that is not made of its own words"
    (script_text lease | wc -l && script_text lease && printf '%s\n' "$bundle") | run lease "$@"
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
    case "$1 $2" in
        "certificate $2") shift && certificate_checked "$@" ;;
        "discover $2") count $# 1 && run discover ;;
        lease\ arm) shift && arm_checked "$@" ;;
        settings\ grant | settings\ withdraw) shift && acl_checked "$@" ;;
        settings\ change) shift && settings_checked "$@" ;;
        *) by_the_table "$@" ;;
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
