//! A device served by another process, over the loopback interface.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use results::RunRecord;
use serde_json::Value;
use view::comparison::{Comparison, Row, RowOutcome};

use crate::external::{expect_golden, trace_line};
use crate::support::*;

const BROKEN: &str = "the link to the remote device broke";

struct ServeProcess {
    address: String,
    running: Running,
}

impl ServeProcess {
    fn start(arguments: &str) -> Self {
        let running = Runner::new(&format!("serve-device --backend burn-flex --bind 127.0.0.1:0 {arguments}")).start();
        let line = running.stdout.recv().unwrap();
        let address = line.rsplit(' ').next().unwrap().to_owned();
        assert!(line.starts_with("Serving ") && line.contains(" (Burn, "), "{line}");
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Self { address, running }
    }

    fn wait_for_a_client(&mut self) {
        self.running.wait_for("begins to compute");
    }
}

fn two_servers() -> ([ServeProcess; 2], String) {
    let servers = [0, 1].map(|_| ServeProcess::start("--threads 1"));
    let addresses = servers.each_ref().map(|server| server.address.as_str()).join(",");
    (servers, addresses)
}

#[test]
fn remote_device_trains_like_a_local_one() {
    let mut server = ServeProcess::start("--threads 1");
    let small = "--steps 5 --batch-size 16 --seed 7 --json -";
    let remote = Runner::new(&format!("--backend burn-remote --remote {} {small}", server.address)).tiny().run();
    server.wait_for_a_client();
    let local = Runner::new(&format!("--backend burn-flex --threads 1 {small}")).tiny().run();
    let [remote, local] = [remote, local].map(|finished| finished.expect_status(0).json::<RunRecord>());
    assert_eq!(remote.workloads[0].first_losses.len(), 5);
    assert_eq!(remote.workloads[0].first_losses, local.workloads[0].first_losses);

    let device = &remote.device;
    let name = format!("remote {}", local.device.adapter.name);
    assert_eq!((device.backend.as_str(), &device.adapter.name), ("burn-remote", &name));
    assert!(name.ends_with(" (Burn, 1 thread)"), "{name}");
    let mut settings = local.workloads[0].settings.variants.clone();
    settings.push("burn remote: burn-flex through a WebSocket".to_owned());
    settings.push("burn remote: processor time and memory are the client's".to_owned());
    assert_eq!(remote.workloads[0].settings.variants, settings);
    server.running.signal(Signal::SIGINT);
    let stopped = server.running.end().expect_status(0);
    assert!(stopped.stderr.contains("Stopped."), "{}", stopped.stderr);
}

/// Starts a client of the server, and sends it the signal once a line of the client contains `turn`.
fn lose(server: &mut ServeProcess, line: &str, turn: &str, signal: Signal) -> RunnerOutput {
    let mut client = Runner::new(line).tiny().start();
    server.wait_for_a_client();
    client.wait_for(turn);
    server.running.signal(signal);
    let finished = client.end();
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    finished
}

#[test]
fn lost_server_ends_the_training_with_an_error() {
    let line = "-vv --backend burn-remote --remote-timeout 2 --seconds 300 --batch-size 16 --json result.json --remote";
    for signal in [Signal::SIGKILL, Signal::SIGINT, Signal::SIGSTOP] {
        let mut server = ServeProcess::start("--threads 1");
        let line = format!("{line} {}", server.address);
        let finished = lose(&mut server, &line, " window ", signal).expect_status(4);
        finished.expect_errors(&[&format!("error: {BROKEN}")]);
    }
    // A client of several servers names the lost one.
    for signal in [Signal::SIGKILL, Signal::SIGSTOP] {
        let ([_first, mut second], two) = two_servers();
        let expected = format!("error: device 2 of 2 ({}): {BROKEN}", second.address);
        let finished = lose(&mut second, &format!("{line} {two}"), " window ", signal).expect_status(4);
        let finished = finished.expect_errors(&[&expected]);
        assert!(!finished.folder.path().join("result.json").exists(), "nothing was finished");
    }
}

/// Compares `burn-flex` and `burn-remote` from two seeds, and returns one row each. Sends the signal `happens` to the
/// server once a line contains `turn`.
fn compared(backends: &str, turn: &str, happens: Signal) -> (Row, Row) {
    let mut server = ServeProcess::start("--threads 1");
    let line = format!(
        "--backend {backends} --steps 2000 --batch-size 16 --seed 5 --seeds 2 --remote-timeout 2 --json all.json \
         --remote {}",
        server.address
    );
    // Only some of the results are available.
    let finished = lose(&mut server, &line, turn, happens).expect_status(1);
    let finished = finished.expect_errors(&[&format!("on burn-remote: {BROKEN}")]);
    let document: Value = finished.json_file("all.json");
    let found: Comparison = serde_json::from_value(document["comparisons"][0].clone()).unwrap();
    let row = |backend: &str| found.rows.iter().find(|row| row.contender.backend == backend).unwrap().clone();
    (row("burn-flex"), row("burn-remote"))
}

fn seeds(row: &Row) -> &[u32] {
    row.figures.as_ref().map_or(&[], |figures| figures.seeds.as_slice())
}

#[test]
fn lost_server_costs_a_comparison_only_its_later_results() {
    for happens in [Signal::SIGSTOP, Signal::SIGKILL] {
        for (backends, turn) in [
            ("burn-flex,burn-remote", "on burn-remote, seed 5 (2 of 4)"),
            ("burn-remote,burn-flex", "on burn-flex, seed 5 (2 of 4)"),
        ] {
            let (processor, remote) = compared(backends, turn, happens);
            assert_eq!((seeds(&processor), &processor.outcome), ([5, 6].as_slice(), &RowOutcome::Completed));
            let RowOutcome::Refused { reason } = &remote.outcome else { panic!("{remote:?}") };
            assert!(reason.contains(BROKEN), "{remote:?}");
            assert!(backends.starts_with("burn-remote") || seeds(&remote).is_empty(), "{remote:?}");
        }
    }
}

#[test]
fn server_lost_during_steps_costs_only_its_own_results() {
    for happens in [Signal::SIGSTOP, Signal::SIGKILL] {
        let mut server = ServeProcess::start("--threads 1");
        let line = format!(
            "steps --backend burn-flex,burn-remote --batch-sizes 16 --unchecked --seconds-per-workload 6 \
             --remote-timeout 2 --json --remote {}",
            server.address
        );
        // The window after the first one is on the remote device.
        let finished = lose(&mut server, &line, "tiny, batches of 16 · burn-flex ", happens).expect_status(1);
        let document: Value = finished.json();
        let entries = document["workloads"][0]["sizes"][0]["entries"].as_array().unwrap();
        let ended: Vec<_> = entries.iter().map(|entry| (&entry["backend"], &entry["outcome"])).collect();
        let [flex, remote] = ["burn-flex", "burn-remote"].map(Value::from);
        assert_eq!(ended, [(&flex, &"measured".into()), (&remote, &"failed".into())], "{document}");
        finished.expect_errors(&[BROKEN]);
    }
}

fn address(server: &FakeServer) -> &str {
    server.url.trim_start_matches("http://")
}

#[test]
fn missing_and_foreign_servers_are_distinguished() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let silent = FakeServer::start(|_| FakeAnswer::Silence);
    let web_server = FakeServer::start(|_| FakeAnswer::http(404, "", "nothing here"));
    let rude = FakeServer::start(|_| FakeAnswer::Raw(Vec::new()));
    let cases = [
        (closed.as_str(), "connection refused"),
        (address(&silent), "no answer within 1 s"),
        (address(&web_server), "no device is served at"),
        (address(&rude), "the connection was closed without an answer"),
        ("no-such-host.invalid", "the host is unknown"),
    ];
    for (address, part) in cases {
        let line = format!("--backend burn-remote --steps 5 --remote-timeout 1 --remote {address}");
        Runner::new(&line).tiny().run().expect_status(2).expect_errors(&[part, address, "native-runner serve-device"]);
    }
    let line = format!("steps --backend burn-remote --workload keras-mnist-mlp --remote {closed}");
    run(&line, 2).expect_errors(&["connection refused"]);
}

#[test]
fn suspended_client_resumes_waiting_with_a_limit() {
    let silent = FakeServer::start(|_| FakeAnswer::Silence);
    let line = format!("--backend burn-remote --steps 5 --remote-timeout 2 --remote {}", address(&silent));
    let mut client = Runner::new(&line).tiny().start();
    while silent.received().is_empty() {
        assert_eq!(client.process.0.try_wait().unwrap(), None, "it exited early");
        thread::sleep(Duration::from_millis(1));
    }
    let started = Instant::now();
    while client.process.0.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Running::SILENCE, "it waits for ever");
        for (signal, milliseconds) in [(Signal::SIGSTOP, 50), (Signal::SIGCONT, 200)] {
            client.signal(signal);
            thread::sleep(Duration::from_millis(milliseconds));
        }
    }
    client.end().expect_status(2).expect_errors(&["no answer within 2 s"]);
}

#[test]
fn remote_back_end_and_host_need_each_other() {
    expect_refusals(&[
        ("--backend burn-remote", 2, &["needs --remote HOST[:PORT]"]),
        ("--backend burn-flex --remote gpu", 2, &["a remote device works only with the backend `burn-remote`"]),
        ("--backend burn-remote --remote ws://gpu", 2, &["as in `gpu.example:4400`"]),
        ("steps --backend burn-flex --remote gpu", 2, &["a remote device works only with the backend `burn-remote`"]),
    ]);
    run("backends", 0).expect_output(&["runs with --remote HOST[:PORT]"]);
}

#[test]
fn unservable_back_end_and_taken_port_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let on_address = format!("--backend burn-flex --bind {address}");
    let cases: [(&str, i32, &[&str]); 5] = [
        ("--bind 127.0.0.1:0 --backend wgsl", 2, &["one of Burn's", "burn-flex"]),
        ("--bind 127.0.0.1:0 --backend burn-remote", 2, &["one of Burn's", "burn-flex"]),
        ("--bind 127.0.0.1:0 --backend abacus", 2, &["abacus", "burn-flex"]),
        ("--bind 127.0.0.1:0 --backend burn-flex --adapter discrete", 2, &["discrete", "(Burn, "]),
        (&on_address, 1, &["cannot listen on", &address]),
    ];
    expect_refusals_of(|line| Runner::new("serve-device").args(line), &cases);
    run("serve-device --help", 0).expect_output(&["Examples:", "ssh -N -L"]);
}

#[test]
fn an_address_that_others_can_reach_comes_with_a_warning() {
    let server = Runner::new("serve-device --backend burn-flex --bind 0.0.0.0:0").start();
    server.stdout.recv().unwrap();
    server.signal(Signal::SIGTERM);
    server.end().expect_status(0).expect_errors(&["neither authenticated nor encrypted"]);
}

#[test]
fn golden_traces_through_two_served_devices_have_the_golden_numbers() {
    let (_servers, two) = two_servers();
    for name in
        ["keras-mnist-mlp-dropout", "keras-mnist-cnn-small", "keras-mnist-hrnn-small", "tensorflow-cifar10-small"]
    {
        let line = format!("{} --remote {two}", trace_line(name, "burn-remote"));
        expect_golden(name, "two served devices", &run(&line, 0).stdout);
    }
}

#[test]
fn devices_that_cannot_share_a_batch_are_refused() {
    let (servers, two) = two_servers();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let [first, second] = servers.each_ref().map(|server| server.address.as_str());
    let same = first.replace("127.0.0.1", "localhost");
    let other = ServeProcess::start("--threads 2");
    let cases = [
        (format!("{first},{first}"), format!("with {first} twice")),
        (format!("{first},{same}"), format!("but is {first} and {same}, which are the same device")),
        (format!("{first},{closed}"), format!("no device is served at {closed}: connection refused")),
        (format!("{closed},{second}"), format!("no device is served at {closed}: connection refused")),
        (format!("{two} --devices 3"), "omitted, or 2, the number of addresses of --remote".to_owned()),
        (format!("{two} --adapter all"), "several served devices are selected by their addresses".to_owned()),
        (format!("{two} --overlap on"), "exchange gradients after the backward pass".to_owned()),
        (format!("{two} --input stream"), "does not support the input mode".to_owned()),
        (format!("{two} --precision f64"), "in f32 only".to_owned()),
        (format!("{first},{}", other.address), format!("these differ: {first} is remote ")),
        (format!("{two} --seeds 2"), "trains on one device each".to_owned()),
        (format!("{two} --batch-size 1"), "one sample for each device, but is 1".to_owned()),
        (format!("{two} --upload http://127.0.0.1:9 --yes"), "a run on 2 devices cannot be uploaded".to_owned()),
        (format!("{first},"), "as in `gpu.example:4400`".to_owned()),
    ];
    for (line, part) in cases {
        let line = format!("--backend burn-remote --workload keras-mnist-mlp --remote {line}");
        run(&line, 2).expect_errors(&[&part]);
    }
    let line = format!("steps --backend burn-remote --workload keras-mnist-mlp --remote {two}");
    run(&line, 2).expect_errors(&["set a single address"]);
}
