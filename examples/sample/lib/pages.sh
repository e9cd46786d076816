# pages ITEMS SIZE: prints how many pages of SIZE items hold ITEMS.
pages() {
    echo $(($1 / $2))
}
