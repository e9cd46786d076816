# slug TEXT: prints TEXT as part of an address: lower case, words joined by "-".
slug() {
    printf '%s\n' "$1" | tr -cs 'A-Za-z0-9\n' '-' | sed 's/^-//; s/-$//'
}
