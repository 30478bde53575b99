# Check that no TCP connection to an address can be made from this host: sh -c SCRIPT chaosk ADDRESS PORT
#
# Fails only if one was made within a second. Without bash, which is what can make one, nothing is tried and it succeeds.

# shellcheck disable=SC2016 # bash expands
connected() { timeout 1 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$@" 2>/dev/null; }

if ! command -v bash >/dev/null || ! command -v timeout >/dev/null; then
    echo "not tried: there is no bash or no timeout"
elif connected "$1" "$2"; then
    echo "$1:$2 accepts a connection from here"
    exit 1
else
    echo "$1:$2 accepts no connection from here"
fi
