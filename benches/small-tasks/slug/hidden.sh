python3 -c 'from slug import slugify as s; assert s("--a--b--") == "a-b"; assert s("") == ""; assert s("x1 Y2") == "x1-y2"'
