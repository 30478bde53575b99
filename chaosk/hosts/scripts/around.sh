# The shell or supervisor around a server; for service.sh and parent.sh, after process.sh.

# Whether a process is one that others are started by, and no server itself.
is_around() {
    case $(runs_what "$1") in
        sh | ash | dash | bash | ksh* | zsh | busybox | su | sudo | runuser | setpriv) true ;;
        *) false ;;
    esac
}
