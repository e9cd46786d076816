. lib/slug.sh
. test/expect.sh
expect "lower case" "$(slug 'Hello World')" hello-world
expect "no sign at the ends" "$(slug '(a b)')" a-b
