set -e
dir=$(mktemp -d)
mkdir "$dir/my notes"
echo 1 > "$dir/my notes/a b.txt"
echo 2 > "$dir/my notes/c.txt"
sh backup.sh "$dir/my notes" "$dir/the copy"
test "$(cat "$dir/the copy/a b.txt")" = 1
test "$(cat "$dir/the copy/c.txt")" = 2
rm -r "$dir"
