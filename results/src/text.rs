//! Texts that a person types and others read.

/// Whether a character is only itself: it neither controls nor turns around how the text beside it is shown.
pub fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    !(c.is_control() || turns)
}

/// Checks a name, such as that of a device, before anything depends on it. A leaderboard takes what passes.
///
/// # Errors
/// What is wrong, as the end of a sentence about the text.
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
    fn name_with_invisible_character_is_refused_by_its_number() {
        assert_eq!(check_name("RTX 4090 “Größe”", 100), Ok(()));
        let long = "x".repeat(101);
        let cases = [("RTX\u{200e}", "U+200E"), ("a\u{7}b", "U+0007"), (" ", "1 to 100"), (long.as_str(), "1 to 100")];
        for (text, part) in cases {
            let error = check_name(text, 100).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
