# Report why a command failed, on standard error; the first file of every script.

fail() {
    printf '%s\n' "$*" >&2 # echo would interpret backslashes
    exit 1
}
