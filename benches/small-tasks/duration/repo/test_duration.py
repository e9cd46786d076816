from duration import parse_duration

for text, want in [("45s", 45), ("2m5s", 125), ("1h30m", 5400), ("1h", 3600)]:
    got = parse_duration(text)
    assert got == want, f"{text}: {got}, not {want}"
for bad in ["", "abc", "5", "1x"]:
    try:
        got = parse_duration(bad)
    except ValueError:
        continue
    raise AssertionError(f"{bad!r} gives {got} and no ValueError")
