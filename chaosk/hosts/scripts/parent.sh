# Stop and resume the process that may start a server again: sh -c SCRIPT chaosk ACTION KIND PLACE CONFIG LEASE,
# as root
#
#   fits      who that is, and whether it can be kept from that without any change to others
#   hold      keep it from that, until it is released
#   note      leave it to that, and write down who it is
#   held      whether it is
#   release   let it go on
#   released  whether it goes on
#
#   KIND, PLACE and CONFIG say which server, as for service.sh
#
# A loop, runsv, s6-supervise or a shell learns of the end of its child by waiting for it. While it is stopped (SIGSTOP) it
# does not, and neither does whoever waits for it in turn. One that has other children as well would leave those alone.
#
# Under a lease (lease.sh names its folder in CHAOSK_LEASE) hold and note leave there who was around the server, ID BORN
# PLACE each, its parent first. service.sh reads that: a start lets it go on, and waits for what they start again.
#
# owned.sh, process.sh and around.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # they read kind, place and config, and set pid

action=$1 kind=$2 place=$3 config=$4 lease=$5
case $action in fits | hold | note | held | release | released) ;; *) fail "no such action: $action" ;; esac
case $lease in '' | *[!A-Za-z0-9._-]*) fail "the lease $lease" ;; esac
around=${CHAOSK_LEASE:-${CHAOSK_KEPT:-/var/lib/chaosk}/leases/$lease}/around

parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

called() { cat "/proc/$1/comm" 2>/dev/null; }

# Whether a process takes in whatever others leave, or begins the sessions of all, and starts nothing again.
is_everybodys() {
    case $1 in '' | 0 | 1) return ;; esac
    case $(called "$1") in
        init | systemd | sshd* | login | cron | crond | atd | tini | dumb-init | containerd-shim* | conmon) return ;;
        *) return 1 ;;
    esac
}

# The children of a process but one: not those that a server's output is written through.
others_of() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v parent="$1" -v but="$2" '
        $1 == "Name:" { name = $2 }
        $1 == "Pid:" { it = $2 }
        $1 == "PPid:" && $2 == parent && it != but && name !~ /^(tee|cat|sleep|logger|multilog|svlogd|s6-log|cronolog|rotatelogs)$/ {
            print "process " it " (" name ")"
        }'
}

# Who may start the server again: its parent, and whoever waits for nothing else but that.
chain() {
    child=$pid at=$(parent_of "$pid")
    while ! is_everybodys "$at" && { [ "$child" = "$pid" ] || [ -z "$(others_of "$at" "$child")" ]; }; do
        echo "$at"
        child=$at at=$(parent_of "$at")
    done
}

# A shell that was started by hand has other children, too, and starts nothing again; what else has may.
fits() {
    [ -n "$nearest" ] || { echo "nobody" && return; }
    who="process $nearest ($(called "$nearest"))"
    others=$(others_of "$nearest" "$pid" | head -n 1)
    [ -n "$others" ] || { echo "$who" && return; }
    ! is_around "$nearest" ||
        { echo "nobody: $who has other children, like $others" && return; }
    fail "$who started it, may start it again, and cannot be kept from it alone: it has also started $others; write restart: supervised, or stop it"
}

# Sets it and began to the parent that was written down; fails if there is none.
stopped() { [ -e "$around" ] && read -r it began _ <"$around"; }

# Whether it is there yet.
is_it() { [ "$(born "$it")" = "$began" ]; }

write_down() {
    for each in $(chain); do echo "$each $(born "$each") $place"; done >"$around.new" && mv -- "$around.new" "$around"
}

note() { write_down || fail "cannot write $around"; }

hold() {
    said=$(fits) || exit
    case $said in nobody*) echo "$said" && return ;; esac
    ! stopped || [ "$it" != "$nearest" ] || ! is_it || {
        kill -s STOP "$it" && echo "$said is stopped"
        return
    }
    [ "$(letter "$nearest")" != T ] || fail "$said is stopped already, and not by this run"
    note
    kill -s STOP "$nearest" && echo "$said is stopped"
}

case $action in
    fits | hold | note)
        find_process
        [ -n "$pid" ] || fail "no process"
        nearest=$(chain | head -n 1)
        "$action"
        ;;
    held)
        stopped || { echo "nobody starts it again" && exit; }
        is_it || fail "process $it, which was stopped, has ended"
        [ "$(letter "$it")" = T ] || fail "process $it ($(called "$it")) goes on"
        echo "process $it ($(called "$it")) is stopped"
        ;;
    release)
        ! stopped || ! is_it || kill -s CONT "$it"
        ;;
    released)
        ! stopped || ! is_it || [ "$(letter "$it")" != T ] || fail "process $it ($(called "$it")) is stopped"
        echo "nobody is held"
        ;;
esac
