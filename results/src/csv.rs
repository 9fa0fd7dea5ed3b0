//! CSV cells as in RFC 4180.

use std::borrow::Cow;

/// Characters that start a formula in spreadsheets, plus the apostrophe, so that removing one always restores the text.
const FORMULA_STARTS: [char; 8] = ['=', '+', '-', '@', '\'', '\t', '\n', '\r'];

/// Escapes a cell so that no spreadsheet treats it as a formula, and quotes it if necessary.
pub fn cell(value: &str) -> Cow<'_, str> {
    let harmless =
        if value.starts_with(FORMULA_STARTS) { Cow::Owned(format!("'{value}")) } else { Cow::Borrowed(value) };
    if harmless.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", harmless.replace('"', "\"\"")))
    } else {
        harmless
    }
}
