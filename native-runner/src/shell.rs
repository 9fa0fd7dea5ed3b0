//! Commands that can be pasted into a shell.

/// The word as a shell takes it, in quotes where it needs them.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:@".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_a_shell_would_split_or_expand() {
        assert_eq!(quoted("runs/a-1.json"), "runs/a-1.json");
        for word in ["my results/a & b.json", "it's", "$HOME", "~/x", "*", ""] {
            assert_eq!(shlex::split(&quoted(word)), Some(vec![word.to_owned()]), "{word}");
        }
        assert_eq!(quoted("~/x"), "'~/x'");
    }
}
