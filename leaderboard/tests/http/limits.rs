//! Limits of bodies, connections, memory and time under attack, unknown routes, and the metrics of all that.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use results::Window;
use serde_json::{Value, json};

use crate::support::*;

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const IMPORT: &str = "/api/v1/runs/import";

fn import_text(server: &TestServer, text: &str) -> HttpAnswer {
    server.send("POST", IMPORT, &JSON, text.as_bytes())
}

#[test]
fn malformed_and_mistyped_bodies_are_refused_with_the_place() {
    let server = TestServer::start();
    // Deep nesting does not overflow the stack.
    let deep = "[".repeat(100_000);
    let refused = |text: &str, place: &str| {
        assert_says(&import_text(&server, text).with_status(400).parse::<ErrorBody>().message, &[place]);
    };
    refused("{\n  \"schema_version\": 1,\n  oops\n}", "line 3 column 3");
    refused("{\"schema_version\": 1", "line 1 column 20");
    refused("nonsense", "line 1 column 2");
    refused("{\"schema_version\": 1}}", "line 1");
    refused("{\"schema_version\": NaN}", "line 1");
    refused("[[[[", "line 1");
    refused(&deep, "line 1");
    assert_eq!(server.send("POST", IMPORT, &JSON, b"{\"schema_version\": \"\xff\xfe\"}").status, 400);
    // Numbers that no format holds.
    let text = serde_json::to_string(&record::unregistered(1)).unwrap();
    for (was, huge, field) in [
        ("\"wall_seconds\":20.0", "\"wall_seconds\":1e999", "provenance.wall_seconds"),
        ("\"first_losses\":[2.5,", "\"first_losses\":[1e39,", "workloads[0].first_losses[0]"),
        ("\"value\":0.125", "\"value\":-1e300", "workloads[0].weight_samples[0].value"),
    ] {
        let changed = text.replacen(was, huge, 1);
        assert_ne!(changed, text);
        import_text(&server, &changed).assert_refused(400, "out_of_range", field);
    }
    let later = json!({"schema_version": 99, "something_new": true});
    let message = server.json("POST", IMPORT, &later).assert_refused(422, "unknown_schema_version", "schema_version");
    assert_says(&message, &["99"]);

    let batch_size = "workloads[0].settings.batch_size";
    // JSON has no NaN: writers turn it into null.
    let seconds = "workloads[0].windows[0].seconds";
    let refused = |change: Edit<Value>, code: &str, field: &str| {
        let mut json = serde_json::to_value(record::unregistered(1)).unwrap();
        change(&mut json);
        let message = server.json("POST", IMPORT, &json).assert_refused(400, code, field);
        assert!(message.len() < 500, "it quotes {} bytes", message.len());
    };
    refused(|r| r["user_agent"] = json!("Mozilla"), "unknown_field", "user_agent");
    refused(|r| r["device"]["adapter"]["limits"] = json!({}), "unknown_field", "device.adapter.limits");
    refused(|r| drop(r["device"].as_object_mut().unwrap().remove("backend")), "missing_field", "device");
    refused(|r| r["workloads"][0]["settings"]["batch_size"] = json!("128"), "wrong_type", batch_size);
    refused(|r| r["workloads"][0]["settings"]["batch_size"] = json!(1.5), "wrong_type", batch_size);
    refused(|r| r["workloads"][0]["settings"]["batch_size"] = json!(-1), "wrong_type", batch_size);
    refused(|r| r["requested"]["seed"] = json!(u64::MAX), "wrong_type", "requested.seed");
    refused(|r| r["requested"]["seed"] = json!("x".repeat(100_000)), "wrong_type", "requested.seed");
    refused(|r| r["workloads"][0]["windows"][0]["seconds"] = Value::Null, "wrong_type", seconds);
}

#[test]
fn undeclared_and_large_bodies_are_refused() {
    let server = TestServer::start();
    let body = serde_json::to_vec(&record::unregistered(1)).unwrap();
    let wrong = ["text/plain", "application/x-www-form-urlencoded"].map(|kind| [("content-type", kind)]);
    for headers in [&[][..], &wrong[0], &wrong[1]] {
        server.send("POST", IMPORT, headers, &body).assert_refused(415, "wrong_content_type", "");
    }
    server.send("POST", IMPORT, &[("content-type", "Application/JSON; charset=utf-8")], &body).with_status(201);

    let spaces = |bytes: usize| " ".repeat(bytes);
    import_text(&server, &spaces((4 << 20) + 1)).assert_refused(413, "too_large", "");
    import_text(&server, &spaces(12 << 20)).assert_refused(413, "too_large", "");
    import_text(&server, &spaces(4 << 20)).assert_refused(400, "malformed_json", "");
    // Chunked, so that no length is announced.
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, spaces(1 << 20)).repeat(5);
    let head = "host: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = server.raw(&format!("POST {IMPORT} HTTP/1.1\r\n{head}{chunk}0\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn long_records_are_checked_quickly() {
    let server = TestServer::start();
    let is_quick = |seed| {
        let record = long_record(seed);
        let start = Instant::now();
        server.import(&record).with_status(201);
        start.elapsed() < Duration::from_secs(5)
    };
    // A busy machine may delay some.
    assert!((1..=3).any(is_quick));
}

pub(crate) fn long_record(seed: u32) -> RunRecord {
    let mut record = record::unregistered(seed);
    record.workloads.truncate(1);
    let workload = &mut record.workloads[0];
    let window = workload.windows[workload.windows.len() - 1];
    let longer = (0..20_000_u32).map(|i| Window { seconds: window.seconds + f64::from(i % 97) * 1e-4, ..window });
    workload.windows.extend(longer);
    record::count_samples(workload);
    record.provenance.wall_seconds = 30_000.0;
    record::summarise(&mut record);
    record::declare(&mut record);
    record
}

#[test]
fn unfinished_bodies_block_only_their_own_request() {
    let server = rehearsal::server();
    let length = 16 << 20;
    let from = |last| format!("host: x\r\nx-forwarded-for: 192.0.2.{last}\r\ncontent-length: {length}");
    // More than the server's memory for bodies.
    let unfinished = vec![0; length - 1];
    let _for_no_run: Vec<_> = (1..=17)
        .map(|last| {
            let path = "/api/v1/runs/0123456789abcdef/states/keras-mnist-mlp/1";
            let kind = "content-type: application/octet-stream";
            let mut stream = server.half_sent(&format!("PUT {path} HTTP/1.1\r\n{kind}\r\n{}\r\n\r\n", from(last)));
            stream.write_all(&unfinished).unwrap();
            stream
        })
        .collect();
    let import = |last| format!("POST {IMPORT} HTTP/1.1\r\ncontent-type: application/json\r\n{}\r\n\r\n{{", from(last));
    let _slow: Vec<_> = (1..=40).map(|last| server.half_sent(&import(last))).collect();
    prove_honest_run(&server, HONEST);
}

#[test]
fn a_head_that_does_not_end_is_given_up_early() {
    let server = TestServer::start();
    let mut stream = server.half_sent(&format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}", "x".repeat(32 << 10)));
    let mut answer = Vec::new();
    // The server closes the connection, and the answer may be lost because it has not read all of the head.
    let waited = stream.read_to_end(&mut answer).is_err_and(|cause| cause.kind() == ErrorKind::WouldBlock);
    assert!(!waited && (answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 ")), "{answer:?}");
    server.accepted(|_| {});
}

#[test]
fn connections_per_address_are_limited() {
    let server = TestServer::start();
    let open: Vec<_> = (0..CONNECTIONS_PER_ADDRESS).map(|_| server.idle_connection()).collect();
    let mut rest = Vec::new();
    let refused = server.half_sent("").read_to_end(&mut rest);
    assert!(refused.is_err() || rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    drop(open);
    // The server sees the ends of connections one after another.
    wait_until(|| server.try_send("GET", "/api/v1/runs", &[], b"").is_ok_and(|answer| answer.status == 200));
}

/// Returns a connection from another address of this machine, such as any `127.x.x.x`, with these bytes sent.
#[cfg(target_os = "linux")]
fn half_sent_from(server: &TestClient, address: [u8; 4], request: &str) -> TcpStream {
    let mut stream = block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        socket.connect(server.address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    // A server at its limit has already closed this connection.
    stream.write_all(request.as_bytes()).ok();
    stream
}

#[cfg(target_os = "linux")]
#[test]
fn connections_of_one_prefix_leave_some_to_others() {
    // The limit of all connections is 64, the number of remaining descriptors.
    let mut command = command_with_descriptors(128);
    command.args(["--log", "off", "--connections-per-address", "8"]);
    let (announcer, server) = rehearsal::announcer_and_process(command);
    // Each accepted connection holds the maximum memory of an unfinished head.
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}", "x".repeat(15 << 10));
    let sent = (1..=10).flat_map(|last| [("", last), (head.as_str(), last)].repeat(5));
    let _half_open: Vec<_> = sent.map(|(sent, last)| half_sent_from(&server, [127, 0, 1, last], sent)).collect();
    let start = Instant::now();
    assert_eq!(server.get("/api/v1/runs").status, 200);
    assert!(start.elapsed() < Duration::from_secs(10), "only after the others were given up: {:?}", start.elapsed());
    rehearsal::prove_announced_run(&announcer, &server.seen_at(HONEST));
}

#[cfg(target_os = "linux")]
#[test]
fn records_that_nobody_announced_take_little_memory() {
    // Its log cannot be written.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = command();
    command.args(["--log", "info"]).stderr(full);
    let (announcer, server) = rehearsal::announcer_and_process(command);
    let started = server.begin();
    let keys: String = (0..300_000).map(|key| format!("\"{key}\":0,")).collect();
    let body = format!("{{\"run_id\":\"{}\",\"workloads\":[{{\"network\":{{{keys}\"x\":0}}}}]}}", started.run_id);
    let refused = |method: &str, path: &str, status: u16, code: &str, field: &str| {
        server.send(method, path, &JSON, body.as_bytes()).assert_refused(status, code, field);
        // The processor also verifies the honest run.
        std::thread::sleep(Duration::from_millis(500));
    };
    let announced = format!("/api/v1/runs/{}", started.run_id);
    let attacks: [&(dyn Fn() + Sync); 3] = [
        &|| refused("PUT", &announced, 403, "wrong_nonce", "nonce"),
        &|| refused("PUT", "/api/v1/runs/0123456789abcdef", 404, "unknown_run", ""),
        &|| refused("POST", IMPORT, 422, "network_of_a_file", "workloads[0].network"),
    ];
    let honest = server.seen_at(HONEST);
    while_attacked(&[attacks, attacks, attacks].concat(), || rehearsal::prove_announced_run(&announcer, &honest));
    // This includes 55 MB of the data set for recomputing the honest run.
    assert!(server.peak_memory_bytes() < 250 << 20, "{}", server.peak_memory_bytes());
}

#[test]
fn unknown_paths_are_json_errors_and_other_sites_can_only_read() {
    let server = TestServer::start();
    for path in ["/api/", "/api/v1", "/api/v2/runs", "/api/v1/runs/", "/api/v1/runs/a/b", "/api/v1/../x"] {
        server.get(path).assert_refused(404, "unknown_route", "");
    }
    // The test of documented calls covers other methods.
    for method in ["PATCH", "OPTIONS", "BREW"] {
        let answer = server.send(method, "/api/v1/runs", &[], b"");
        answer.assert_refused(405, "method_not_allowed", "");
        assert!(answer.header("allow").contains("GET"), "{method}");
    }

    let origin = ("origin", "https://example.org");
    let read = server.send("GET", "/api/v1/runs", &[origin], b"");
    read.assert_headers(&[("access-control-allow-origin", "*"), ("cross-origin-resource-policy", "cross-origin")]);
    // To be asked about each time.
    read.assert_headers(&[("cache-control", "no-cache")]);
    let wants = [("access-control-request-method", "POST"), ("access-control-request-headers", "content-type")];
    let preflight = server.send("OPTIONS", "/api/v1/runs", &[origin, wants[0], wants[1]], b"");
    let written = server.send("POST", "/api/v1/runs", &[origin], b"{}");
    for answer in [preflight, written] {
        answer.assert_headers(&[("access-control-allow-origin", "")]);
    }
}

fn value(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))?;
    Some(line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[test]
fn metrics_count_requests_without_naming_anyone() {
    let server = TestServer::protected_by(|protection| {
        (protection.metrics_listen, protection.reading_per_second) = (Some("127.0.0.1:0".to_owned()), 1);
    });
    let run = server.accepted(|_| {});
    assert_eq!(server.get(&format!("/api/v1/runs/{}", run.run_id)).status, 200);
    assert_eq!(server.get("/api/v1/runs/0123456789abcdef").status, 404);
    assert_eq!(server.send("BREW", "/api/v1/runs", &[], b"").status, 405);
    assert_eq!(server.get("/some/page").status, 404);
    let other = server.seen_at("203.0.113.77");
    let refused = (0..20).filter(|_| other.get("/api/v1/runs").status == 429).count();

    // Served only on their own address.
    assert_eq!(server.get("/metrics").status, 404);
    assert_eq!(server.metrics.get("/api/v1/runs").status, 404);
    let answer = server.metrics.get("/metrics").with_status(200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"), "{:?}", answer.headers);
    let text = answer.text();
    let is = |name: &str, expected: f64| assert_eq!(value(&text, name), Some(expected), "{name} in {text}");
    is("gradmark_announcements_total", 1.0);
    is(&format!("gradmark_accepted_runs_total{{tier=\"{}\"}}", run.verdict.tier.name()), 1.0);
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
    is(&requests("/page", "GET", "4xx"), 2.0);
    is("gradmark_http_request_seconds_count{route=\"/api/v1/runs/{id}\",method=\"GET\"}", 2.0);
    assert!(value(&text, "gradmark_received_bytes_total").unwrap() > 1000.0, "{text}");
    for secret in [run.run_id.as_str(), "0123456789abcdef", "203.0.113", "127.0.0", "BREW", "some"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");

    let open = || value(&server.metrics.get("/metrics").text(), "gradmark_open_connections").unwrap();
    let idle = [(); 3].map(|()| server.idle_connection());
    assert!(open() >= 3.0);
    drop(idle);
    wait_until(|| open() == 0.0);

    // Readers of metrics do not delay the end: an idle connection, and one with an unfinished request.
    let address = server.metrics.address;
    let mut idle = TcpStream::connect(address).unwrap();
    idle.write_all(b"GET /metrics HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
    let mut unfinished = TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /metr").unwrap();
    assert_eq!(server.metrics.get("/metrics").status, 200);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(TcpStream::connect(address).is_err(), "the server still listens");
}
