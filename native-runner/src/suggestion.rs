//! The name that was probably meant where an unknown one was typed.

/// Similarity, 0 to 1, from which a name is worth suggesting.
const SIMILAR: f64 = 0.85;

/// The only name of which `typed` is a part between hyphens, or the most similar one.
pub(crate) fn closest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let mut having_it = known.iter().filter(|name| name.split('-').any(|part| part == typed));
    if let (Some(name), None) = (having_it.next(), having_it.next()) {
        return Some(*name);
    }
    let similar = known.iter().map(|name| (strsim::jaro(typed, name), *name)).filter(|(how, _)| *how >= SIMILAR);
    similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// The end of an error: a question, or nothing where no name is close.
pub(crate) fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(typed, known).map_or_else(String::new, |name| format!(". Did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_part_of_one_name_or_similar_name() {
        let known = ["keras-mnist-mlp", "keras-mnist-cnn", "burn-cuda", "wgsl"];
        assert_eq!(closest("cuda", known), Some("burn-cuda"));
        assert_eq!(closest("keras-mnist-mpl", known), Some("keras-mnist-mlp"));
        assert_eq!(closest("wgls", known), Some("wgsl"));
        assert_eq!((closest("keras", known), closest("abacus", known)), (None, None));
    }
}
