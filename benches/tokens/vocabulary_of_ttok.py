"""Writes the vocabulary that ttok would download (o200k_base), from the tokenizer.json of gpt-oss.

tiktoken checks the file's hash, so a wrong one is not used."""
import base64, hashlib, json, os
from common import WORK, tokenizer

URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
moved = [byte for byte in range(256) if byte not in printable]
to_byte = {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(moved)}
with open(tokenizer("gptoss"), encoding="utf8") as file:
    vocabulary = json.load(file)["model"]["vocab"]
os.makedirs(f"{WORK}/tiktoken", exist_ok=True)
with open(f"{WORK}/tiktoken/{hashlib.sha1(URL.encode()).hexdigest()}", "wb") as file:
    for token, rank in sorted(vocabulary.items(), key=lambda entry: entry[1]):
        if rank < 199_998:
            file.write(base64.b64encode(bytes(to_byte[c] for c in token)) + b" %d\n" % rank)
