//! Paths with queries, as the page asks the leaderboard.

use results::api::{
    ComparingQuery, DistributionQuery, ListRuns, ModerationQuery, RankedClass, RunSort, StandingsQuery, Tier,
};
use results::open_data::ExportFormat;
use results::{ClientKind, Precision};

/// The address of a list of runs.
pub fn runs(query: &ListRuns) -> String {
    let ranked = query.ranked.then(|| "true".to_owned());
    address(
        "/api/v1/runs",
        [
            ("workload", query.workload.clone()),
            ("backend", query.backend.clone()),
            ("precision", query.precision.map(Precision::name).map(str::to_owned)),
            ("suite", query.suite.clone()),
            ("device", query.device.clone()),
            ("vendor", query.vendor.clone()),
            ("browser", query.browser.clone()),
            ("system", query.system.clone()),
            ("client", query.client.map(ClientKind::name).map(str::to_owned)),
            ("tier", query.tier.map(Tier::name).map(str::to_owned)),
            ("since", query.since.clone()),
            ("until", query.until.clone()),
            ("ranked", ranked),
            ("class", query.class.map(RankedClass::name).map(str::to_owned)),
            ("sort", query.sort.map(RunSort::name).map(str::to_owned)),
            ("cursor", query.cursor.clone()),
            ("limit", query.limit.map(|limit| limit.to_string())),
            ("offset", query.offset.map(|offset| offset.to_string())),
        ],
    )
}

/// The address of an export of all that is in a list.
pub fn export(format: ExportFormat, query: &ListRuns) -> String {
    let list = runs(&ListRuns { limit: None, cursor: None, offset: None, ..query.clone() });
    let filters = list.split_once('?').map(|(_, filters)| format!("&{filters}")).unwrap_or_default();
    format!("/api/v1/export?format={}{filters}", format.name())
}

/// The address of all tables of a suite.
pub fn standings(query: &StandingsQuery) -> String {
    address(
        "/api/v1/standings",
        [
            ("suite", Some(query.suite.clone())),
            ("precision", query.precision.map(Precision::name).map(str::to_owned)),
            ("backend", query.backend.clone()),
            ("client", query.client.map(ClientKind::name).map(str::to_owned)),
            ("class", query.class.map(RankedClass::name).map(str::to_owned)),
            ("limit", query.limit.map(|limit| limit.to_string())),
        ],
    )
}

/// The address of how the rates of a network lie.
pub fn distribution(query: &DistributionQuery) -> String {
    address(
        "/api/v1/distribution",
        [
            ("suite", Some(query.suite.clone())),
            ("workload", Some(query.workload.clone())),
            ("precision", query.precision.map(Precision::name).map(str::to_owned)),
            ("backend", query.backend.clone()),
            ("client", query.client.map(ClientKind::name).map(str::to_owned)),
            ("class", query.class.map(RankedClass::name).map(str::to_owned)),
        ],
    )
}

/// The address of a few runs, or devices, beside each other.
pub fn comparing(query: &ComparingQuery) -> String {
    address("/api/v1/compare", [("runs", query.runs.clone()), ("devices", query.devices.clone())])
}

/// The address of what moderators did.
pub fn moderation(query: &ModerationQuery) -> String {
    address(
        "/api/v1/moderation",
        [
            ("limit", query.limit.map(|limit| limit.to_string())),
            ("offset", query.offset.map(|offset| offset.to_string())),
        ],
    )
}

/// A path with those parameters that have a value.
fn address<const N: usize>(path: &str, parameters: [(&str, Option<String>); N]) -> String {
    let mut address = path.to_owned();
    for (name, value) in parameters.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let before = if address.len() == path.len() { '?' } else { '&' };
        address.push_str(&format!("{before}{name}={}", encoded(&value)));
    }
    address
}

/// Everything but the unreserved letters of RFC 3986 as `%` and two digits for each byte.
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
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_in_the_address() {
        assert_eq!(runs(&ListRuns::default()), "/api/v1/runs");
        let query = ListRuns {
            workload: Some("keras-mnist-mlp".to_owned()),
            backend: Some("burn-wgpu".to_owned()),
            limit: Some(25),
            ..ListRuns::default()
        };
        assert_eq!(runs(&query), "/api/v1/runs?workload=keras-mnist-mlp&backend=burn-wgpu&limit=25");
        let log = ModerationQuery { limit: Some(50), offset: None };
        assert_eq!(moderation(&log), "/api/v1/moderation?limit=50");
    }

    #[test]
    fn what_is_asked_for_goes_by_its_name_on_the_wire() {
        let places = StandingsQuery {
            suite: "quick".to_owned(),
            precision: Some(Precision::F16),
            backend: None,
            client: Some(ClientKind::Browser),
            class: Some(RankedClass::Processor),
            limit: Some(150),
        };
        assert_eq!(
            standings(&places),
            "/api/v1/standings?suite=quick&precision=f16&client=browser&class=processor&limit=150"
        );
        let rates = DistributionQuery {
            suite: "quick".to_owned(),
            workload: "caffe-mnist".to_owned(),
            backend: Some("wgsl".to_owned()),
            ..DistributionQuery::default()
        };
        assert_eq!(distribution(&rates), "/api/v1/distribution?suite=quick&workload=caffe-mnist&backend=wgsl");
        let two = ComparingQuery { runs: Some("a,b".to_owned()), devices: None };
        assert_eq!(comparing(&two), "/api/v1/compare?runs=a%2Cb");
    }

    #[test]
    fn an_export_has_the_filters_of_a_list_and_all_of_its_pages() {
        let query = ListRuns { workload: Some("caffe-mnist".to_owned()), limit: Some(25), ..ListRuns::default() };
        assert_eq!(export(ExportFormat::Parquet, &query), "/api/v1/export?format=parquet&workload=caffe-mnist");
        assert_eq!(export(ExportFormat::Csv, &ListRuns::default()), "/api/v1/export?format=csv");
    }

    #[test]
    fn what_has_a_meaning_in_addresses_is_encoded() {
        assert_eq!(encoded("a b&c=ü"), "a%20b%26c%3D%C3%BC");
    }
}
