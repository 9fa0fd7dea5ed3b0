//! What was read once and has not changed does not travel again.

use std::io::Read;

use crate::support::{Answer, TestServer};

fn again(server: &TestServer, path: &str, first: &Answer, encodings: &str) -> Answer {
    server.send("GET", path, &[("if-none-match", first.header("etag")), ("accept-encoding", encodings)], b"")
}

#[test]
fn what_has_not_changed_is_answered_with_304_in_every_encoding() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let paths = ["/api/v1/runs", &format!("/api/v1/runs/{}", run.run_id), "/api/v1/schema", "/api/v1/data-sets"]
        .map(str::to_owned);
    for path in &paths {
        let plain = server.get_accepting(path, "identity");
        let gzip = server.get_accepting(path, "gzip");
        let name = plain.header("etag");
        assert!(name.starts_with("W/\"") && name.len() > 30, "{path}: {name}");
        assert_eq!(gzip.header("etag"), name, "the content is the same: {path}");
        assert_eq!(gzip.header("content-encoding"), "gzip", "{path}");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, plain.body, "{path}");
        for encodings in ["identity", "gzip"] {
            let same = again(&server, path, &plain, encodings);
            assert_eq!(same.status, 304, "{path}");
            assert!(same.body.is_empty(), "{path}");
            assert_eq!((same.header("etag"), same.header("vary")), (name, "accept-encoding"), "{path}");
            assert_eq!((same.header("content-encoding"), same.header("cache-control")), ("", "no-cache"), "{path}");
        }
    }
}

#[test]
fn what_has_changed_is_sent_again_and_refusals_have_no_name() {
    let server = TestServer::start();
    let before = server.get("/api/v1/runs");
    let run = server.accepted(|_| {});
    let after = again(&server, "/api/v1/runs", &before, "identity");
    assert_eq!(after.status, 200);
    assert_ne!(after.header("etag"), before.header("etag"));
    let path = format!("/api/v1/runs/{}", run.run_id);
    let shown = server.get(&path);
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
    let gone = again(&server, &path, &shown, "identity");
    gone.assert_refused(404, "unknown_run", "");
    assert_eq!((gone.header("etag"), gone.header("cache-control")), ("", "no-store"));
}

#[test]
fn answers_that_hold_a_secret_are_kept_by_nobody() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let accepted = server.upload(&started.run_id, &record);
    assert_eq!((accepted.header("cache-control"), accepted.header("etag")), ("no-store", ""));
}
