from config import DEFAULTS, merge

got = merge(DEFAULTS, {"server": {"port": 8080}})
assert got == {"server": {"host": "localhost", "port": 8080}, "debug": False}, got
assert DEFAULTS["server"]["port"] == 80, "merge() changed its argument"
