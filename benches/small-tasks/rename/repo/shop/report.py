from shop import price


def report(lines):
    return [f"{net}: {price.calc(net, count)}" for net, count in lines]
