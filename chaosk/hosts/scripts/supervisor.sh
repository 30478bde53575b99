# Keep systemd from restarting a unit, as root: sh -c SCRIPT chaosk ACTION UNIT LEASE
#
#   fits      check that it can be held without an effect on other units
#   hold      hold it, until it is released
#   held      check that it is held
#   release   release it
#   released  check that its original settings are in force
#
# It is held by a drop-in below /run, which a reboot removes, and by a reload of systemd. A reload reads every unit file
# again. If one was changed and not yet reloaded, that change would take effect, so this is refused.

action=$1 asked=$2 lease=$3

is() { systemctl show --property "$1" --value -- "${2:-$unit}"; }

case $action in fits | hold | held | release | released) ;; *) fail "no such action: $action" ;; esac
case $lease in '' | *[!A-Za-z0-9._-]*) fail "the lease $lease" ;; esac
# A unit may have several names; its settings are read from the folders of all of them.
unit=$asked
unit=$(is Id) || fail "systemd does not answer"
case $unit in '' | *[!A-Za-z0-9:_.@\\-]*) fail "systemd calls $asked $unit" ;; esac
folder=/run/systemd/system/$unit.d
file=$folder/zz-chaosk-$lease.conf

# Units with changed files that were not reloaded.
changed_files() {
    systemctl show --property Id --property NeedDaemonReload -- '*' | awk -F= '
        $1 == "Id" { its = $2 }
        $1 == "NeedDaemonReload" && $2 == "yes" { print its }'
}

# The unit's restart settings.
says() { printf 'Restart=%s, RestartSec=%s\n' "$(is Restart)" "$(is RestartUSec)"; }

# Check that systemd does not restart it anyway: then nothing is changed.
stays_down() { [ "$(is Restart)" = no ] && [ -z "$(is RestartForceExitStatus)" ]; }

# Check that systemd has read the drop-in. systemd normalizes paths, so this looks for the unique file name.
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
