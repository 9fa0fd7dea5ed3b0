//! Cells of CSV tables as in RFC 4180.

use std::borrow::Cow;

/// Characters that begin a formula in spreadsheets, and the apostrophe, so that removing one always restores the text.
const BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '\'', '\t', '\n', '\r'];

/// Returns a cell that no spreadsheet treats as a formula, quoted if necessary.
pub fn cell(value: &str) -> Cow<'_, str> {
    let harmless = if value.starts_with(BEGINNINGS) { Cow::Owned(format!("'{value}")) } else { Cow::Borrowed(value) };
    if harmless.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", harmless.replace('"', "\"\"")))
    } else {
        harmless
    }
}
