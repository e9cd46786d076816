"""Makes crates/tokens/data/common-words.txt: frequent words that are one token in every vocabulary,
after a space and alone. Only files used for fitting are looked at."""
import collections, os, re
from tokenizers import Tokenizer
from common import NAMES, WORK, read_list, read_text, tokenizer

counts = collections.Counter()
for path in read_list(f"{WORK}/corpus.list"):
    found = collections.Counter(word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}", read_text(path)))
    # A word that one file repeats is not yet a common one.
    counts.update({word: min(count, 3) for word, count in found.items()})
encoders = [Tokenizer.from_file(tokenizer(name)) for name in NAMES]
single = lambda text: all(len(e.encode(text, add_special_tokens=False).ids) == 1 for e in encoders)
words = [word for word, _ in counts.most_common(24_000) if 3 <= len(word) <= 14]
words = sorted(word for word in words if single(" " + word) and single(word))
lines = [""]
for word in words:
    if len(lines[-1]) + len(word) > 98:
        lines.append("")
    lines[-1] = f"{lines[-1]} {word}".strip()
with open(os.path.join(os.path.dirname(__file__), "../../crates/tokens/data/common-words.txt"), "w") as file:
    file.write("\n".join(lines) + "\n")
