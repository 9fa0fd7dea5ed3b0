//! Documents of the repository that are pages of the site: `/docs/NAME`. The hook that renders them reads the same list
//! (`app/hooks/src/documents.rs`).

use std::sync::LazyLock;

use serde::Deserialize;

use crate::json;
use crate::words::Said;

/// Name of the page's `<meta>` with the URL of the list of fragments, which are in the same folder.
pub const META: &str = "gradmark-documents";

/// Documents linked at the end of every page.
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

    /// Returns the URL of its HTML, from the content of [`META`].
    ///
    /// # Errors
    /// The page was not built completely. The error is part of a sentence.
    pub fn fragment(&self, content: Option<&str>) -> Result<String, String> {
        let folder = content.and_then(|list| list.trim().strip_suffix("contents.json"));
        let folder = folder.filter(|folder| folder.starts_with('/') && !folder.starts_with("//"));
        folder.map(|folder| format!("{folder}{}.html", self.name)).ok_or_else(|| {
            format!(
                "the page does not say where its documents are (<meta name=\"{META}\">), so it was not put together \
                 completely; `cargo xtask run` builds it again"
            )
        })
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
            for said in [&one.title, &one.about] {
                let texts = serde_json::to_value(said).unwrap();
                let is_said =
                    |language: PageLanguage| texts[language.name()].as_str().is_some_and(|text| !text.is_empty());
                assert!(PageLanguage::ALL.into_iter().all(is_said), "{texts}");
            }
            assert!(one.about.text().ends_with('.'), "{one:?}");
        }
    }

    #[test]
    fn document_is_in_the_folder_of_the_list() {
        let privacy = document("privacy").unwrap();
        let place = |content| privacy.fragment(content);
        assert_eq!(place(Some("/documents-0123/contents.json")).unwrap(), "/documents-0123/privacy.html");
        for wrong in [None, Some(""), Some("//elsewhere.example/contents.json"), Some("/documents/other.json")] {
            assert!(place(wrong).unwrap_err().contains("gradmark-documents"), "{wrong:?}");
        }
    }
}
