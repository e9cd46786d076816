from .lru import LruCache
