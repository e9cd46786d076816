DEFAULTS = {"server": {"host": "localhost", "port": 80}, "debug": False}


def merge(base, extra):
    """What `extra` says, and what `base` says where `extra` says nothing."""
    base.update(extra)
    return base
