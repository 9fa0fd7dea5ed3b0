//! Registered files, the packages of their originals, and the checksums that identify the published originals.

use serde::Deserialize;

/// Variables that select another npm registry.
const REGISTRY_VARIABLES: [&str; 2] = ["NPM_CONFIG_REGISTRY", "npm_config_registry"];
const REGISTRY: &str = "https://registry.npmjs.org";

/// Version of an npm package: a gzipped tar archive. Its scripts are never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
}

impl Package {
    /// Returns the name of the archive from `npm pack`, such as `scope-name-1.0.0.tgz` for `@scope/name`.
    pub fn archive_name(&self) -> String {
        format!("{}-{}.tgz", self.name.trim_start_matches('@').replace('/', "-"), self.version)
    }

    /// Returns the URL of the archive in npm's registry, or in the registry from `NPM_CONFIG_REGISTRY`.
    pub fn address(&self) -> String {
        let named =
            REGISTRY_VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let registry = named.as_deref().unwrap_or(REGISTRY).trim_end_matches('/');
        let Self { name, version } = self;
        let without_scope = name.rsplit('/').next().unwrap_or(name);
        format!("{registry}/{name}/-/{without_scope}-{version}.tgz")
    }
}

impl std::fmt::Display for Package {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}@{}", self.name, self.version)
    }
}

/// Registered file: a split of a data set in the compact format of `convert`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegisteredFile {
    pub set: String,
    pub split: String,
    pub file: String,
    pub samples: u32,
    pub height: u32,
    pub width: u32,
    pub channels: u32,
    pub classes: u32,
    /// Character of each class, for a text.
    #[serde(default)]
    pub alphabet: Option<String>,
    pub bytes: u64,
    pub sha256: String,
}

/// Returns the files that must exist, from `reference/data-sets.json`, which the engine reads too.
pub(crate) fn registered() -> Vec<RegisteredFile> {
    let registry = include_str!("../../reference/data-sets.json");
    serde_json::from_str(registry).expect("the file is checked in, and a test reads it")
}

/// A data set inside an npm package.
#[derive(Deserialize)]
pub(crate) struct PublishedSet {
    pub set: &'static str,
    pub package: Package,
    pub splits: Vec<PublishedSplit>,
}

#[derive(Deserialize)]
pub(crate) struct PublishedSplit {
    pub name: &'static str,
    pub originals: Originals,
}

/// Path in the archive, and the checksum of the published original.
#[derive(Deserialize)]
pub(crate) struct Original {
    pub path: &'static str,
    #[serde(flatten)]
    pub checksum: Checksum,
}

/// Checksum in lowercase hexadecimal, of the kind that the publisher gives. SHA-256 where none is published.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Checksum {
    Md5(&'static str),
    Sha256(&'static str),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Originals {
    /// IDX files as published; <http://yann.lecun.com/exdb/mnist/> describes the format.
    Idx { images: Original, labels: Original },
    /// PNG sheets with one image per row, its pixels in row-major order, and one JSON list of all labels, which the
    /// package calls `lables`. The MD5 sums are of the published binary batches, which are rebuilt from sheets and
    /// labels.
    Sheets { sheets: Vec<Original>, labels: &'static str },
    /// Text in UTF-8. The split is a part of it.
    Text { text: Original, part: TextPart },
}

/// Part of a text, counted in characters. If ten does not divide their number, the last tenth is rounded down.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextPart {
    AllButLastTenth,
    LastTenth,
}

impl PublishedSet {
    pub(crate) fn paths(&self) -> Vec<&'static str> {
        let paths = |split: &PublishedSplit| match &split.originals {
            Originals::Idx { images, labels } => vec![images.path, labels.path],
            Originals::Sheets { sheets, labels } => sheets.iter().map(|sheet| sheet.path).chain([*labels]).collect(),
            Originals::Text { text, .. } => vec![text.path],
        };
        self.splits.iter().flat_map(paths).collect()
    }
}

/// Returns the sources in `reference/data-set-sources.json`.
pub(crate) fn published() -> Vec<PublishedSet> {
    let sources = include_str!("../../reference/data-set-sources.json");
    serde_json::from_str(sources).expect("the file is checked in, and a test reads it")
}
