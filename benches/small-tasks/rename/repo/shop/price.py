TAX = 0.2


def calc(net, count=1):
    """The price of `count` pieces, tax included."""
    return round(net * count * (1 + TAX), 2)
