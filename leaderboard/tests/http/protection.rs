//! A public board: limits by address, budgets for all clients, and TLS in front.

use std::io::Read;

use leaderboard::Protection;

use crate::limits::long_record;
use crate::support::*;

fn from(server: &TestServer, address: &str, method: &str, path: &str, body: &[u8]) -> HttpAnswer {
    server.send(method, path, &[("content-type", "application/json"), ("x-forwarded-for", address)], body)
}

fn announce_from(server: &TestServer, address: &str) -> HttpAnswer {
    from(server, address, "POST", "/api/v1/runs", &serde_json::to_vec(&record::start()).unwrap())
}

#[test]
fn announcements_are_limited_per_address_with_retry_after() {
    let server = TestServer::protected_by(|limits| limits.announcements_per_hour = 4);
    assert_eq!(announce_from(&server, "192.0.2.1").status, 201);
    assert_eq!(announce_from(&server, "forged, 192.0.2.1").status, 201);
    let answer = announce_from(&server, "127.0.0.1, 192.0.2.1");
    let message = answer.assert_refused(429, "too_many_requests", "");
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!((800..=900).contains(&seconds), "{seconds}");
    assert_says(&message, &[&format!("{seconds} s")]);
    assert!(!answer.text().contains("192.0.2.1"), "{}", answer.text());
    assert_eq!(announce_from(&server, "192.0.2.2").status, 201);
    assert_eq!(from(&server, "192.0.2.1", "GET", "/api/v1/runs", b"").status, 200, "it may still read");
    // A household of IPv6 is one address.
    assert_eq!(announce_from(&server, "2001:db8:1:2::1").status, 201);
    assert_eq!(announce_from(&server, "2001:db8:1:2::1").status, 201);
    announce_from(&server, "2001:db8:1:2:ffff::2").assert_refused(429, "too_many_requests", "");
    assert_eq!(announce_from(&server, "2001:db8:1:3::1").status, 201);
}

#[test]
fn addresses_of_one_prefix_leave_announcements_to_others() {
    let server = rehearsal::server_with(|config| {
        (config.protection.announcements_per_hour, config.protection.open_runs) = (2, 10);
    });
    for (before, after) in [("192.0.2.", ""), ("2001:db8:1:", "::1")] {
        let announce = |number: u32| announce_from(&server, &format!("{before}{number}{after}")).status;
        let statuses: Vec<_> = (1..=20).map(announce).collect();
        assert!(statuses[..4].iter().all(|status| *status == 201), "{statuses:?}");
        assert!(statuses[4..].iter().all(|status| *status == 429), "{statuses:?}");
    }
    assert_eq!(announce_from(&server, HONEST).status, 201);
    prove_honest_run(&server, "2001:db8:2::1");
}

#[test]
fn states_of_one_prefix_leave_room_for_others() {
    // An eighth of the budget is enough for one run.
    let mut server = rehearsal::server_with(|config| config.protection.weights_bytes = 8 * 40_000_000);
    let run = light();
    // Returns true if all states of a run were accepted.
    let leave_states = |server: &TestServer, address: &str| {
        let started = announce_from(server, address).parse();
        run.messages.iter().all(|message| {
            let answer = message.call.send(server, &started);
            assert!(answer.status == 503 || answer.status.is_success(), "{}", answer.text());
            answer.status != 503
        })
    };
    assert!(leave_states(&server, "203.0.113.1"));
    assert!((2..9).all(|last| !leave_states(&server, &format!("203.0.113.{last}"))));
    prove_honest_run(&server, HONEST);

    server.pass(6.0 * 3600.0 + 1.0);
    assert!(leave_states(&server, "203.0.113.1"), "states of runs that expired do not count");
    server.restart();
    wait_until(|| server.database().count("SELECT COUNT(DISTINCT run_id) FROM shown_states") == 1);
}

#[test]
fn readers_of_one_prefix_leave_exports_and_time_to_others() {
    let server = rehearsal::server();
    let import = |seed| server.import(&long_record(seed)).parse::<AcceptedRun>().run_id;
    let runs: Vec<String> = (0..10).map(import).collect();
    let export = "/api/v1/export?format=jsonl";
    let slow: Vec<_> = (1..=12)
        .map(|last| {
            let head = format!("GET {export} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.{last}\r\n\r\n");
            let mut stream = server.half_sent(&head);
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            (status.ends_with(b"200"), stream)
        })
        .collect();
    assert_eq!(slow.iter().filter(|(began, _)| *began).count(), 4);
    let reader = server.seen_at("192.0.2.99");
    let read = || drop(reader.get_run(&runs[9], ""));
    while_attacked(&[&read], || {
        let whole = from(&server, HONEST, "GET", export, b"");
        assert_eq!((whole.status.as_u16(), whole.text().lines().count()), (200, 10));
        prove_honest_run(&server, HONEST);
    });
}

#[test]
fn default_limits_allow_a_classroom_behind_one_address() {
    let server = TestServer::start();
    for _ in 0..30 {
        for path in ["/", "/api/v1/runs", "/api/v1/schema", "/api/v1/data-sets"] {
            assert_ne!(from(&server, "192.0.2.1", "GET", path, b"").status, 429);
        }
        assert_eq!(announce_from(&server, "192.0.2.1").status, 201);
    }
    announce_from(&server, "192.0.2.1").assert_refused(429, "too_many_requests", "");
}

#[test]
fn imports_and_reads_are_limited_except_locally() {
    let server = TestServer::protected_by(|limits| (limits.imports_per_hour, limits.reading_per_second) = (2, 1));
    let import = "/api/v1/runs/import";
    assert_eq!(from(&server, "192.0.2.1", "POST", import, b"{}").status, 400);
    from(&server, "192.0.2.1", "POST", import, b"{}").assert_refused(429, "too_many_requests", "");
    let refused = (0..50).find(|_| from(&server, "192.0.2.1", "GET", "/api/v1/runs", b"").status == 429);
    assert!(refused.is_some_and(|number| number >= 10), "after ten at once: {refused:?}");
    assert!((0..50).all(|_| server.get("/api/v1/runs").status == 200));
}

#[test]
fn a_header_is_not_believed_unless_the_host_said_so() {
    let server = TestServer::with(|config, _| {
        config.protection = Protection { announcements_per_hour: 1, behind_tls: true, ..Protection::default() };
    });
    for _ in 0..5 {
        assert_eq!(announce_from(&server, "192.0.2.1").status, 201);
    }
    for path in ["/", "/healthz", "/api/v1/runs", "/api/nothing", "/data/nothing"] {
        server.get(path).assert_headers(&[("strict-transport-security", "max-age=31536000")]);
    }
}

#[test]
fn open_runs_are_limited_until_uploaded_or_expired() {
    let server = TestServer::protected_by(|limits| limits.open_runs = 2);
    let (first, record) = server.honest_run();
    server.begin();
    let announce = || server.json("POST", "/api/v1/runs", &record::start());
    let refused = announce();
    assert_says(&refused.assert_refused(503, "too_many_open_runs", ""), &["import"]);
    assert_eq!(refused.header("retry-after"), "600");
    assert_eq!(server.upload(&first.run_id, &record).status, 201);
    server.begin();
    announce().assert_refused(503, "too_many_open_runs", "");
    server.pass(6.0 * 3600.0 + 1.0);
    server.begin();
}

#[test]
fn daily_import_limit_is_shared_by_servers() {
    let bytes = serde_json::to_vec(&record::unregistered(1)).unwrap().len() as u64;
    let mut server = TestServer::protected_by(|limits| limits.import_bytes_per_day = 2 * bytes + bytes / 2);
    server.imported(1);
    server.imported(2);
    server.import(&record::unregistered(3)).assert_refused(503, "too_many_imports", "");
    server.restart();
    let refused = server.import(&record::unregistered(3));
    refused.assert_refused(503, "too_many_imports", "");
    let rest: f64 = refused.header("retry-after").parse().unwrap();
    assert!((1.0..=86_400.0).contains(&rest), "{rest}");
    server.accepted(|_| {});
    server.pass(rest);
    server.imported(3);
}
