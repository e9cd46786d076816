set -e
test "$(python3 count.py sample.txt)" = 3
test "$(python3 count.py -l sample.txt)" = 2
