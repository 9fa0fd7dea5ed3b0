//! A result in one line, for somebody's own page.

use results::api::Tier;
use results::badge::Badge;

use crate::support::{TestServer, record};

#[test]
fn a_badge_says_device_speed_and_tier() {
    let server = TestServer::start();
    let run = server.proven(|_| {});
    let path = format!("/api/v1/runs/{}/badge", run.run_id);
    let answer = server.get(&format!("{path}.json?workload=caffe-mnist"));
    let members: serde_json::Map<String, serde_json::Value> = answer.parse();
    assert_eq!(members["schemaVersion"], 1, "as shields.io wants it");
    let badge: Badge = answer.parse();
    assert_eq!(badge.label, "Gradmark caffe-mnist");
    assert!(badge.message.starts_with("Example GPU 9000 · ") && badge.message.ends_with(" samples/s · proven"));
    let first: Badge = server.get(&format!("{path}.json")).parse();
    assert_eq!(first.label, "Gradmark keras-mnist-mlp");

    let picture = server.get(&format!("{path}.svg?workload=caffe-mnist"));
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/svg+xml"));
    assert_eq!(picture.header("cross-origin-resource-policy"), "cross-origin", "other pages may show it");
    assert_eq!(picture.header("cache-control"), "no-cache");
    assert!(picture.text().contains(&badge.message), "{}", picture.text());
    server.set_tier(&run.run_id, Tier::Flagged);
    let flagged: Badge = server.get(&format!("{path}.json")).parse();
    assert!(flagged.message.ends_with("flagged") && flagged.color != badge.color);
}

#[test]
fn no_name_is_markup() {
    let server = TestServer::start();
    let name = "<script>alert(1)</script>\"&'";
    let run = server.accepted(|record| record.device.claimed_name = Some(name.to_owned()));
    let picture = server.get(&format!("/api/v1/runs/{}/badge.svg", run.run_id)).text();
    assert!(picture.contains("&lt;script&gt;") && !picture.contains("<script"), "{picture}");
    let badge: Badge = server.get(&format!("/api/v1/runs/{}/badge.json", run.run_id)).parse();
    assert!(badge.message.starts_with(name));
}

#[test]
fn what_has_no_badge_is_refused_and_what_failed_says_so() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    for kind in ["svg", "json"] {
        let path = format!("/api/v1/runs/{}/badge.{kind}", run.run_id);
        server.get(&format!("{path}?workload=unheard-of")).assert_refused(404, "unknown_workload", "workload");
        server.get(&format!("{path}?workload=%00")).assert_refused(400, "bad_query", "workload");
        server.get(&format!("{path}?colour=red")).assert_refused(400, "bad_query", "");
        let nobody = format!("/api/v1/runs/0123456789abcdef/badge.{kind}");
        server.get(&nobody).assert_refused(404, "unknown_run", "");
    }
    let path = format!("/api/v1/runs/{}/badge.json?workload=caffe-mnist", run.run_id);
    assert!(server.get(&path).parse::<Badge>().message.contains("not completed"));
    server.set_tier(&run.run_id, Tier::Hidden);
    server.get(&path).assert_refused(404, "unknown_run", "");
}
