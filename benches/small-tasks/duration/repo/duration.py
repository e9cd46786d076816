"""Durations such as 1h30m."""


def parse_duration(text):
    """The seconds that `text` means."""
    raise NotImplementedError
