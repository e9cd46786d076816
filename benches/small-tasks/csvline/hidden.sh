python3 -c '
import csv, io
from csvline import to_line
rows = [["a", "b,c", "d\"e", "two\nlines", ""], ["plain", 7]]
for row in rows:
    assert next(csv.reader(io.StringIO(to_line(row)))) == [str(f) for f in row], to_line(row)
assert to_line(["plain", 7]) == "plain,7"'
