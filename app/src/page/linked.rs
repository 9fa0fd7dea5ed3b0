//! Sentences with links in them: where a link stands is a matter of the language.

use leptos::prelude::*;
use results::open_data::LICENCE_ADDRESS;

/// What stands in a sentence for its first link, its second and so on; no text has these letters.
pub(super) const LINKS: [&str; 4] = ["\u{e000}", "\u{e001}", "\u{e002}", "\u{e003}"];

/// A sentence with a link, an address and its words, in place of each of [`LINKS`] that stands in it.
pub(super) fn linked<const N: usize>(sentence: &str, links: [(String, String); N]) -> impl IntoView + use<N> {
    let mut parts = Vec::new();
    let mut rest = sentence;
    while let Some(place) = rest.find(|letter: char| LINKS.iter().any(|link| link.starts_with(letter))) {
        let (before, after) = rest.split_at(place);
        let letter = after.chars().next().unwrap_or_default();
        parts.push(before.to_owned().into_any());
        let number = LINKS.iter().position(|link| link.starts_with(letter));
        if let Some((address, words)) = number.and_then(|number| links.get(number).cloned()) {
            // What a page is under, search engines and browsers look for.
            let rel = (address == LICENCE_ADDRESS).then_some("license");
            parts.push(view! { <a href=address rel=rel>{words}</a> }.into_any());
        }
        rest = &after[letter.len_utf8()..];
    }
    parts.push(rest.to_owned().into_any());
    parts
}
