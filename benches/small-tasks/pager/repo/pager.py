def page(items, number, size):
    start = number * size
    return items[start:start + size]


def pages(items, size):
    return (len(items) + size - 1) // size
