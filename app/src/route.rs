//! URLs: the paths of the page's views, and requests to the API.

use results::api::ListRuns;
use results::open_data::ExportFormat;
use serde::Serialize;
use serde_json::Value;

use crate::json;

pub const COMPARE: &str = "/compare";

pub const LEADERBOARD: &str = "/leaderboard";

pub const DEVICES: &str = "/devices";

pub const SPEEDRUN: &str = "/tab-speedrun";

pub const SIDE_BY_SIDE: &str = "/side-by-side";

pub const FILE: &str = "/file";

pub const DOCUMENTS: &str = "/docs";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Start,
    /// Comparison of backends on this device.
    Compare,
    /// Two to four stored results or devices side by side; their ids are in the query.
    SideBySide,
    Leaderboard,
    Speedrun,
    Devices,
    File,
    /// Page of a run or shared comparison with this id, or of a device with this key, in which non-ASCII characters are
    /// percent-encoded as in requests.
    Stored(StoredKind, String),
    Moderation,
    Documents,
    Document(String),
    /// Deletion of a run or a comparison; the secret is in the fragment, which browsers do not send to the server.
    Delete(StoredKind, String),
    Unknown,
}

/// Kind of thing that the leaderboard stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKind {
    Run,
    Device,
    Comparison,
}

// First segments of the paths of their pages, and of API calls.
results::names!(StoredKind { Run = "runs", Device = "devices", Comparison = "comparisons" });

impl StoredKind {
    fn fits(self, id: &str) -> bool {
        if self == Self::Device { is_key(id) } else { is_id(id) }
    }
}

/// Returns the view for a path such as `/runs/3f9a/delete`.
pub fn route(path: &str) -> Route {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [] | ["index.html"] => Route::Start,
        ["compare"] => Route::Compare,
        ["leaderboard"] => Route::Leaderboard,
        ["tab-speedrun"] => Route::Speedrun,
        ["devices"] => Route::Devices,
        ["file"] => Route::File,
        ["side-by-side"] => Route::SideBySide,
        ["moderation"] => Route::Moderation,
        ["docs"] => Route::Documents,
        ["docs", name] if is_id(name) => Route::Document(name.to_owned()),
        [kind, id, ref rest @ ..] => match (StoredKind::named(kind).filter(|kind| kind.fits(id)), rest) {
            (Some(kind), []) => Route::Stored(kind, id.to_owned()),
            (Some(kind @ (StoredKind::Run | StoredKind::Comparison)), ["delete"]) => Route::Delete(kind, id.to_owned()),
            _ => Route::Unknown,
        },
        _ => Route::Unknown,
    }
}

/// Extracts the id of a result or the key of a device from a link to its page, or accepts the id or key itself.
pub fn id_in(text: &str, kind: StoredKind) -> Option<String> {
    let text = text.trim();
    let rest = text.split_once(&format!("/{}/", kind.name())).map_or(text, |(_, rest)| rest);
    let id = rest.split(['/', '?', '#']).next().filter(|id| !id.is_empty())?;
    kind.fits(id).then(|| id.to_owned())
}

/// Returns true for a run id. Ids become part of request URLs, so characters with a meaning there are rejected.
fn is_id(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Returns true for a device key: letters and digits of any script, and hyphens. Characters outside ASCII
/// are percent-encoded UTF-8. The first hex digit of each such byte is at least 8, so no encoded slash passes.
fn is_key(text: &str) -> bool {
    let mut parts = text.split('%');
    let plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let encoded = |part: &str| match part.as_bytes() {
        [high, low, ..] => {
            high.is_ascii_hexdigit() && !matches!(high, b'0'..=b'7') && low.is_ascii_hexdigit() && plain(&part[2..])
        }
        _ => false,
    };
    parts.next().is_some_and(plain) && parts.all(encoded)
}

/// Returns an API path with the fields that have a value as its query.
pub fn with_query(path: &str, query: &impl Serialize) -> String {
    let mut address = path.to_owned();
    let fields = json::parse::<Value>(&json::compact(query)).expect("every query is an object");
    for (name, value) in fields.as_object().into_iter().flatten() {
        let value = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) => encoded(text),
            other => other.to_string(),
        };
        let separator = if address.contains('?') { '&' } else { '?' };
        address.push_str(&format!("{separator}{name}={value}"));
    }
    address
}

pub fn export(format: ExportFormat, query: &ListRuns) -> String {
    let query = ListRuns { limit: None, cursor: None, offset: None, ..query.clone() };
    with_query(&format!("/api/v1/export?format={}", format.name()), &query)
}

/// Percent-encodes every byte except the unreserved characters of RFC 3986.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use results::api::ComparingQuery;

    use super::*;

    #[test]
    fn routes_paths_to_views() {
        let id = || "Ab3-_9".to_owned();
        let device = |key: &str| Route::Stored(StoredKind::Device, key.to_owned());
        for (path, view) in [
            ("/", Route::Start),
            ("/runs/Ab3-_9", Route::Stored(StoredKind::Run, id())),
            ("/runs/Ab3-_9/", Route::Stored(StoredKind::Run, id())),
            ("/runs/Ab3-_9/delete", Route::Delete(StoredKind::Run, id())),
            ("/devices/reported-example-gpu-9000", device("reported-example-gpu-9000")),
            ("/devices/claimed-%E7%8C%AB-1/", device("claimed-%E7%8C%AB-1")),
            ("/moderation", Route::Moderation),
            (COMPARE, Route::Compare),
            ("/compare/", Route::Compare),
            (LEADERBOARD, Route::Leaderboard),
            (SPEEDRUN, Route::Speedrun),
            (DEVICES, Route::Devices),
            ("/comparisons/Ab3-_9", Route::Stored(StoredKind::Comparison, id())),
            ("/comparisons/Ab3-_9/delete", Route::Delete(StoredKind::Comparison, id())),
            (DOCUMENTS, Route::Documents),
            ("/docs/open-data/", Route::Document("open-data".to_owned())),
        ] {
            assert_eq!(route(path), view, "{path}");
        }
        let unknown = "/runs /runs/a/b /runs/a%2Fb /runs/a/delete/now /about /moderation/log /docs/a/b /devices/a/b \
                       /devices/a%2Fb /devices/a% /devices/a%é /devices/..%2e";
        for path in unknown.split(' ') {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn finds_result_or_device_in_pasted_link() {
        let id = Some("Ab3-_9".to_owned());
        for text in ["Ab3-_9", " https://example.org/runs/Ab3-_9 ", "/runs/Ab3-_9/delete#x", "http://h/runs/Ab3-_9?a=b"]
        {
            assert_eq!(id_in(text, StoredKind::Run), id, "{text}");
        }
        for text in ["", "https://example.org/", "a b", "/runs/", "/runs/a%2Fb"] {
            assert_eq!(id_in(text, StoredKind::Run), None, "{text}");
        }
        let device = |text| id_in(text, StoredKind::Device);
        assert_eq!(device("http://h/devices/claimed-%E7%8C%AB-1/"), Some("claimed-%E7%8C%AB-1".to_owned()));
        assert_eq!(device("http://h/devices/a%2Fb"), None);
    }

    #[test]
    fn query_has_only_encoded_fields_with_values() {
        assert_eq!(with_query("/api/v1/runs", &ListRuns::default()), "/api/v1/runs");
        let query = ListRuns { backend: Some("burn-wgpu".to_owned()), limit: Some(25), ..ListRuns::default() };
        assert_eq!(with_query("/api/v1/runs", &query), "/api/v1/runs?backend=burn-wgpu&limit=25");
        let ranked = ListRuns { ranked: true, ..ListRuns::default() };
        assert_eq!(with_query("/api/v1/runs", &ranked), "/api/v1/runs?ranked=true");
        let two = ComparingQuery { runs: Some("a b,c&d=ü".to_owned()), devices: None };
        assert_eq!(with_query("/api/v1/compare", &two), "/api/v1/compare?runs=a%20b%2Cc%26d%3D%C3%BC");
    }

    #[test]
    fn export_keeps_filters_and_covers_all_pages() {
        let query = ListRuns { workload: Some("caffe-mnist".to_owned()), limit: Some(25), ..ListRuns::default() };
        assert_eq!(export(ExportFormat::Parquet, &query), "/api/v1/export?format=parquet&workload=caffe-mnist");
        assert_eq!(export(ExportFormat::Csv, &ListRuns::default()), "/api/v1/export?format=csv");
    }
}
