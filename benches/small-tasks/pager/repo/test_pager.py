from pager import page, pages

letters = list("abcdefg")
assert page(letters, 1, 3) == ["a", "b", "c"], page(letters, 1, 3)
assert page(letters, 3, 3) == ["g"], page(letters, 3, 3)
assert pages(letters, 3) == 3
try:
    page(letters, 0, 3)
except ValueError:
    pass
else:
    raise AssertionError("page 0 must raise ValueError")
