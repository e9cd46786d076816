VALUES = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]


def to_roman(number):
    out = ""
    for value, letters in VALUES:
        while number >= value:
            out += letters
            number -= value
    return out


def is_roman(text):
    return bool(text) and all(char in "MDCLXVI" for char in text)
