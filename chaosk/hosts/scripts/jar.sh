# The installation of Kafka that a process runs from.

# The kafka-clients jar that a process has open, with links resolved: its path tells the installation, its name the
# version. Empty if there is none.
clients_jar() { find "/proc/$1/fd" -lname '*/kafka-clients-*.jar' -printf '%l\n' 2>/dev/null | head -n 1; }

# Check that a path is below a folder, whose links are resolved first.
below() { case $1 in "$(readlink -f -- "$2")"/*) true ;; *) false ;; esac; }
