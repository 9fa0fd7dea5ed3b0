//! Documents of the repository that are pages of the site: `/docs/NAME` (`app/hooks/src/documents.rs` renders them).

use std::sync::LazyLock;

use serde::Deserialize;

use crate::json;
use crate::words::Said;

pub const AT_THE_END: [&str; 4] = ["methodology", "privacy", "open-data", "hosting"];

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DocumentPage {
    pub name: String,
    pub title: Said,
    pub about: Said,
}

pub static ALL: LazyLock<Vec<DocumentPage>> =
    LazyLock::new(|| json::parse(include_str!("../documents.json")).expect("a test reads the list of documents"));

pub fn document(name: &str) -> Option<&'static DocumentPage> {
    ALL.iter().find(|document| document.name == name)
}

impl DocumentPage {
    pub fn path(&self) -> String {
        format!("/docs/{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Route, route};
    use crate::words::PageLanguage;

    #[test]
    fn every_document_has_a_page() {
        assert!(AT_THE_END.into_iter().all(|name| document(name).is_some()));
        for one in ALL.iter() {
            assert_eq!(route(&one.path()), Route::Document(one.name.clone()));
            assert_eq!(document(&one.name), Some(one), "two documents are called {}", one.name);
            let [title, about] = [&one.title, &one.about].map(|said| serde_json::to_value(said).unwrap());
            for language in PageLanguage::ALL.map(PageLanguage::name) {
                assert!(title[language].as_str().is_some_and(|text| !text.is_empty()), "{title}");
                assert!(about[language].as_str().is_some_and(|text| text.ends_with('.')), "{about}");
            }
        }
    }
}
