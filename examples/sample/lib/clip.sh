# clip TEXT N: prints the first N characters of TEXT.
clip() {
    printf '%s\n' "$1" | cut -c "1-$(($2 - 1))"
}
