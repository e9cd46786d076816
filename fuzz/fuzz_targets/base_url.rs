//! Base URLs: what was accepted stays the same when it is read again.

#![no_main]

use baton_protocol::BaseUrl;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(url) = BaseUrl::parse(text) else {
        return;
    };
    assert!(!url.host().is_empty() && url.port() > 0);
    assert!(url.api().starts_with(&url.root()));
    let again = BaseUrl::parse(&url.to_string());
    assert_eq!(again.as_ref(), Ok(&url), "from {text:?}");
});
