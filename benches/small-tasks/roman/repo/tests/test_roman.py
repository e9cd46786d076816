import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from roman import is_roman, to_roman

for number, want in [(1, "I"), (4, "IV"), (9, "IX"), (14, "XIV"), (1994, "MCMXCIV")]:
    assert to_roman(number) == want, f"{number}: {to_roman(number)}, not {want}"
assert is_roman("IV") and not is_roman("abc")
