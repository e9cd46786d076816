python3 -c '
from pager import page
assert page([1, 2, 3], 2, 2) == [3] and page([1], 5, 2) == []
try:
    page([1], -2, 2)
    raise SystemExit("no ValueError")
except ValueError:
    pass'
