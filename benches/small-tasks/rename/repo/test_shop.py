from shop import cart, price, report

assert price.total_price(10) == 12.0
assert not hasattr(price, "calc")
assert cart.cart_total([(10, 1), (5, 2)]) == 24.0
assert report.report([(10, 2)]) == ["10: 24.0"]
