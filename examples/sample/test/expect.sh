# expect WHAT GOT WANTED: counts and reports a difference; the exit status is the verdict.
failed=0
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: got '$2', wanted '$3'"
        failed=1
    fi
}
trap 'exit $failed' EXIT
