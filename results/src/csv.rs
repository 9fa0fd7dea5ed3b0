//! Texts in tables of commas, as RFC 4180 writes them.

use std::borrow::Cow;

/// What a spreadsheet takes for the beginning of a formula, and the apostrophe, so that taking one away is always right.
const BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '\'', '\t', '\n', '\r'];

/// `value` as a cell that no spreadsheet takes for a formula, in quotes where it needs them.
pub fn cell(value: &str) -> Cow<'_, str> {
    let harmless = if value.starts_with(BEGINNINGS) { Cow::Owned(format!("'{value}")) } else { Cow::Borrowed(value) };
    if harmless.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", harmless.replace('"', "\"\"")))
    } else {
        harmless
    }
}
