# Stop and resume the process that may start a server again: sh -c SCRIPT chaosk ACTION KIND PLACE CONFIG LEASE,
# as root
#
#   fits      print the process, and check that it can be stopped without an effect on others
#   hold      stop it, until it is released
#   note      let it run, and record it
#   held      check that it is stopped
#   release   resume it
#   released  check that it runs
#
#   KIND, PLACE and CONFIG identify the server, as for service.sh
#
# A loop, runsv, s6-supervise or a shell learns of its child's end by waiting for it. It does not while it is stopped
# (SIGSTOP), and neither do the processes that wait for it in turn. One with other children would neglect those as well.
#
# Under a lease (lease.sh names its folder in CHAOSK_LEASE) hold and note record the processes around the server there,
# as ID BORN PLACE, the parent first. service.sh reads that: a start resumes the stopped one, and waits for the server
# that they start.
#
# owned.sh, process.sh and around.sh come before this.
#
# shellcheck disable=SC2034,SC2154 # process.sh reads kind, place and config, and sets pid

action=$1 kind=$2 place=$3 config=$4 lease=$5
case $action in fits | hold | note | held | release | released) ;; *) fail "no such action: $action" ;; esac
case $lease in '' | *[!A-Za-z0-9._-]*) fail "the lease $lease" ;; esac
around=${CHAOSK_LEASE:-${CHAOSK_KEPT:-/var/lib/chaosk}/leases/$lease}/around

parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

called() { cat "/proc/$1/comm" 2>/dev/null; }

# Check that a process adopts orphans or starts sessions for all, and so restarts no server.
is_everybodys() {
    case $1 in '' | 0 | 1) return ;; esac
    case $(called "$1") in
        init | systemd | sshd* | login | cron | crond | atd | tini | dumb-init | containerd-shim* | conmon) return ;;
        *) return 1 ;;
    esac
}

# The children of a process except one and except programs that a server's output is piped to.
others_of() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v parent="$1" -v but="$2" '
        $1 == "Name:" { name = $2 }
        $1 == "Pid:" { it = $2 }
        $1 == "PPid:" && $2 == parent && it != but && name !~ /^(tee|cat|sleep|logger|multilog|svlogd|s6-log|cronolog|rotatelogs)$/ {
            print "process " it " (" name ")"
        }'
}

# The processes that may restart the server: its parent, and each ancestor that waits for nothing else.
chain() {
    child=$pid at=$(parent_of "$pid")
    while ! is_everybodys "$at" && { [ "$child" = "$pid" ] || [ -z "$(others_of "$at" "$child")" ]; }; do
        echo "$at"
        child=$at at=$(parent_of "$at")
    done
}

# A shell started by hand may have other children, but restarts nothing. Another process with other children may.
fits() {
    [ -n "$nearest" ] || { echo "nobody" && return; }
    who="process $nearest ($(called "$nearest"))"
    others=$(others_of "$nearest" "$pid" | head -n 1)
    [ -n "$others" ] || { echo "$who" && return; }
    ! is_around "$nearest" ||
        { echo "nobody: $who has other children, like $others" && return; }
    fail "$who started it, may start it again, and cannot be kept from it alone: it has also started $others; write restart: supervised, or stop it"
}

# Sets it and began to the recorded parent; fails if there is none.
stopped() { [ -e "$around" ] && read -r it began _ <"$around"; }

# Check that it still exists.
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
