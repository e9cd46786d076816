python3 -c '
from duration import parse_duration as p
assert p("2h5m10s") == 7510 and p("90m") == 5400
for bad in ["h", "1h x", "s5", "1.5h.", "-5s"]:
    try:
        p(bad)
    except ValueError:
        continue
    raise SystemExit(bad)'
