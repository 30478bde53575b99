# The shell or supervisor around a server; for service.sh and parent.sh, after process.sh.

# Check that a process is a parent of servers, such as a shell or a supervisor, rather than a server.
is_around() {
    case $(runs_what "$1") in
        sh | ash | dash | bash | ksh* | zsh | busybox | su | sudo | runuser | setpriv) true ;;
        *) false ;;
    esac
}
