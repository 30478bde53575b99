# Print transactions or batches from the logs of partitions, as root:
# sh -c SCRIPT chaosk markers HOME DATA LOG... | sh -c SCRIPT chaosk batches HOME DATA LOG:FIRST:LAST...
#
# HOME is Kafka's, DATA are a broker's data directories, comma-separated. LOG is a partition's folder in one of them,
# such as orders-0. `markers` prints transactions, `batches` the batches at offsets from FIRST to LAST. Kafka's
# kafka-dump-log.sh reads the segments, as the account that owns them. The output has these lines, and nothing from
# within records:
#
#   absent LOG                                   it is in none of DATA
#   log LOG                                      the following lines are about this one
#   segment OFFSET                               the first offset of a segment
#   batches FIRST LAST PRODUCER EPOCH            consecutive batches that a producer wrote in transactions
#   marker OFFSET PRODUCER EPOCH COMMIT|ABORT    the end of a transaction
#   batch FIRST LAST EPOCH CRC                   a batch that holds some of the offsets, and its leader's epoch
#   reached OFFSET                               the last offset of the segment
#   strange LINE                                 an unexpected line, or a batch that is not valid
#   full                                         the rest is left out: the output is too large
#   status NUMBER                                exit status of the tool; without this line it did not end

# owned.sh and program.sh come before this.
#
# shellcheck disable=SC2034 # program.sh reads config

most=12000000
config='' # the tool only reads files

folder_of() {
    (
        IFS=,
        set -f
        for each in $data; do
            if [ -d "$each/$1" ]; then
                printf '%s\n' "$each/$1"
                return
            fi
        done
    )
}

dump() {
    if [ -z "$files" ]; then
        echo "status 0"
        return
    fi
    set -- ${deep:+"$deep"} --files "$files"
    run_tool "$@"
    echo "status $?"
}

# The segments in a folder that may hold offsets from $2 to $3, as seen by its account.
segments_with() {
    found=''
    for base in $(as_account find "$1" -mindepth 1 -maxdepth 1 -name '[0-9]*.log' 2>/dev/null |
        sed 's|.*/||; s|\.log$||' | sort); do
        file=$1/$base.log
        if [ "$base" -gt "$3" ]; then
            break
        fi
        if [ "$base" -le "$2" ]; then
            found=$file # a segment ends where the next one begins
        else
            found=${found:+$found,}$file
        fi
    done
    printf '%s\n' "$found"
}

kept() {
    awk -v most="$most" -v wanted="$wanted" '
        BEGIN {
            count = split(wanted, spans, " ")
            for (i = 1; i <= count; i++) {
                split(spans[i], span, ":")
                from[span[1]] = span[2] + 0
                to[span[1]] = span[3] + 0
            }
        }
        function say(line) {
            if (full) return
            said += length(line) + 1
            if (said > most) { full = 1; line = "full" }
            print line
        }
        function strange(line) { if (++odd <= 3) say("strange " substr(line, 1, 200)) }
        function stretch() {
            if (open) say("batches " first " " last " " producer " " epoch)
            open = 0
        }
        function over() {
            stretch()
            if (last != "") say("reached " last)
            last = ""
            fflush()
        }
        /^Dumping / {
            over()
            count = split($0, parts, "/")
            if (parts[count - 1] != log_name) { log_name = parts[count - 1]; say("log " log_name) }
            next
        }
        /^Log starting offset: / { say("segment " $NF); next }
        $1 == "baseOffset:" {
            split("", value)
            for (i = 1; i < NF; i += 2) value[$i] = $(i + 1)
            control = value["isControl:"] == "true"
            if (value["isvalid:"] != "true") strange("the batch at " $2 " has isvalid: " value["isvalid:"])
            if (value["isControl:"] == "" || value["lastOffset:"] == "") strange($0)
            if (log_name in from) {
                if (value["crc:"] == "") strange($0)
                if (value["lastOffset:"] + 0 >= from[log_name] && $2 + 0 <= to[log_name])
                    say("batch " $2 " " value["lastOffset:"] " " value["partitionLeaderEpoch:"] " " value["crc:"])
                last = value["lastOffset:"]
                next
            }
            same = open && value["producerId:"] == producer && value["producerEpoch:"] == epoch
            if (control || value["isTransactional:"] != "true" || !same) stretch()
            if (!control && value["isTransactional:"] == "true" && !open) {
                open = 1
                first = $2
            }
            last = value["lastOffset:"]
            producer = value["producerId:"]
            epoch = value["producerEpoch:"]
            next
        }
        $1 == "|" && (!control || log_name in from) { next }
        $1 == "|" && $(NF - 3) == "endTxnMarker:" { say("marker " $3 " " producer " " epoch " " $(NF - 2)); next }
        /^status / { over(); print; next }
        NF { strange($0) }'
}

case $1 in
    markers | batches)
        action=$1 tool=$2/bin/kafka-dump-log.sh data=$3
        shift 3
        [ -x "$tool" ] || fail "there is no $tool"
        files='' owner=0:0 deep='' wanted=''
        if [ "$action" = markers ]; then
            deep=--deep-iteration
        else
            wanted=$*
        fi
        for word; do
            name=${word%%:*}
            folder=$(folder_of "$name")
            if [ -z "$folder" ]; then
                echo "absent $name"
                continue
            fi
            find_owner "$folder"
            span=0:9223372036854775807
            [ "$action" = markers ] || span=${word#*:}
            more=$(segments_with "$folder" "${span%:*}" "${span#*:}")
            files=${files:+$files,}$more
        done
        dump | kept
        ;;
    *) fail "no such action: $1" ;;
esac
