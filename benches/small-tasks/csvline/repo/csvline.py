def to_line(fields):
    """One line of a CSV file, without the line end."""
    return ",".join(str(field) for field in fields)
