//! Checks of text from people and files.

use std::str;

/// Reason why the content of a file is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    #[error("it is compressed with gzip; unpack it first")]
    Gzip,
    #[error("it is UTF-16; save it as UTF-8")]
    Utf16,
    #[error("line {0} is not UTF-8")]
    Line(usize),
}

/// Returns the content of a text file without its byte-order mark.
///
/// # Errors
/// A beginning of gzip or UTF-16.
pub fn skip_mark(content: &[u8]) -> Result<&[u8], NotText> {
    match content {
        [0xef, 0xbb, 0xbf, rest @ ..] => Ok(rest),
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => Err(NotText::Utf16),
        [0x1f, 0x8b, ..] => Err(NotText::Gzip),
        _ => Ok(content),
    }
}

/// Returns the text of a file without its byte-order mark.
///
/// # Errors
/// Content that is not UTF-8.
pub fn decode(content: &[u8]) -> Result<&str, NotText> {
    let text = skip_mark(content)?;
    str::from_utf8(text).map_err(|error| {
        let lines_before = text[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        NotText::Line(1 + lines_before)
    })
}

/// Returns true for a character that neither controls nor reorders the text around it.
pub fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    !(c.is_control() || turns)
}

/// Checks a name of a device or program as a leaderboard does.
///
/// # Errors
/// The problem, as the end of a sentence about the text.
pub fn check_name(text: &str, most_characters: usize) -> Result<(), String> {
    if text.trim().is_empty() || text.chars().count() > most_characters {
        return Err(format!("it must be 1 to {most_characters} visible characters"));
    }
    match text.chars().find(|c| !is_plain(*c)) {
        None => Ok(()),
        Some(c) => Err(format!(
            "it holds the invisible character U+{:04X}, as copied text often does; type it by hand",
            u32::from(c)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_loses_its_mark_and_other_content_is_refused() {
        assert_eq!(decode(b"\xef\xbb\xbf{}"), Ok("{}"));
        assert_eq!(decode("a\nb".as_bytes()), Ok("a\nb"));
        for (content, error) in [
            (&b"\xff\xfe{\0"[..], NotText::Utf16),
            (b"\x1f\x8b\x08", NotText::Gzip),
            (b"one\ntwo\n\xff", NotText::Line(3)),
        ] {
            assert_eq!(decode(content), Err(error));
        }
    }

    #[test]
    fn invisible_characters_are_named() {
        assert_eq!(check_name("RTX 4090 “Größe”", 100), Ok(()));
        let long = "x".repeat(101);
        let cases = [("RTX\u{200e}", "U+200E"), ("a\u{7}b", "U+0007"), (" ", "1 to 100"), (long.as_str(), "1 to 100")];
        for (text, part) in cases {
            let error = check_name(text, 100).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
