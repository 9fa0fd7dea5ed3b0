//! JSON in less code than serde_json generates: the page downloads a parser and a formatter once, not once per type.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// Parses JSON. The result is the same as from [`serde_json::from_str`].
///
/// # Errors
/// If the text is not JSON, or lacks a field of the type.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    T::deserialize(&serde_json::from_str::<Value>(text)?)
}

pub fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are strings")
}

/// Returns a value as JSON with an indent of two spaces, as from [`serde_json::to_string_pretty`].
pub fn pretty(value: &impl Serialize) -> String {
    let (mut text, mut depth, mut in_string, mut escaped) = (String::new(), 0, false, false);
    for letter in compact(value).chars() {
        let is_end = !in_string && matches!(letter, '}' | ']');
        depth -= usize::from(is_end);
        let is_first = text.ends_with(['{', '[']);
        // An empty list or object stays on its line.
        if !in_string && (is_first != is_end || text.ends_with(',')) {
            text.push('\n');
            (0..depth).for_each(|_| text.push_str("  "));
        }
        text.push(letter);
        if in_string {
            in_string = letter != '"' || escaped;
            escaped = letter == '\\' && !escaped;
            continue;
        }
        in_string = letter == '"';
        depth += usize::from(matches!(letter, '{' | '['));
        if letter == ':' {
            text.push(' ');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matches_serde_json() {
        let value = json!({ "a": [], "b": {}, "c": [1, 0.1, { "d": "x\"{,:[\\" }], "e": "\\\"", "é": [[null]] });
        assert_eq!(pretty(&value), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(parse::<Value>(&compact(&value)).unwrap(), value);
        assert_eq!(parse::<(u64, f64)>("[18446744073709551615, 0.1]").unwrap(), (u64::MAX, 0.1));
        assert!(parse::<Vec<u32>>("[1, -1]").is_err() && parse::<u32>("1 2").is_err());
    }
}
