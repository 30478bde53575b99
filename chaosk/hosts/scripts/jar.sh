# The installation of Kafka that a process runs from.

# The jar of Kafka's clients that a process has open, with links resolved: it tells where the process runs from, and by
# its name which version. Nothing if there is none.
clients_jar() { find "/proc/$1/fd" -lname '*/kafka-clients-*.jar' -printf '%l\n' 2>/dev/null | head -n 1; }

# Whether a path is below a folder, which is followed first.
below() { case $1 in "$(readlink -f -- "$2")"/*) true ;; *) false ;; esac; }
