. lib/clip.sh
. test/expect.sh
expect "first three of five" "$(clip hello 3)" hel
expect "all of a short text" "$(clip hi 2)" hi
