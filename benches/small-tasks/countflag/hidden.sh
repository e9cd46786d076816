set -e
test "$(python3 count.py sample.txt)" = 3
test "$(python3 count.py sample.txt -l)" = 2
printf 'a\nb\nc\n' > three.txt
test "$(python3 count.py -l three.txt)" = 3
rm three.txt
