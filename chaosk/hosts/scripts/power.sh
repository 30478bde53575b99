# Switch a host's power and check whether it answers, as the account that runs chaosk, on its machine:
#
#   sh -c SCRIPT chaosk ACTION ADDRESS PORT [STATE OFF ON [GRACE WITHIN]]
#
#   answers        check that an SSH server answers there
#   silent         check twice that none does
#   is-on, is-off  check the state that STATE prints
#   off, on        switch it off or on, unless it is, and confirm that by STATE
#   revive         make it answer: switch it on if it is off, or off and on if it stays silent for GRACE seconds; fails
#                  if it does not answer within WITHIN seconds after that
#
# STATE, OFF and ON are the operator's own commands, each as one line that is quoted for a shell. The last word that
# STATE prints is the state, as with ipmitool, virsh and qm. With any other word, or a status other than 0, the state is
# unknown.

action=$1 address=$2 port=$3 state=$4 off=$5 on=$6 grace=$7 within=$8

# In a separate bash, which can open TCP connections.
answers() {
    # shellcheck disable=SC2016 # bash expands it
    timeout -k 1 3 bash -c 'exec 3<>"/dev/tcp/$1/$2" && read -r line <&3 && case $line in SSH-*) exit 0 ;; esac; exit 1' \
        answers "$address" "$port" >/dev/null 2>&1
}

# on, off, or empty if unknown
power() {
    said=$(sh -c "$state" 2>&1) || return 0
    case $(printf %s "$said" | tr '[:upper:]' '[:lower:]' | awk '{ for (i = 1; i <= NF; i++) word = $i } END { print word }') in
        on | running) echo on ;;
        off | stopped | crashed) echo off ;;
    esac
}

unknown() { fail "its power is neither on nor off; \`$state\` says: $(sh -c "$state" 2>&1 | tail -c 200)"; }

# Switches it, and waits until the state is confirmed.
switch() {
    [ "$(power)" != "$1" ] || return 0
    said=$(sh -c "$2" 2>&1) || fail "\`$2\` failed: $(printf %s "$said" | tail -c 200)"
    tries=0
    until [ "$(power)" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 40 ] || fail "\`$2\` was done, but \`$state\` does not say $1"
        sleep 0.5
    done
}

seconds() { cut -d . -f 1 /proc/uptime; }

# Check that it answers within so many seconds; asks at least once.
answers_within() {
    end=$(($(seconds) + $1))
    until answers; do
        [ "$(seconds)" -lt "$end" ] || return 1
        sleep 0.5
    done
}

revive() {
    ! answers || return 0
    case $(power) in
        off) ;;
        on)
            ! answers_within "$grace" || return 0
            switch off "$off"
            ;;
        *) unknown ;;
    esac
    switch on "$on"
    answers_within "$within" || fail "switched on, but no SSH server answers at $address port $port within $within s"
}

case $action in
    answers) answers || fail "no SSH server answers at $address port $port" ;;
    silent)
        for look in 1 2; do
            ! answers || fail "an SSH server answers at $address port $port (look $look)"
        done
        ;;
    is-on | is-off)
        found=$(power)
        [ -n "$found" ] || unknown
        [ "$found" = "${action#is-}" ] || fail "its power is $found"
        echo "its power is $found"
        ;;
    off) switch off "$off" ;;
    on) switch on "$on" ;;
    revive) revive ;;
    *) fail "no such action: $action" ;;
esac
