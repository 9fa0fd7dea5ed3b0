//! Runs of several people, on several devices.

use leaderboard::{Protection, ProxyHeader};
use results::api::{AcceptedRun, StartRun, StartedRun, Tier};
use results::{ClientKind, DeviceKind, RunRecord};

use super::{TestServer, record};

pub(crate) const ANN: &str = "192.0.2.7";
pub(crate) const BOB: &str = "198.51.100.9";

/// Returns a server behind a proxy that reports its clients' addresses.
pub(crate) fn board() -> TestServer {
    let trusted_proxy_header = Some(ProxyHeader::XForwardedFor);
    TestServer::protected_by(Protection { trusted_proxy_header, announcements_per_hour: 0, ..Protection::default() })
}

pub(crate) fn announced_by(server: &TestServer, who: &str) -> StartedRun {
    let start = StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
    let headers = [("content-type", "application/json"), ("x-forwarded-for", who)];
    server.send("POST", "/api/v1/runs", &headers, &serde_json::to_vec(&start).unwrap()).with_status(201).parse()
}

/// Uploads an announced run of this address after `change`. Its summaries are recomputed.
pub(crate) fn accepted_by(server: &TestServer, who: &str, change: impl FnOnce(&mut RunRecord)) -> AcceptedRun {
    let started = announced_by(server, who);
    let mut record = record::for_run(&started);
    server.pass(record.provenance.wall_seconds);
    change(&mut record);
    record::summarise(&mut record);
    record::declare(&mut record);
    server.upload(&started.run_id, &record).with_status(201).parse()
}

pub(crate) fn proven_by(server: &TestServer, who: &str, change: impl FnOnce(&mut RunRecord)) -> String {
    let run = accepted_by(server, who, change);
    server.set_tier(&run.run_id, Tier::Proven);
    run.run_id
}

/// Changes the device's name and multiplies its speed.
pub(crate) fn on(device: &str, factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| {
        record.device.adapter.name = device.to_owned();
        record::speed_up(record, factor);
    }
}

pub(crate) fn in_browser(record: &mut RunRecord) {
    let client = &mut record.provenance.client;
    (client.kind, client.name, client.version) = (ClientKind::Browser, "Chrome".to_owned(), "142".to_owned());
    record.requested.adapter = "browser".to_owned();
    let adapter = &mut record.device.adapter;
    adapter.name = "nvidia ampere".to_owned();
    adapter.vendor = "nvidia".to_owned();
    adapter.architecture = "ampere".to_owned();
    adapter.api = "WebGPU".to_owned();
    adapter.kind = DeviceKind::Unknown;
}
