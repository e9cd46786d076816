"""Our exact counts against Hugging Face's: every file of the unseen corpus (or of those named), and random
Unicode strings. Needs `reference.py $WORK/unseen.list`. Bar: no difference."""
import json, os, random, sys
from tokenizers import Tokenizer
from common import NAMES, WORK, our_counts, read_list, report, tokenizer

POOLS = [
    " \t\n\r\u00a0\u3000\u2028\u200b\x0b\x0c\x1c\x85", "'’sStTrReEvVmMlLdD", "0123456789٠١٢३½²Ⅷ",
    "ABCabcÀéßǅǈʰªИяΩωאبहि中々あアーㄱ가", "!\"#$%&()*+,-./:;<=>?@[]^_`{|}~¡…—«€©™→✓",
    "\u0301\u0300\u20dd\u0903\ufe0f\u200d", "😀🏽🇩🇪👩‍💻🫠",
    "<|im_start|> <|im_end|> <bos> <eos> <think> </think> <|start|> <｜User｜>".split(" "),
    ["   ", "\n\n\n", "\r\n", "'re", "'LL", "Hello", " world", "//", "/\n", "===", " 123", "\t\t", "ſ", "'ſ", "'ſx", "K"],
]
RANGES = [(0x20, 0x2FFF), (0x3000, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF)]


def random_strings(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 40)):
            known = rng.choice(rng.choice(POOLS))
            parts.append(known if rng.random() < 0.9 else chr(rng.randint(*rng.choice(RANGES))))
        yield "".join(parts)


differences = 0


def compare(what, listing, reference):
    global differences
    paths = read_list(listing)
    for name in NAMES:
        ours, said = our_counts(name, listing)
        wrong = [(o - r, p) for o, r, p in zip(ours, reference[name], paths, strict=True) if o != r]
        differences += len(wrong)
        report(f"{what}: {name}: {len(wrong)} of {len(paths)} differ {wrong[:3] or ''} ({said})")


for corpus in sys.argv[1:] or ["unseen"]:
    with open(f"{WORK}/{corpus}.list.counts.json") as file:
        compare(f"files of {corpus}", f"{WORK}/{corpus}.list", json.load(file))

os.makedirs(f"{WORK}/random", exist_ok=True)
strings = list(random_strings(4000, int(os.environ.get("SEED", "7"))))
with open(f"{WORK}/random.list", "w") as listing:
    for index, text in enumerate(strings):
        path = f"{WORK}/random/{index}.txt"
        with open(path, "w", encoding="utf8", newline="") as file:
            file.write(text)
        listing.write(path + "\n")
reference = {}
for name in NAMES:
    encode = Tokenizer.from_file(tokenizer(name)).encode
    reference[name] = [len(encode(text, add_special_tokens=False).ids) for text in strings]
compare("random strings", f"{WORK}/random.list", reference)
report(f"bar: 0 differences: {'ok' if differences == 0 else 'MISSED'}")
sys.exit(differences > 0)
