use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Language, language, speak};

/// What was said once and is shown later, perhaps in another language: it is kept in all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Said([String; Language::ALL.len()]);

impl Said {
    /// What `say` says in each language.
    pub fn new(say: impl Fn() -> String) -> Self {
        let before = language();
        let said = Language::ALL.map(|each| {
            speak(each);
            say()
        });
        speak(before);
        Self(said)
    }

    /// In the language of the page.
    pub fn text(&self) -> &str {
        &self.0[language() as usize]
    }
}

/// Reads texts by the codes of their languages.
impl From<BTreeMap<String, String>> for Said {
    fn from(texts: BTreeMap<String, String>) -> Self {
        let in_english = texts.get(Language::English.code()).cloned().unwrap_or_default();
        Self(Language::ALL.map(|each| texts.get(each.code()).unwrap_or(&in_english).clone()))
    }
}

impl From<Said> for BTreeMap<String, String> {
    fn from(said: Said) -> Self {
        Language::ALL.iter().map(|each| each.code().to_owned()).zip(said.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t;

    #[test]
    fn what_is_kept_is_shown_in_the_language_that_was_chosen_since() {
        let said = Said::new(|| t!(common_results, number = 1204_u64));
        assert_eq!(said.text(), "1,204 results");
        let kept: Said = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
        speak(Language::German);
        assert_eq!((kept.text(), &kept), ("1.204 Ergebnisse", &said));
    }

    #[test]
    fn a_language_that_is_lacking_is_english() {
        let kept: Said = serde_json::from_str(r#"{"en":"fast","fr":"vite"}"#).unwrap();
        speak(Language::German);
        assert_eq!(kept.text(), "fast");
    }
}
