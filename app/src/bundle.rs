//! The two bundles of the training worker: the plain one, which every page has, and the one with Burn in it, which may
//! still be on its way when the page is opened.
//!
//! The file burn.json in the folder of the page says `building`, `missing` (each with a note) or `ready`, with folder and
//! sizes. The page asks for it when it is opened and, while Burn is being built, every few seconds, though never while
//! something runs; so the choice appears without a reload. It fetches the bundle when Burn is chosen; the worker's loader
//! tells what has come, how large it was and how long it took. Nothing can wait for a shader compiler in a browser, so that
//! Burn goes on without kernels that the browser refuses: they are logged to the console, and the comparison with the
//! reference ends the run.

use serde::Deserialize;
use training_worker::Loaded;

use crate::t;
use crate::text;

/// Name of the page's `<meta>` whose content is the address of the plain worker's loader.
pub const WORKER_META: &str = "gradmark-worker";

/// The address of the plain worker's loader, from the content of [`WORKER_META`].
///
/// # Errors
/// A part of a sentence: the page was not put together completely.
pub fn worker_loader(content: Option<&str>) -> Result<String, String> {
    let address = content.map(str::trim).filter(|address| address.starts_with('/') && !address.starts_with("//"));
    address.map(str::to_owned).ok_or_else(|| t!(backend_no_worker, name = WORKER_META))
}

/// Whether the server has the worker with Burn, as its file `/burn.json` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BurnState {
    /// The server has not answered yet.
    #[default]
    #[serde(skip)]
    Asking,
    /// The note is a part of a sentence, and changes while it is built.
    Building {
        note: String,
    },
    /// With the reason, a part of a sentence.
    Missing {
        note: String,
    },
    Ready(Bundle),
}

impl BurnState {
    /// The file's address.
    pub const FILE: &str = "/burn.json";

    /// Reads the file. One that cannot be read is as good as a bundle that is missing.
    pub fn parse(text: &str) -> Self {
        let unreadable = |why: &str| Self::missing(t!(backend_unreadable, file = "burn.json", why = why));
        match serde_json::from_str(text) {
            Ok(Self::Ready(bundle)) if !bundle.has_plain_folder() => unreadable(t!(backend_no_plain_folder)),
            Ok(state) => state,
            Err(error) => unreadable(&error.to_string()),
        }
    }

    pub fn missing(note: impl Into<String>) -> Self {
        Self::Missing { note: note.into() }
    }

    /// The bundle, once it is there.
    pub fn bundle(&self) -> Option<&Bundle> {
        match self {
            Self::Ready(bundle) => Some(bundle),
            Self::Asking | Self::Building { .. } | Self::Missing { .. } => None,
        }
    }

    /// Why nothing can be trained with it, to follow a subject: `is being built: …`.
    pub fn obstacle(&self) -> Option<String> {
        match self {
            Self::Asking => Some(t!(backend_asking).to_owned()),
            Self::Building { note } => Some(t!(backend_building, note = without_stop(note))),
            Self::Missing { note } => Some(t!(backend_missing, note = without_stop(note))),
            Self::Ready(_) => None,
        }
    }
}

/// A note becomes a part of a sentence, whether its writer thought of that or not.
fn without_stop(note: &str) -> &str {
    note.trim().trim_end_matches('.')
}

/// The worker with Burn in it, or that of a framework, which is fetched when it is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Bundle {
    /// Its address; the name has a digest of the content.
    folder: String,
    /// Of all its files, as a browser fetches them.
    pub compressed_bytes: u64,
    /// Of its module, unpacked.
    pub bytes: u64,
}

impl Bundle {
    /// Address of the script that starts the worker.
    pub fn loader(&self) -> String {
        format!("/{}/loader.js", self.folder)
    }

    /// Whether the folder is one of the page's own, and not an address that leads elsewhere.
    pub(crate) fn has_plain_folder(&self) -> bool {
        !self.folder.is_empty() && self.folder.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    }
}

/// Another bundle than the page's own on its way into a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// What is in it, for people.
    pub of: &'static str,
    pub state: ArrivalState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalState {
    /// Bytes of the module so far, where that is told, and of all of it.
    Coming {
        bytes: u64,
        total: u64,
    },
    Started(Loaded),
}

impl Arrival {
    /// None of a bundle of so many bytes is here.
    pub fn begin(of: &'static str, total: u64) -> Self {
        Self { of, state: ArrivalState::Coming { bytes: 0, total } }
    }

    pub fn is_coming(self) -> bool {
        matches!(self.state, ArrivalState::Coming { .. })
    }

    /// Share of the module that is there.
    pub fn fraction(self) -> f64 {
        match self.state {
            ArrivalState::Coming { bytes, total } => (bytes as f64 / total.max(1) as f64).min(1.0),
            ArrivalState::Started(_) => 1.0,
        }
    }

    /// What has come and how long it took.
    pub fn sentence(self) -> String {
        let of = self.of;
        match self.state {
            ArrivalState::Coming { bytes: 0, .. } => t!(backend_fetching, what = of),
            ArrivalState::Coming { bytes, total } if bytes >= total => t!(backend_compiling, what = of),
            ArrivalState::Coming { .. } => {
                t!(backend_arriving, what = of, percent = text::whole_percent(self.fraction()))
            }
            ArrivalState::Started(Loaded { compressed_bytes, bytes, cached, seconds }) => {
                let unpacked = text::megabytes(bytes);
                let size = match compressed_bytes {
                    Some(compressed) => {
                        t!(backend_size, compressed = text::megabytes(compressed), unpacked = unpacked)
                    }
                    None => t!(backend_size_unpacked, unpacked = unpacked),
                };
                let seconds = text::number(seconds, 1);
                if cached == Some(true) {
                    t!(backend_from_cache, what = of, size = size, seconds = seconds)
                } else {
                    t!(backend_from_server, what = of, size = size, seconds = seconds)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str =
        r#"{"state":"ready","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}"#;

    #[test]
    fn a_bundle_that_is_ready_is_known_by_folder_and_sizes() {
        let state = BurnState::parse(READY);
        let bundle = state.bundle().unwrap();
        assert_eq!(bundle.loader(), "/burn-0123456789abcdef/loader.js");
        assert_eq!((bundle.compressed_bytes, bundle.bytes), (3_440_000, 12_000_000));
        assert_eq!(state.obstacle(), None);
    }

    #[test]
    fn one_that_is_not_ready_says_why() {
        let obstacle = |text: &str| {
            let state = BurnState::parse(text);
            assert_eq!(state.bundle(), None);
            state.obstacle().unwrap()
        };
        assert_eq!(
            obstacle(r#"{"state":"building","note":"compiling Burn for the page"}"#),
            "is being built: compiling Burn for the page"
        );
        assert_eq!(
            obstacle(r#"{"state":"missing","note":"the page was built without Burn (--no-burn-page)."}"#),
            "is not on this server: the page was built without Burn (--no-burn-page)"
        );
        assert_eq!(BurnState::default().obstacle().unwrap(), "is being looked for on this server");
    }

    #[test]
    fn what_cannot_be_read_counts_as_missing() {
        for wrong in [
            "",
            "<!doctype html>",
            r#"{"state":"asking"}"#,
            r#"{"state":"building"}"#,
            r#"{"state":"ready","folder":"burn-1","bytes":3}"#,
            r#"{"state":"ready","folder":"burn-1","compressed_bytes":"many","bytes":3}"#,
            r#"{"state":"ready","folder":"/elsewhere.example","compressed_bytes":2,"bytes":3}"#,
            r#"{"state":"ready","folder":"","compressed_bytes":2,"bytes":3}"#,
        ] {
            let state = BurnState::parse(wrong);
            assert!(matches!(state, BurnState::Missing { .. }), "{wrong}: {state:?}");
            assert!(state.obstacle().unwrap().contains("burn.json cannot be read"), "{wrong}: {state:?}");
        }
    }

    #[test]
    fn the_plain_workers_place_is_read_and_its_absence_is_an_error_with_advice() {
        let address = "/worker-0123456789abcdef/loader.js";
        assert_eq!(worker_loader(Some(address)).as_deref(), Ok(address));
        for wrong in [None, Some(""), Some("worker/loader.js"), Some("//elsewhere.example/loader.js")] {
            let reason = worker_loader(wrong).unwrap_err();
            assert!(reason.contains("gradmark-worker") && reason.contains("cargo xtask run"), "{wrong:?}: {reason}");
        }
    }

    #[test]
    fn what_was_fetched_and_how_long_it_took_is_said() {
        let arrival = |of, state| Arrival { of, state };
        let half = arrival("Burn", ArrivalState::Coming { bytes: 6_000_000, total: 12_000_000 });
        assert_eq!(half.sentence(), "Burn: 50 % is here.");
        assert_eq!(Arrival::begin("jax-js", 340_000).sentence(), "jax-js is being fetched.");
        let loaded =
            Loaded { compressed_bytes: Some(3_440_000), bytes: 12_000_000, cached: Some(false), seconds: 2.345 };
        let started = |loaded| arrival("Burn", ArrivalState::Started(loaded)).sentence();
        assert_eq!(started(loaded), "Burn: 3.4 MB (12.0 MB unpacked) fetched and started in 2.3 s.");
        let untold = Loaded { compressed_bytes: None, cached: None, ..loaded };
        assert_eq!(started(untold), "Burn: 12.0 MB unpacked fetched and started in 2.3 s.");
        let again = Loaded { cached: Some(true), ..loaded };
        assert!(started(again).contains("from the browser's cache"));
    }
}
