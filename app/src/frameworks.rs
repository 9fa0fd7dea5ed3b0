//! What the server has of TensorFlow.js and jax-js, each in bundles of its own, one for each of their back ends.
//!
//! The file frameworks.json in the folder of the page says `missing`, with a note, or `ready`, with the folder and sizes of
//! each. They are bundled when the page is built, from packages of npm (`app/hooks/src/frameworks.rs`), and a bundle is
//! fetched when one of its networks is trained.

use serde::Deserialize;

use crate::backend::PageBackend;
use crate::bundle::Bundle;
use crate::t;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum FrameworksState {
    /// The server has not answered yet.
    #[default]
    #[serde(skip)]
    Asking,
    /// With the reason, a part of a sentence.
    Missing {
        note: String,
    },
    Ready {
        bundles: Vec<FrameworkBundle>,
    },
}

/// A framework with one of its back ends.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FrameworkBundle {
    /// Of the back end.
    name: String,
    #[serde(flatten)]
    bundle: Bundle,
}

impl FrameworksState {
    /// The file's address.
    pub const FILE: &str = "/frameworks.json";

    /// Reads the file. One that cannot be read is as good as bundles that are missing.
    pub fn parse(text: &str) -> Self {
        let unreadable = |why: &str| Self::missing(t!(backend_unreadable, file = "frameworks.json", why = why));
        match serde_json::from_str(text) {
            Ok(Self::Ready { bundles }) if !bundles.iter().all(|of| of.bundle.has_plain_folder()) => {
                unreadable(t!(backend_no_plain_folder))
            }
            Ok(state) => state,
            Err(error) => unreadable(&error.to_string()),
        }
    }

    pub fn missing(note: impl Into<String>) -> Self {
        Self::Missing { note: note.into() }
    }

    pub fn bundle(&self, backend: PageBackend) -> Option<&Bundle> {
        let Self::Ready { bundles } = self else { return None };
        bundles.iter().find(|of| of.name == backend.name()).map(|of| &of.bundle)
    }

    /// Why nothing can be trained with this back end, to follow a subject: `is not on this server: …`.
    pub fn obstacle(&self, backend: PageBackend) -> Option<String> {
        match self {
            Self::Asking => Some(t!(backend_asking).to_owned()),
            Self::Missing { note } => Some(t!(backend_missing, note = note.trim().trim_end_matches('.'))),
            Self::Ready { .. } if self.bundle(backend).is_some() => None,
            Self::Ready { .. } => Some(t!(backend_missing, note = t!(backend_built_without))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = r#"{"state":"ready","bundles":[
        {"name":"tfjs-webgpu","folder":"framework-tfjs-webgpu-01","compressed_bytes":120000,"bytes":460000}]}"#;

    #[test]
    fn a_bundle_is_found_by_the_name_of_its_back_end() {
        let state = FrameworksState::parse(READY);
        let bundle = state.bundle(PageBackend::TfjsWebgpu).unwrap();
        assert_eq!(bundle.loader(), "/framework-tfjs-webgpu-01/loader.js");
        assert_eq!((bundle.compressed_bytes, bundle.bytes), (120_000, 460_000));
        assert_eq!(state.obstacle(PageBackend::TfjsWebgpu), None);
        assert!(state.obstacle(PageBackend::JaxJsWasm).unwrap().contains("built without it"));
    }

    #[test]
    fn what_is_missing_is_told_with_the_reason() {
        let missing =
            FrameworksState::parse(r#"{"state":"missing","note":"npm is not on the machine that built it."}"#);
        let why = missing.obstacle(PageBackend::JaxJsWebgpu).unwrap();
        assert_eq!(why, "is not on this server: npm is not on the machine that built it");
        for wrong in ["", "<!doctype html>", r#"{"state":"ready"}"#, &READY.replace("framework-tfjs", "//elsewhere")] {
            let state = FrameworksState::parse(wrong);
            let why = state.obstacle(PageBackend::TfjsWebgpu).unwrap();
            assert!(why.contains("frameworks.json cannot be read"), "{wrong}: {why}");
        }
    }
}
