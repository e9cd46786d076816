class LruCache:
    """Keeps the `size` entries that were used last."""

    def __init__(self, size):
        self.size = size
        self.entries = {}
        self.hits = 0
        self.misses = 0

    def get(self, key, default=None):
        if key in self.entries:
            self.hits += 1
            return self.entries[key]
        self.misses += 1
        return default

    def put(self, key, value):
        self.entries[key] = value
        if len(self.entries) > self.size:
            oldest = next(iter(self.entries))
            del self.entries[oldest]

    def __len__(self):
        return len(self.entries)
