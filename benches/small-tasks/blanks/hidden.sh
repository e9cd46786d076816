set -e
dir=$(mktemp -d)
mkdir "$dir/x"
echo 1 > "$dir/x/-n *.txt"
echo 2 > "$dir/x/no.md"
sh backup.sh "$dir/x" "$dir/deep  er"
test "$(ls "$dir/deep  er")" = "-n *.txt"
rm -r "$dir"
