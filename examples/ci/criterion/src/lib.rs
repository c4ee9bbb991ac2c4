//! How often words occur in a text.

use std::collections::BTreeMap;

/// Returns how often each word occurs.
pub fn count_words(text: &str) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}
