. lib/pages.sh
. test/expect.sh
expect "a full page" "$(pages 10 10)" 1
expect "a page that is not full" "$(pages 11 10)" 2
