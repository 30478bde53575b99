# Describe this host, and the servers of Kafka and ZooKeeper on it: sh -c SCRIPT chaosk, as root
#
# Prints one fact a line, `SUBJECT WHAT`. It begins with the host: uid, hostname, address, system, timer and firewall.
# `server PID` begins a process, and the lines after it describe it:
#
#   account NAME      its account
#   kind WHAT         kafka or zookeeper
#   config FILE       its configuration file, from its command line
#   setting KEY=TEXT  the settings in that file, and on the command line, that tell which server it is and where it listens
#   myid NUMBER       of a ZooKeeper node, from its data directory
#   unit NAME         its systemd unit
#   pid_file FILE     a file that holds its id
#   program FILE      a program that names that pid file
#   beside FILE       a program beside it whose name has `stop` in the place of `start`
#   lock FOLDER       a directory whose .lock it has open
#   log FILE          a file *.log outside those directories that it writes
#   jar FILE          a jar of Kafka or ZooKeeper that it has open, or on its command line
#   java VERSION      of its Java
#   port NUMBER       a port on which it listens
#   container WHAT    it runs in a container
#
# Without root it prints less: what other accounts may read in /proc. Other words of a command line, other settings and
# the environment are never printed, because they may hold secrets. Files are read by the server's own account. The
# script changes nothing.
#
# owned.sh comes before this.

line_of() { tr -d '\r' | tr '\t' ' ' | head -n 1; }

firewall() {
    ! command -v nft >/dev/null || echo "firewall nft"
    command -v iptables >/dev/null || return 0
    case $(iptables --version 2>/dev/null) in
        *nf_tables*) echo "firewall iptables-nft" ;;
        *) echo "firewall iptables-legacy" ;;
    esac
}

words_of() { tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null; }

# The main class decides. Tools of Kafka have others.
kind_of() {
    words_of "$1" | awk '
        $0 == "kafka.Kafka" || /^io\.confluent\.[a-z.]*SupportedKafka$/ { kind = "kafka" }
        /^org\.apache\.zookeeper\.server\.(quorum\.QuorumPeerMain|ZooKeeperServerMain)$/ { kind = "zookeeper" }
        END { print kind }'
}

# The first word after the main class: a file, made absolute by the process's current directory.
config_of() {
    word=$(words_of "$1" | awk '
        after && /^[^-]/ { print; exit }
        /(kafka\.Kafka|SupportedKafka|QuorumPeerMain|ZooKeeperServerMain)$/ { after = 1 }')
    case $word in
        '') ;;
        /*) echo "$word" ;;
        *) folder=$(readlink "/proc/$1/cwd" 2>/dev/null) && echo "${folder%/}/${word#./}" ;;
    esac
}

# The settings of a properties file that hold no secret, by Java's rules; then those of --override.
settings() {
    [ -z "$config" ] || as_account timeout 5 head -c 1000000 -- "$config" 2>/dev/null | awk '
        { part = $0; sub(/^[ \t]+/, "", part); sub(/\r$/, "", part); line = pending part }
        pending == "" && part ~ /^[#!]/ { next }
        { pending = "" }
        line ~ /\\$/ { sub(/\\$/, "", line); pending = line; next }
        { sub(/[ \t]+$/, "", line) }
        line !~ /[=: \t]/ { next }
        { key = line; sub(/[=: \t].*/, "", key); text = substr(line, length(key) + 1); sub(/^[ \t]*[=:]?[ \t]*/, "", text); print key "=" text }'
    words_of "$1" | awk 'over { print; over = 0 } $0 == "--override" { over = 1 }'
}

plain='node\.id|broker\.id|broker\.rack|process\.roles|listeners|advertised\.listeners|listener\.security\.protocol\.map'
plain="$plain|inter\.broker\.listener\.name|security\.inter\.broker\.protocol|controller\.listener\.names"
plain="$plain|controller\.quorum\.(voters|bootstrap\.servers)|zookeeper\.connect|log\.dirs?|metadata\.log\.dir"
plain="$plain|authorizer\.class\.name|dataDir|dataLogDir|clientPort|clientPortAddress|secureClientPort|server\.[0-9]+"

# Programs on the usual paths that contain the name of a pid file; the account reads them. A program to start has the
# one to stop beside it.
programs() {
    # shellcheck disable=SC2016 # the inner shell expands
    as_account sh -c 'grep -l -s -F -e "$1" -- "$0"/bin/* /etc/init.d/* /usr/local/bin/* /usr/local/sbin/* "${1%/*}"/*' \
        "${home:-/opt/kafka}" "$1" | while IFS= read -r file; do
        [ -x "$file" ] || continue
        echo "program $file"
        other=${file%/*}/$(printf '%s\n' "${file##*/}" | sed 's/start/stop/')
        [ "$other" = "$file" ] || [ ! -x "$other" ] || echo "beside $other"
    done
}

# A process, and the shells around it, whose id a pid file may hold.
ids_of() {
    echo "$1"
    parent=$(awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null)
    case $(cat "/proc/${parent:-0}/comm" 2>/dev/null) in sh | dash | bash | ash | ksh* | zsh | su | runuser | setpriv) echo "$parent" ;; esac
}

pid_files() {
    ids=$(ids_of "$1" | tr '\n' '|')
    as_account timeout 10 find /run /var/run /tmp /var/tmp "${home:-/opt/kafka}" /etc/service /service -maxdepth 3 \
        -type f -name '*.pid' -size -2 -exec grep -l -x -E -e "${ids%|}" {} + 2>/dev/null | while IFS= read -r file; do
        echo "pid_file $file"
        programs "$file"
    done
}

# The unit in its control group, if the unit's main process is the server or the shell around it. A server that was
# started by hand is in the unit of cron or sshd.
unit() {
    [ -d /run/systemd/system ] || return 0
    name=$(sed -n 's|^[0-9]*:[^:]*:.*/\([^/]*\.service\)\(/.*\)\{0,1\}$|\1|p' "/proc/$1/cgroup" 2>/dev/null | head -n 1)
    [ -n "$name" ] || return 0
    main=$(systemctl show --property MainPID --value -- "$name" 2>/dev/null)
    for each in $(ids_of "$1"); do
        [ "$each" != "$main" ] || echo "unit $name"
    done
}

container() {
    case $(cat "/proc/$1/cgroup" 2>/dev/null) in
        *docker* | *containerd* | *kubepods* | *libpod* | *lxc*) echo "container its control group" ;;
        *)
            its=$(readlink "/proc/$1/ns/pid" 2>/dev/null)
            [ "${its:-unknown}" = unknown ] || [ "$its" = "$(readlink /proc/self/ns/pid)" ] ||
                echo "container its process namespace"
            ;;
    esac
}

# A name of several lines would be several facts.
links_of() { find "/proc/$1/fd" -maxdepth 1 -lname "$2" ! -lname '*
*' -printf '%l\n' 2>/dev/null; }

jars() {
    {
        links_of "$1" '*.jar'
        words_of "$1" | tr ':' '\n' | awk '/^\/.*\.jar$/'
    } | awk '/\/(kafka_[0-9.]+|kafka-clients|confluent-server|zookeeper)-[^\/]*\.jar$/ && !seen[$0]++ { print "jar " $0 }'
}

logs() {
    links_of "$1" '/*.log' | awk '!seen[$0]++' | while IFS= read -r file; do
        for folder in $2; do case $file in "$folder"/*) continue 2 ;; esac done
        echo "log $file"
    done
}

ports() {
    sockets=$(links_of "$1" 'socket:*' | tr -cd '0-9\n' | tr '\n' ' ')
    cat "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null | awk -v sockets=" $sockets" '
        $4 == "0A" && index(sockets, " " $10 " ") { n = split($2, at, ":"); print at[n] }' | sort -u |
        while read -r port; do echo "port $((0x$port))"; done
}

java_of() {
    at=$(readlink "/proc/$1/exe" 2>/dev/null)
    as_account head -c 4000 -- "${at%/bin/java}/release" 2>/dev/null | sed -n 's/^JAVA_VERSION="\([^"]*\)".*/java \1/p'
}

server() {
    owner=$(stat -c %u:%g -- "/proc/$1" 2>/dev/null) || return 0
    echo "server $1"
    echo "account $(id -n -u -- "${owner%:*}" 2>/dev/null || echo "${owner%:*}")"
    echo "kind $2"
    config=$(config_of "$1" | line_of) # a directory of the account's may have a name of several lines
    [ -z "$config" ] || echo "config $config"
    found=$(settings "$1")
    printf '%s\n' "$found" | awk -v plain="^($plain)=" '$0 ~ plain { print "setting " $0 }'
    data=$(printf '%s\n' "$found" | sed -n 's/^dataDir=//p' | tail -n 1)
    [ -z "$data" ] || as_account head -c 20 -- "$data/myid" 2>/dev/null | line_of | sed -n 's/^\([0-9]*\) *$/myid \1/p'
    unit "$1"
    container "$1"
    jars=$(jars "$1")
    [ -z "$jars" ] || echo "$jars"
    home=$(printf '%s\n' "$jars" | sed -n 's|^jar \(.*\)/libs/kafka-clients-[^/]*$|\1|p' | head -n 1)
    pid_files "$1"
    folders=$(links_of "$1" '*/.lock' | sed 's|/\.lock$||')
    for folder in $folders; do echo "lock $folder"; done
    logs "$1" "$folders $data"
    java_of "$1"
    ports "$1"
}

echo "uid $(id -u)"
echo "hostname $(uname -n)"
ip -o addr show 2>/dev/null | awk '$2 != "lo" && $3 ~ /^inet/ { sub(/\/.*/, "", $4); print "address " $4 }'
sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/system \1/p' /etc/os-release 2>/dev/null
echo "timer $(if [ -d /run/systemd/system ]; then echo systemd; else echo setsid; fi)"
firewall
grep -l -s -a -E -e 'kafka\.Kafka|SupportedKafka|QuorumPeerMain|ZooKeeperServerMain' /proc/[0-9]*/cmdline |
    tr -cd '0-9\n' | while read -r each; do
    kind=$(kind_of "$each")
    [ -z "$kind" ] || server "$each" "$kind"
done
