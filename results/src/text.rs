//! Validation of text from users and files.

use std::str;

/// Reason why a file is not UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    #[error("it is compressed with gzip; unpack it first")]
    Gzip,
    #[error("it is UTF-16; save it as UTF-8")]
    Utf16,
    #[error("line {0} is not UTF-8")]
    Line(usize),
}

/// Strips the byte-order mark from the content of a text file.
///
/// # Errors
/// If the content starts like gzip or UTF-16.
pub fn skip_mark(content: &[u8]) -> Result<&[u8], NotText> {
    match content {
        [0xef, 0xbb, 0xbf, rest @ ..] => Ok(rest),
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => Err(NotText::Utf16),
        [0x1f, 0x8b, ..] => Err(NotText::Gzip),
        _ => Ok(content),
    }
}

/// Decodes the content of a text file and strips its byte-order mark.
///
/// # Errors
/// If the content is not UTF-8.
pub fn decode(content: &[u8]) -> Result<&str, NotText> {
    let text = skip_mark(content)?;
    str::from_utf8(text).map_err(|error| {
        let lines_before = text[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        NotText::Line(1 + lines_before)
    })
}

/// Returns true unless a character controls or reorders the text around it.
pub fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    !(c.is_control() || turns)
}

/// Validates the name of a device or program by the leaderboard's rules.
///
/// # Errors
/// Returns the problem, worded to follow the name of the text in a sentence.
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
    fn decode_strips_mark_and_rejects_other_encodings() {
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
