//! Words of a command line: quoting, and suggestions for mistyped names.

/// Quotes a word for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:@".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Similarity, 0 to 1, from which a name is suggested.
const MIN_SIMILARITY: f64 = 0.85;

/// Returns the only name that contains `typed` between hyphens, or the most similar one.
pub(crate) fn closest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let mut having_it = known.iter().filter(|name| name.split('-').any(|part| part == typed));
    if let (Some(name), None) = (having_it.next(), having_it.next()) {
        return Some(*name);
    }
    let similar = known.iter().map(|name| (strsim::jaro(typed, name), *name)).filter(|(how, _)| *how >= MIN_SIMILARITY);
    similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// Returns the end of an error message; empty if no name is close.
pub(crate) fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(typed, known).map_or_else(String::new, |name| format!(". Did you mean `{name}`?"))
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

    #[test]
    fn suggests_part_of_one_name_or_similar_name() {
        let known = ["keras-mnist-mlp", "keras-mnist-cnn", "burn-cuda", "wgsl"];
        assert_eq!(closest("cuda", known), Some("burn-cuda"));
        assert_eq!(closest("keras-mnist-mpl", known), Some("keras-mnist-mlp"));
        assert_eq!(closest("wgls", known), Some("wgsl"));
        assert_eq!((closest("keras", known), closest("abacus", known)), (None, None));
    }
}
