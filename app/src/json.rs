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

/// Returns a value as JSON in one line.
pub fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are strings")
}

/// Returns a value as JSON with an indent of two spaces, as from [`serde_json::to_string_pretty`].
pub fn pretty(value: &impl Serialize) -> String {
    let mut text = String::new();
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let compact = compact(value);
    let mut letters = compact.chars().peekable();
    let indent = |text: &mut String, depth: usize| {
        text.push('\n');
        (0..depth).for_each(|_| text.push_str("  "));
    };
    while let Some(letter) = letters.next() {
        if in_string {
            in_string = letter != '"' || escaped;
            escaped = letter == '\\' && !escaped;
            text.push(letter);
            continue;
        }
        match letter {
            '{' | '[' => {
                text.push(letter);
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => text.push(end),
                    None => {
                        depth += 1;
                        indent(&mut text, depth);
                    }
                }
            }
            '}' | ']' => {
                depth -= 1;
                indent(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                indent(&mut text, depth);
            }
            ':' => text.push_str(": "),
            other => {
                in_string = other == '"';
                text.push(other);
            }
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
        let value =
            json!({ "a": [], "b": {}, "c": [1, 0.1, { "d": "x\"{,:[\\" }], "e": "\\\"", "f": null, "é": [[true]] });
        assert_eq!(pretty(&value), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(parse::<Value>(&compact(&value)).unwrap(), value);
        assert_eq!(parse::<(u64, f64)>("[18446744073709551615, 0.1]").unwrap(), (u64::MAX, 0.1));
        assert!(parse::<Vec<u32>>("[1, -1]").is_err() && parse::<u32>("1 2").is_err());
    }
}
