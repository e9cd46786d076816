PYTHONPATH=src python3 -c '
from cache import LruCache
c = LruCache(1); c.put(1, 1); c.put(2, 2)
assert c.get(1, "x") == "x" and c.get(2) == 2 and (c.hits, c.misses) == (1, 1) and len(c) == 1'
