"""Counts a list of files with Hugging Face's tokenizers: LIST -> LIST.counts.json."""
import json, sys
from tokenizers import Tokenizer
from common import NAMES, read_list, read_text, report, tokenizer

for listing in sys.argv[1:]:
    texts = [read_text(path) for path in read_list(listing)]
    counts = {}
    for name in NAMES:
        reference = Tokenizer.from_file(tokenizer(name))
        counts[name] = []
        for start in range(0, len(texts), 200):
            batch = reference.encode_batch(texts[start : start + 200], add_special_tokens=False)
            counts[name] += [len(encoded.ids) for encoded in batch]
        report(f"{listing}: {name}: {sum(counts[name])} tokens")
    with open(f"{listing}.counts.json", "w") as file:
        json.dump(counts, file)
