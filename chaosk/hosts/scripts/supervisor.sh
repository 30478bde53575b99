# Keep systemd from restarting a unit, as root: sh -c SCRIPT chaosk ACTION UNIT LEASE
#
#   fits      whether it can be kept from that without any change to others
#   hold      keep it from that, until it is released
#   held      whether it is
#   release   let it again
#   released  whether it does what it did before
#
# It is held by a drop-in below /run, which is gone after a boot, and by a reload of systemd. A reload has systemd read
# every unit file again: where one was changed and not yet reloaded, that would be put into force, which nobody asked for.

action=$1 asked=$2 lease=$3

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

is() { systemctl show --property "$1" --value -- "${2:-$unit}"; }

case $action in fits | hold | held | release | released) ;; *) fail "no such action: $action" ;; esac
case $lease in '' | *[!A-Za-z0-9._-]*) fail "the lease $lease" ;; esac
# A unit may have several names; its settings are read from the folders of all of them.
unit=$asked
unit=$(is Id) || fail "systemd does not answer"
case $unit in '' | *[!A-Za-z0-9:_.@\\-]*) fail "systemd calls $asked $unit" ;; esac
folder=/run/systemd/system/$unit.d
file=$folder/zz-chaosk-$lease.conf

# Units whose files were changed and not reloaded.
changed_files() {
    systemctl show --property Id --property NeedDaemonReload -- '*' | awk -F= '
        $1 == "Id" { its = $2 }
        $1 == "NeedDaemonReload" && $2 == "yes" { print its }'
}

# How it is set: no word of what other units have.
says() { printf 'Restart=%s, RestartSec=%s\n' "$(is Restart)" "$(is RestartUSec)"; }

# Whether it stays down by itself: then nothing is changed.
stays_down() { [ "$(is Restart)" = no ] && [ -z "$(is RestartForceExitStatus)" ]; }

# Whether systemd has read our file. It writes paths in its own way, so the file's name is looked for, which no other has.
known() {
    paths=$(is DropInPaths) || fail "systemd does not answer"
    case $paths in *"/${file##*/}"*) true ;; *) false ;; esac
}

reload() { systemctl daemon-reload || fail "systemd does not reload"; }

write() {
    made=
    if [ ! -d "$folder" ]; then
        mkdir -p -- "$folder" || return
        made=' and its folder'
    fi
    printf '# chaosk made this file%s; chaosk heal takes it away\n[Service]\nRestart=no\nRestartForceExitStatus=\n' \
        "$made" >"$file.new" && mv -- "$file.new" "$file"
}

case $action in
    fits)
        stays_down || {
            other=$(changed_files | head -n 3 | tr '\n' ' ')
            [ -z "$other" ] ||
                fail "files of ${other% } were changed and not reloaded: to hold $unit would put that into force"
            [ -z "$(is OnFailure)" ] ||
                fail "$unit has OnFailure=$(is OnFailure), which a hold would set off: write restart: supervised, or stop it"
        }
        says
        ;;
    hold)
        if stays_down; then exit 0; fi
        write || fail "cannot write $file"
        reload
        stays_down || fail "$unit still has $(says)"
        ;;
    held)
        stays_down || fail "$unit has $(says)"
        echo "$unit is not started again"
        ;;
    release)
        made=
        ! grep -q 'and its folder' -- "$file" "$file.new" 2>/dev/null || made=yes
        rm -f -- "$file" "$file.new" || fail "cannot remove $file"
        [ -z "$made" ] || rmdir -- "$folder" 2>/dev/null
        ! known || reload
        ;;
    released)
        [ ! -e "$file" ] || fail "$file is there"
        ! known || fail "systemd has not yet forgotten $file"
        says
        ;;
esac
