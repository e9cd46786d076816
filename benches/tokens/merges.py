"""Makes crates/tokens/data/merges.bin, the small vocabulary of the class model: the first 32,000 merges
of o200k (its tokens as gpt-oss's tokenizer.json lists them), as pairs of 16-bit numbers. 0 to 255 are
the bytes, 256 and up what the merges give, in order."""
import json, os, struct
from common import report, tokenizer

MERGES = 32_000
printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
moved = [byte for byte in range(256) if byte not in printable]
byte_of = {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(moved)}
with open(tokenizer("gptoss"), encoding="utf8") as file:
    vocabulary = json.load(file)["model"]["vocab"]
tokens = [token for token, rank in sorted(vocabulary.items(), key=lambda entry: entry[1]) if len(token) > 1]
number = dict(byte_of)


def halves(token):
    """The two parts that were joined last: what is left of a token when only earlier merges are known."""
    parts = list(token)
    while len(parts) > 2:
        joined = [(number.get(a + b, 1 << 30), place) for place, (a, b) in enumerate(zip(parts, parts[1:]))]
        place = min(joined)[1]
        parts[place : place + 2] = ["".join(parts[place : place + 2])]
    return parts


pairs = []
for token in tokens[:MERGES]:
    left, right = halves(token)
    pairs.append((number[left], number[right]))
    number[token] = 256 + len(pairs) - 1
path = os.path.join(os.path.dirname(__file__), "../../crates/tokens/data/merges.bin")
with open(path, "wb") as file:
    file.write(b"".join(struct.pack("<HH", *pair) for pair in pairs))
report(f"{len(pairs)} merges, {os.path.getsize(path)} bytes")
