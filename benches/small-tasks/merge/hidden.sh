python3 -c '
from config import merge
a = {"x": {"y": {"z": 1, "k": 2}}, "l": [1]}
b = {"x": {"y": {"z": 3}}, "l": [2], "n": None}
assert merge(a, b) == {"x": {"y": {"z": 3, "k": 2}}, "l": [2], "n": None}
assert a == {"x": {"y": {"z": 1, "k": 2}}, "l": [1]} and b["x"] == {"y": {"z": 3}}'
