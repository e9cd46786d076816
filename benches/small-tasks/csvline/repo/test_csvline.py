from csvline import to_line

assert to_line(["a", 1]) == "a,1"
assert to_line(["a,b", "c"]) == '"a,b",c', to_line(["a,b", "c"])
assert to_line(['say "hi"']) == '"say ""hi"""', to_line(['say "hi"'])
