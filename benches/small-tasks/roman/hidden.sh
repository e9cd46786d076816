python3 -c 'from roman import to_roman as r; assert [r(n) for n in (3, 40, 90, 444, 900, 3999)] == ["III", "XL", "XC", "CDXLIV", "CM", "MMMCMXCIX"]'
