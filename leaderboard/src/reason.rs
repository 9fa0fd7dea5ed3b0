use crate::validation::FieldPath;

/// More is no reason but a story.
const MOST_CHARACTERS: usize = 300;

/// Why a moderator does something, for anybody to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// A text of at most 300 characters, in one line.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        FieldPath::ROOT.filled_text(text, MOST_CHARACTERS).map_err(|refusal| refusal.message)?;
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_that_says_something() {
        assert_eq!(Reason::parse("  Zu schnell 🚀 ").unwrap().as_str(), "Zu schnell 🚀");
        for bad in ["", "  ", "two\nlines", "\u{202e}backwards", &"x".repeat(301)] {
            assert!(Reason::parse(bad).unwrap_err().ends_with('.'), "{bad:?}");
        }
        assert!(Reason::parse(&"ü".repeat(300)).is_ok());
    }
}
