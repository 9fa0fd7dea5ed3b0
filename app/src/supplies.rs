//! Availability of what runs need from the server: training worker, worker with Burn, other frameworks, and data sets.
//!
//! The plain worker is part of every page. burn.json has the state of the worker with Burn, which the page reads again
//! while it is being built, except during a run; frameworks.json has the same for TensorFlow.js and jax-js (`app/hooks`).
//! A bundle is downloaded when it is needed. A browser cannot block on shader compilation, so Burn continues without
//! kernels that the browser rejects: they are logged to the console, and the comparison with the reference fails.

use engine::SuiteDefinition;
use results::api::{DataSetList, ServedDataSet};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use training_worker::Loaded;

use crate::backend::{Maker, PageBackend};
use crate::{json, t, text};

/// Returns the folder with `file`, whose URL is the content of a `<meta>` of the page.
///
/// # Errors
/// The page was not built completely. The error is part of a sentence.
pub fn folder_of(meta: &str, content: Option<&str>, file: &str) -> Result<String, String> {
    let folder = content.and_then(|address| address.trim().strip_suffix(file));
    let folder = folder.filter(|folder| folder.starts_with('/') && !folder.starts_with("//"));
    folder.map(str::to_owned).ok_or_else(|| match meta {
        "gradmark-documents" => t!(documents_no_folder, name = meta),
        _ => t!(backend_no_worker, name = meta),
    })
}

/// Availability of one or more bundles on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum BundleState {
    /// The server has not answered yet.
    #[default]
    #[serde(skip)]
    Asking,
    /// The note is part of a sentence, and changes during the build.
    Building {
        note: String,
    },
    /// The note is the reason, as part of a sentence.
    Missing {
        note: String,
    },
    Ready {
        bundles: Vec<Bundle>,
    },
}

impl BundleState {
    /// Parses a file. An invalid one counts as missing.
    pub fn parse(file: &str, text: &str) -> Self {
        json::parse(text)
            .unwrap_or_else(|error| Self::Missing { note: t!(backend_unreadable, file, why = error.to_string()) })
    }

    /// Returns the reason it cannot train, to follow a subject: `is being built: …`.
    pub fn obstacle(&self) -> Option<String> {
        // The note becomes part of a sentence, so drop its final period.
        let part = |note: &str| note.trim().trim_end_matches('.').to_owned();
        match self {
            Self::Asking => Some(t!(backend_asking).to_owned()),
            Self::Building { note } => Some(t!(backend_building, note = part(note))),
            Self::Missing { note } => Some(t!(backend_missing, note = part(note))),
            Self::Ready { .. } => None,
        }
    }
}

/// Bundle of the worker with Burn, or of a framework's worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Bundle {
    /// `burn`, or the name of a framework's backend.
    name: String,
    /// Folder below the page's own; its name has a digest of the content.
    #[serde(deserialize_with = "plain_folder")]
    folder: String,
    /// Size of all files as downloaded by a browser.
    pub compressed_bytes: u64,
    /// Uncompressed size of the module.
    pub bytes: u64,
}

/// Rejects a folder name that could lead elsewhere.
fn plain_folder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let folder = String::deserialize(deserializer)?;
    let is_plain = !folder.is_empty() && folder.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_plain { Ok(folder) } else { Err(D::Error::custom("the name of its folder is invalid")) }
}

impl Bundle {
    pub fn loader(&self) -> String {
        format!("/{}/loader.js", self.folder)
    }
}

/// Progress of downloading and starting a bundle for a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    pub of: &'static str,
    /// Bytes of the module received so far, as reported by the loader.
    pub bytes: u64,
    total: u64,
    /// Size and time, once it has started.
    pub loaded: Option<Loaded>,
}

impl Arrival {
    pub fn begin(of: &'static str, total: u64) -> Self {
        Self { of, bytes: 0, total, loaded: None }
    }

    pub fn sentence(self) -> String {
        let Self { of, bytes, total, loaded } = self;
        match loaded {
            None if bytes == 0 => t!(running_loading, what = of),
            None => {
                let share = (bytes as f64 / total.max(1) as f64).min(1.0);
                format!("{}: {}", t!(running_loading, what = of), text::whole_percent(share))
            }
            Some(Loaded { compressed_bytes, bytes, cached, seconds }) => {
                let size = text::megabytes(compressed_bytes.unwrap_or(bytes));
                let seconds = text::number(seconds, 1);
                if cached == Some(true) {
                    t!(backend_from_cache, what = of, size, seconds)
                } else {
                    t!(backend_from_server, what = of, size, seconds)
                }
            }
        }
    }
}

/// Known supplies. Any may be missing, and Burn and data may become available while the page is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supplies {
    pub burn: BundleState,
    pub frameworks: BundleState,
    /// Data sets that the server reports as missing. Empty until it responds. A run reports others when fetching fails.
    pub missing_data: Vec<ServedDataSet>,
}

impl Supplies {
    /// Returns the state of a backend's bundle and its name there. Every page has our kernels.
    fn state(&self, backend: PageBackend) -> Option<(&BundleState, &'static str)> {
        match backend.maker() {
            Maker::Ours => None,
            Maker::Burn => Some((&self.burn, "burn")),
            Maker::Framework(_) => Some((&self.frameworks, backend.name())),
        }
    }

    /// Returns the reason this backend cannot train, to follow a subject: `is not on this server: …`.
    pub fn obstacle(&self, backend: PageBackend) -> Option<String> {
        let (state, _) = self.state(backend)?;
        let note = t!(backend_built_without);
        let without = || self.bundle(backend).is_none().then(|| t!(backend_missing, note));
        state.obstacle().or_else(without)
    }

    /// True while the server has not responded yet, or is building this backend.
    pub fn is_coming(&self, backend: PageBackend) -> bool {
        let state = self.state(backend).map(|(state, _)| state);
        matches!(state, Some(BundleState::Asking | BundleState::Building { .. }))
    }

    pub fn bundle(&self, backend: PageBackend) -> Option<&Bundle> {
        let (BundleState::Ready { bundles }, name) = self.state(backend)? else { return None };
        bundles.iter().find(|bundle| bundle.name == name)
    }

    pub fn with_data_sets(self, list: DataSetList) -> Self {
        Self { missing_data: list.data_sets.into_iter().filter(|set| set.missing.is_some()).collect(), ..self }
    }

    pub fn missing_for(&self, network: &str) -> Option<&ServedDataSet> {
        let needed = engine::workload(network)?.data_set;
        self.missing_data.iter().find(|data| data.name == needed)
    }

    /// Returns the reason a suite cannot be run, if data is missing. Its other networks can be selected individually.
    pub fn lacking_for_suite(&self, suite: &SuiteDefinition) -> Option<String> {
        let lacking: Vec<&ServedDataSet> = suite.workloads.iter().filter_map(|name| self.missing_for(name)).collect();
        let missing = self.missing_data.iter().filter(|data| lacking.contains(data));
        let data = missing.map(|of| text::data_set_title(&of.name)).reduce(|all, title| format!("{all}, {title}"))?;
        Some(t!(supplies_lacking, few = text::count(lacking.len()), all = text::count(suite.workloads.len()), data))
    }
}

/// Describes a missing data set: the reason, and what cannot be trained without it.
pub fn describe_missing(data: &ServedDataSet) -> String {
    let needed = engine::WORKLOADS.iter().filter(|make| make().data_set == data.name).count();
    let (reason, all) = (data.missing.as_deref().unwrap_or_default(), text::count(engine::WORKLOADS.len()));
    t!(supplies_missing, data = text::data_set_title(&data.name), reason, needed = text::count(needed), all)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const BURN: &str = r#"{"state":"ready","bundles":[
        {"name":"burn","folder":"burn-0123456789abcdef","compressed_bytes":3440000,"bytes":12000000}]}"#;
    const FRAMEWORKS: &str = r#"{"state":"ready","bundles":[
        {"name":"tfjs-webgpu","folder":"framework-tfjs-webgpu-01","compressed_bytes":120000,"bytes":460000}]}"#;

    pub(crate) fn with_burn(text: &str) -> Supplies {
        Supplies { burn: BundleState::parse("burn.json", text), ..Supplies::default() }
    }

    fn with_frameworks(text: &str) -> Supplies {
        Supplies { frameworks: BundleState::parse("frameworks.json", text), ..Supplies::default() }
    }

    pub(crate) fn without(name: &str) -> Supplies {
        let served = ["mnist", "cifar10"].map(|set| ServedDataSet {
            name: set.to_owned(),
            missing: (set == name).then(|| format!("{set}-train.bin is missing in its data folder")),
        });
        Supplies::default().with_data_sets(DataSetList { data_sets: served.to_vec() })
    }

    #[test]
    fn ready_bundles_have_loader_and_sizes() {
        let supplies = with_burn(BURN);
        let burn = supplies.bundle(PageBackend::BurnFlex).unwrap();
        assert_eq!(burn.loader(), "/burn-0123456789abcdef/loader.js");
        assert_eq!((burn.compressed_bytes, burn.bytes), (3_440_000, 12_000_000));
        let supplies = with_frameworks(FRAMEWORKS);
        let framework = supplies.bundle(PageBackend::TfjsWebgpu).unwrap();
        assert_eq!(framework.loader(), "/framework-tfjs-webgpu-01/loader.js");
        assert_eq!(supplies.obstacle(PageBackend::TfjsWebgpu), None);
        assert!(supplies.obstacle(PageBackend::JaxJsWasm).unwrap().contains("built without it"));
    }

    #[test]
    fn unreadable_files_count_as_missing() {
        for wrong in [
            "",
            "<!doctype html>",
            r#"{"state":"asking"}"#,
            r#"{"state":"building"}"#,
            &BURN.replace(r#""compressed_bytes":3440000,"#, ""),
            &BURN.replace("3440000", r#""many""#),
            &BURN.replace("burn-", "/elsewhere.example/"),
            &BURN.replace("burn-0123456789abcdef", ""),
            &FRAMEWORKS.replace("framework-tfjs", "//elsewhere"),
        ] {
            let (burn, frameworks) = (with_burn(wrong), with_frameworks(wrong));
            let why = burn.obstacle(PageBackend::BurnFlex).unwrap();
            assert!(why.contains("burn.json cannot be read"), "{wrong}: {why}");
            let why = frameworks.obstacle(PageBackend::TfjsWebgpu).unwrap();
            assert!(why.contains("frameworks.json cannot be read"), "{wrong}: {why}");
        }
    }

    #[test]
    fn missing_folder_is_an_error_with_advice() {
        let folder = |content| folder_of("gradmark-worker", content, "loader.js");
        assert_eq!(folder(Some("/worker-0123/loader.js")).as_deref(), Ok("/worker-0123/"));
        for wrong in
            [None, Some(""), Some("worker/loader.js"), Some("//elsewhere.example/loader.js"), Some("/other.js")]
        {
            let reason = folder(wrong).unwrap_err();
            assert!(reason.contains("gradmark-worker") && reason.contains("cargo xtask run"), "{wrong:?}: {reason}");
        }
        let reason = folder_of("gradmark-documents", None, "contents.json").unwrap_err();
        assert!(reason.contains("where its documents are (<meta name=\"gradmark-documents\">)"), "{reason}");
    }

    #[test]
    fn arrival_reports_size_and_time() {
        let begun = Arrival::begin("Burn", 12_000_000);
        assert_eq!(Arrival { bytes: 6_000_000, ..begun }.sentence(), "Loading Burn: 50 %");
        assert_eq!(Arrival::begin("jax-js", 340_000).sentence(), "Loading jax-js");
        let loaded =
            Loaded { compressed_bytes: Some(3_440_000), bytes: 12_000_000, cached: Some(false), seconds: 2.345 };
        let started = |loaded| Arrival { loaded: Some(loaded), ..begun }.sentence();
        assert_eq!(started(loaded), "Burn: 3.4 MB fetched and started in 2.3 s.");
        let unknown = Loaded { compressed_bytes: None, cached: None, ..loaded };
        assert_eq!(started(unknown), "Burn: 12.0 MB fetched and started in 2.3 s.");
        assert!(started(Loaded { cached: Some(true), ..loaded }).contains("from the browser's cache"));
    }

    #[test]
    fn only_pending_backends_may_become_available() {
        let asking = Supplies::default();
        assert!(!asking.is_coming(PageBackend::Wgsl), "every page has it");
        assert!(asking.is_coming(PageBackend::BurnFlex) && asking.is_coming(PageBackend::JaxJsWasm));
        assert!(with_burn(r#"{"state":"building","note":"compiling"}"#).is_coming(PageBackend::BurnWgpu));
        assert!(!with_burn("").is_coming(PageBackend::BurnWgpu));
        assert!(!with_frameworks("").is_coming(PageBackend::JaxJsWasm));
    }

    #[test]
    fn networks_and_suites_lack_their_missing_data() {
        let supplies = without("cifar10");
        assert_eq!(supplies.missing_for("keras-cifar10-cnn").unwrap().name, "cifar10");
        for there in ["keras-mnist-mlp", "keras-babi-rnn"] {
            assert_eq!(supplies.missing_for(there), None, "{there}");
        }
        assert_eq!(
            describe_missing(&supplies.missing_data[0]),
            "CIFAR-10 is not on this server: cifar10-train.bin is missing in its data folder. 8 of the 22 networks need \
             it and cannot be trained here until then."
        );
        let complete = DataSetList { data_sets: vec![ServedDataSet { name: "cifar10".into(), missing: None }] };
        assert!(supplies.with_data_sets(complete).missing_data.is_empty(), "it came while the page was open");
        let [quick, complete] = ["quick", "complete"].map(|name| engine::suite(name).unwrap());
        assert_eq!(without("cifar10").lacking_for_suite(quick), None);
        let sentence = "8 of its 16 networks need data that is not on this server (CIFAR-10).";
        assert_eq!(without("cifar10").lacking_for_suite(complete).unwrap(), sentence);
        assert!(without("mnist").lacking_for_suite(quick).unwrap().starts_with("2 of its 2 networks need data"));
    }
}
