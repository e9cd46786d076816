"""Names for URLs."""


def slugify(title):
    """Lower-case letters and digits, everything else a dash."""
    out = ""
    for char in title.lower():
        out += char if char.isalnum() else "-"
    return out
