from slug import slugify

assert slugify("Hello World") == "hello-world"
assert slugify("Hello,  World!") == "hello-world", slugify("Hello,  World!")
