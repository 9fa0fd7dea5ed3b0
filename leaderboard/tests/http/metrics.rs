//! What a host's monitoring reads.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use leaderboard::{Protection, ProxyHeader};

use crate::support::TestServer;

fn watched(protection: Protection) -> TestServer {
    TestServer::protected_by(Protection { metrics_listen: Some("127.0.0.1:0".to_owned()), ..protection })
}

/// The value of a line that begins with `name`; nothing when there is none.
fn value(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))?;
    Some(line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[test]
fn requests_runs_refusals_and_bytes_are_counted_and_nobody_is_named() {
    let header = Some(ProxyHeader::XForwardedFor);
    let server = watched(Protection { reading_per_second: 1, trusted_proxy_header: header, ..Protection::default() });
    let run = server.accepted(|_| {});
    assert_eq!(server.get(&format!("/api/v1/runs/{}", run.run_id)).status, 200);
    assert_eq!(server.get("/api/v1/runs/0123456789abcdef").status, 404);
    assert_eq!(server.send("BREW", "/api/v1/runs", &[], b"").status, 405);
    assert_eq!(server.get("/some/page").status, 404);
    let flood = |_| server.send("GET", "/api/v1/runs", &[("x-forwarded-for", "203.0.113.77")], b"").status == 429;
    let refused = (0..20).filter(|&n| flood(n)).count();

    let answer = server.metrics().get("/metrics");
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"), "{:?}", answer.headers);
    let text = answer.text();
    let is = |name: &str, expected: f64| assert_eq!(value(&text, name), Some(expected), "{name} in {text}");
    is("gradmark_announcements_total", 1.0);
    is(&format!("gradmark_accepted_runs_total{{tier=\"{}\"}}", run.tier.name()), 1.0);
    is("gradmark_refused_total{limit=\"reading\"}", refused as f64);
    is("gradmark_database_errors_total{reason=\"full\"}", 0.0);
    is("gradmark_http_requests_in_progress", 0.0);
    let requests = |route: &str, method: &str, status: &str| {
        format!("gradmark_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}}")
    };
    is(&requests("/api/v1/runs", "POST", "2xx"), 1.0);
    is(&requests("/api/v1/runs/{id}", "PUT", "2xx"), 1.0);
    is(&requests("/api/v1/runs/{id}", "GET", "2xx"), 1.0);
    is(&requests("/api/v1/runs/{id}", "GET", "4xx"), 1.0);
    is(&requests("/api/v1/runs", "other", "4xx"), 1.0);
    is(&requests("/page", "GET", "4xx"), 1.0);
    is("gradmark_http_request_seconds_count{route=\"/api/v1/runs/{id}\",method=\"GET\"}", 2.0);
    assert!(value(&text, "gradmark_received_bytes_total").unwrap() > 1000.0, "{text}");
    for secret in [run.run_id.as_str(), "0123456789abcdef", "203.0.113", "127.0.0", "BREW", "some"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn open_connections_are_counted_while_they_are_open() {
    let server = watched(Protection::default());
    let open = || value(&server.metrics().get("/metrics").text(), "gradmark_open_connections").unwrap();
    let idle = [(); 3].map(|()| server.idle_connection());
    assert!(open() >= 3.0);
    drop(idle);
    let closed = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        open() == 0.0
    });
    assert!(closed);
}

#[test]
fn the_public_address_has_no_metrics_and_the_other_one_nothing_else() {
    let server = watched(Protection::default());
    assert_eq!(server.get("/metrics").status, 404);
    assert_eq!(server.metrics().get("/api/v1/runs").status, 404);
    assert_eq!(server.metrics().get("/metrics").status, 200);
}

#[test]
fn readers_of_metrics_do_not_hold_up_the_end() {
    let server = watched(Protection::default());
    let address = server.metrics().address;
    // One that stays, and one that never finishes its question.
    let mut idle = TcpStream::connect(address).unwrap();
    idle.write_all(b"GET /metrics HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
    let mut unfinished = TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /metr").unwrap();
    assert_eq!(server.metrics().get("/metrics").status, 200);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}
