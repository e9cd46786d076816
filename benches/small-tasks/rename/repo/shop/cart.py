from shop.price import calc


def cart_total(lines):
    return sum(calc(net, count) for net, count in lines)
