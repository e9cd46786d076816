import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))
from cache import LruCache

cache = LruCache(2)
cache.put("a", 1)
cache.put("b", 2)
assert cache.get("a") == 1
cache.put("c", 3)
assert cache.get("a") == 1, "a was used last and is gone"
assert cache.get("b") is None, "b is the oldest and still there"
assert len(cache) == 2

cache = LruCache(2)
cache.put("a", 1)
cache.put("b", 2)
cache.put("a", 10)
cache.put("c", 3)
assert cache.get("a") == 10, "put of a key that is there makes it the newest"
