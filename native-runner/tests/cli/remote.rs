//! A device served by another process, over the loopback interface.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use results::comparison::{Comparison, Row, RowOutcome};
use results::{Outcome, RunRecord, WorkloadRecord};
use serde_json::Value;
use tempfile::TempDir;

use crate::external::{expect_golden, trace_line};
use crate::support::{Answer, FakeServer, Runner, expect_parts, expect_refusals, read_json};

const SMALL: &str = "--workload keras-mnist-mlp --steps 5 --batch-size 16 --seed 7 --json result.json";
/// Time without output after which a client counts as hanging.
const SILENCE: Duration = Duration::from_secs(300);

/// A `serve-device` process on a free port.
struct Server {
    address: String,
    child: Child,
    stderr: BufReader<ChildStderr>,
    _runner: Runner,
}

impl Server {
    fn start(arguments: &str) -> Self {
        let mut runner = Runner::new(&format!("serve-device --backend burn-flex --bind 127.0.0.1:0 {arguments}"));
        let mut child = runner.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit(' ').next().unwrap().to_owned();
        assert!(
            line.starts_with("Serving ") && line.contains(" (Burn, ") && address.starts_with("127.0.0.1:"),
            "{line}"
        );
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { address, child, stderr, _runner: runner }
    }

    fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }

    fn wait_for_a_client(&mut self) {
        let mut line = String::new();
        while !line.contains("begins to compute") {
            line.clear();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "the server ended");
        }
    }

    /// Sends Ctrl-C, and returns the output since then.
    fn stop(mut self) -> String {
        self.signal(Signal::SIGINT);
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{rest}");
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn remote_device_trains_like_a_local_one() {
    let mut server = Server::start("--threads 1");
    let line = format!("--backend burn-remote --remote {} {SMALL}", server.address);
    let remote = Runner::new(&line).run().expect_status(0);
    server.wait_for_a_client();
    let local = Runner::new(&format!("--backend burn-flex --threads 1 {SMALL}")).run().expect_status(0);
    let [remote, local] = [remote, local].map(|finished| finished.json_file::<RunRecord>("result.json"));
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
    assert!(server.stop().contains("Stopped."));
}

/// A client of the server. A thread reads its output, so that it never blocks on the test.
struct Client {
    child: Child,
    printed: Receiver<String>,
    runner: Runner,
}

impl Client {
    /// Starts a client that trains for minutes, and waits for its first progress.
    fn start(server: &mut Server, arguments: &str) -> Self {
        let line =
            format!("--backend burn-remote {arguments} --workload keras-mnist-mlp --seconds 300 --batch-size 16");
        Self::start_until(server, &line, |line| line.contains(" · loss "))
    }

    /// Starts a client and returns once it has printed such a line.
    fn start_until(server: &mut Server, line: &str, reached: impl Fn(&str) -> bool) -> Self {
        let remote = format!("--remote {}", server.address);
        // With other devices in the line, it shares each batch as the first of them.
        let line = match line.split_once("--remote ") {
            Some((before, others)) => format!("{before} {remote},{others}"),
            None => format!("{line} {remote}"),
        };
        let mut runner = Runner::new(&line);
        let mut child = runner.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        server.wait_for_a_client();
        let mut line = String::new();
        let mut before = String::new();
        while !reached(&line) {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the client ended:\n{before}");
            before.push_str(&line);
        }
        let (sender, printed) = channel();
        thread::spawn(move || stderr.lines().try_for_each(|line| sender.send(line.unwrap() + "\n")));
        Self { child, printed, runner }
    }

    /// Returns the exit status, the output so far, and the folder.
    fn end(mut self) -> (Option<i32>, String, TempDir) {
        let mut printed = String::new();
        loop {
            match self.printed.recv_timeout(SILENCE) {
                Ok(line) => printed.push_str(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.child.kill().unwrap();
                    panic!("it hangs: {printed}");
                }
            }
        }
        (self.child.wait().unwrap().code(), printed, self.runner.folder)
    }
}

#[test]
fn server_that_ends_fails_the_training() {
    for signal in [Signal::SIGKILL, Signal::SIGINT] {
        let mut server = Server::start("--threads 1");
        let client = Client::start(&mut server, "");
        server.signal(signal);
        let (status, told, _) = client.end();
        assert_eq!(status, Some(4), "{told}");
        expect_parts(&told, &["error: the link to the remote device broke"]);
        assert!(!told.contains("panicked"), "{told}");
    }
}

#[test]
fn a_server_that_hangs_ends_the_training_with_an_error() {
    let mut server = Server::start("--threads 1");
    let client = Client::start(&mut server, "--remote-timeout 2");
    server.signal(Signal::SIGSTOP);
    let (status, told, _) = client.end();
    assert_eq!(status, Some(4), "{told}");
    expect_parts(&told, &["error: the link to the remote device broke"]);
}

/// Compares `burn-flex` and `burn-remote` from two seeds, and returns one row each. Sends the signal `happens` to the
/// server once a line contains `turn`.
fn compared(backends: &str, turn: &str, happens: Signal) -> (Row, Row) {
    let mut server = Server::start("--threads 1");
    let line = format!(
        "--backend {backends} --workload keras-mnist-mlp --steps 300 --batch-size 16 --seed 5 --seeds 2 \
         --remote-timeout 2 --json all.json"
    );
    let client = Client::start_until(&mut server, &line, |line| line.contains(turn));
    server.signal(happens);
    let (status, told, folder) = client.end();
    // Only some of the results are available.
    assert_eq!(status, Some(1), "{told}");
    expect_parts(&told, &["on burn-remote: the link to the remote device broke"]);
    assert!(!told.contains("panicked"), "{told}");
    let document: Value = read_json(&folder.path().join("all.json"));
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
            assert!(reason.contains("the link to the remote device broke"), "{remote:?}");
            assert!(backends.starts_with("burn-remote") || seeds(&remote).is_empty(), "{remote:?}");
        }
    }
}

#[test]
fn server_lost_during_steps_costs_only_its_own_results() {
    for happens in [Signal::SIGSTOP, Signal::SIGKILL] {
        let mut server = Server::start("--threads 1");
        let line = "steps --backend burn-flex,burn-remote --workload keras-mnist-mlp --batch-sizes 16 --unchecked \
                    --seconds-per-workload 20 --remote-timeout 2 --json";
        // The window after the first one is on the remote device.
        let mut client =
            Client::start_until(&mut server, line, |line| line.contains("keras-mnist-mlp, batches of 16 · burn-flex "));
        server.signal(happens);
        let mut written = String::new();
        client.child.stdout.take().unwrap().read_to_string(&mut written).unwrap();
        let (status, told, _) = client.end();
        assert_eq!(status, Some(1), "{told}");
        let document: Value = serde_json::from_str(&written).unwrap();
        let entries = document["workloads"][0]["sizes"][0]["entries"].as_array().unwrap();
        let ended: Vec<_> = entries.iter().map(|entry| (&entry["backend"], &entry["outcome"])).collect();
        let [flex, remote] = ["burn-flex", "burn-remote"].map(Value::from);
        assert_eq!(ended, [(&flex, &"measured".into()), (&remote, &"failed".into())], "{document}");
        expect_parts(&told, &["the link to the remote device broke"]);
    }
}

#[test]
fn missing_and_foreign_servers_are_distinguished() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let silent = FakeServer::start(|_| Answer::Silence);
    let web_server = FakeServer::start(|_| Answer::Http(404, &[], "nothing here".to_owned()));
    let rude = FakeServer::start(|_| Answer::Raw(b"".to_vec()));
    let port = |server: &FakeServer| server.url.trim_start_matches("http://").to_owned();
    let cases = [
        (closed.clone(), "connection refused"),
        (format!("{} --remote-timeout 1", port(&silent)), "no answer within 1 s"),
        (port(&web_server), "no device is served at"),
        (port(&rude), "the connection was closed without an answer"),
        ("no-such-host.invalid".to_owned(), "the host is unknown"),
    ];
    for (remote, part) in cases {
        let line = format!("--backend burn-remote {SMALL} --remote {remote}");
        let finished = Runner::new(&line).run().expect_status(2);
        let address = remote.split(' ').next().unwrap();
        finished.expect_errors(&[part, address, "native-runner serve-device"]);
    }
    let line = format!("steps --backend burn-remote --workload keras-mnist-mlp --remote {closed}");
    Runner::new(&line).run().expect_status(2).expect_errors(&["connection refused"]);
}

#[test]
fn suspended_client_resumes_waiting_with_a_limit() {
    let silent = FakeServer::start(|_| Answer::Silence);
    let address = silent.url.trim_start_matches("http://");
    let mut runner = Runner::new(&format!("--backend burn-remote {SMALL} --remote-timeout 2 --remote {address}"));
    let mut client = runner.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while silent.received().is_empty() {
        assert_eq!(client.try_wait().unwrap(), None, "it exited early");
        thread::sleep(Duration::from_millis(1));
    }
    let started = Instant::now();
    while client.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < SILENCE, "it waits for ever");
        for (signal, milliseconds) in [(Signal::SIGSTOP, 50), (Signal::SIGCONT, 200)] {
            send(&client, signal);
            thread::sleep(Duration::from_millis(milliseconds));
        }
    }
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    expect_parts(&String::from_utf8(output.stderr).unwrap(), &["no answer within 2 s"]);
}

#[test]
fn remote_back_end_and_host_need_each_other() {
    let cases = [
        ("--backend burn-remote", ["needs --remote HOST[:PORT]"]),
        ("--backend burn-flex --remote gpu", ["a remote device works only with the backend `burn-remote`"]),
        ("--backend burn-remote --remote ws://gpu", ["as in `gpu.example:4400`"]),
        ("steps --backend burn-flex --remote gpu", ["a remote device works only with the backend `burn-remote`"]),
    ];
    expect_refusals("", &cases);
    Runner::new("backends").run().expect_status(0).expect_output(&["runs with --remote HOST[:PORT]"]);
}

#[test]
fn unservable_back_end_and_taken_port_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, status, parts) in [
        ("--backend wgsl".to_owned(), 2, ["one of Burn's", "burn-flex"]),
        ("--backend burn-remote".to_owned(), 2, ["one of Burn's", "burn-flex"]),
        ("--backend abacus".to_owned(), 2, ["abacus", "burn-flex"]),
        ("--backend burn-flex --adapter discrete".to_owned(), 2, ["discrete", "(Burn, "]),
        (format!("--backend burn-flex --bind {address}"), 1, ["cannot listen on", address.as_str()]),
    ] {
        let bind = if arguments.contains("--bind") { "" } else { "--bind 127.0.0.1:0" };
        let line = format!("serve-device {arguments} {bind}");
        Runner::new(&line).run().expect_status(status).expect_errors(&parts);
    }
    Runner::new("serve-device --help").run().expect_status(0).expect_output(&["Examples:", "ssh -N -L"]);
}

#[test]
fn an_address_that_others_can_reach_comes_with_a_warning() {
    let mut runner = Runner::new("serve-device --backend burn-flex --bind 0.0.0.0:0");
    let mut child = runner.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    send(&child, Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let warning = "neither authenticated nor encrypted";
    expect_parts(&String::from_utf8(output.stderr).unwrap(), &[warning]);
}

/// Starts two servers, and returns them with their addresses for `--remote`.
fn two_servers() -> ([Server; 2], String) {
    let servers = [0, 1].map(|_| Server::start("--threads 1"));
    let addresses = servers.each_ref().map(|server| server.address.as_str()).join(",");
    (servers, addresses)
}

/// Returns the file of a network with batch normalization, dropout, shortcuts, augmentation, momentum and a schedule.
fn network() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/workloads/mnist-residual.toml");
    let text = fs::read_to_string(path).unwrap();
    let with_dropout = "[[layers]]\ndropout = { rate = 0.3 }\n[[layers]]\ndense = { units = 10 }";
    text.replace("[[layers]]\ndense = { units = 10 }", with_dropout)
}

/// Returns the result of a short run of this network on these devices, through its whole schedule.
fn trained(devices: &str) -> (RunRecord, String) {
    let line = format!(
        "--backend burn-remote --remote {devices} --workload-file network.toml --steps 10 \
         --batch-size 15 --seed 7 --json -"
    );
    let runner = Runner::new(&line);
    fs::write(runner.folder.path().join("network.toml"), network()).unwrap();
    let finished = runner.run().expect_status(0);
    (finished.json(), finished.stderr)
}

#[test]
fn two_served_devices_train_as_one() {
    assert!(network().contains("dropout"));
    let (servers, two) = two_servers();
    let ((one, _), (two, shown)) = (trained(&servers[0].address), trained(&two));
    let (of_one, of_two): (&WorkloadRecord, &WorkloadRecord) = (&one.workloads[0], &two.workloads[0]);
    assert_eq!((&of_one.outcome, &of_two.outcome), (&Outcome::Completed, &Outcome::Completed));
    assert_eq!((of_one.first_losses.len(), of_two.first_losses.len()), (10, 10));
    for (found, expected) in of_two.first_losses.iter().zip(&of_one.first_losses) {
        assert!((found - expected).abs() < 1e-4 * expected, "{found} instead of {expected}");
    }
    let loss = |of: &WorkloadRecord| of.evaluations.last().unwrap().loss;
    let (found, expected) = (loss(of_two), loss(of_one));
    assert!((found - expected).abs() < 1e-3 * expected, "{found} instead of {expected}");

    assert!(of_one.communication.is_none());
    let told = of_two.communication.expect("two devices tell each other their gradients");
    assert_eq!((told.devices, two.devices(), told.overlapped), (2, 2, None));
    // One exchange of gradients, and two for each of the four batch normalizations.
    assert_eq!(told.exchanges, 10 * 9);
    assert!(told.bytes > 10 * 4 * 4 * of_two.settings.parameters, "to and from two devices: {told:?}");
    assert!(told.seconds() > 0.0 && told.seconds() < of_two.summary.training_seconds, "{told:?}");
    assert!(two.departures_text(", ").contains("2 devices"), "{:?}", two.departures);
    expect_parts(&shown, &["Devices mnist-residual: 2 devices · communication "]);
}

#[test]
fn golden_traces_through_two_served_devices_have_the_golden_numbers() {
    let (_servers, two) = two_servers();
    for name in
        ["keras-mnist-mlp-dropout", "keras-mnist-cnn-small", "keras-mnist-hrnn-small", "tensorflow-cifar10-small"]
    {
        let finished = Runner::new(&format!("{} --remote {two}", trace_line(name, "burn-remote"))).run();
        expect_golden(name, "two served devices", &finished.expect_status(0).stdout);
    }
}

#[test]
fn lost_server_of_several_ends_the_training() {
    for signal in [Signal::SIGKILL, Signal::SIGSTOP] {
        let ([mut first, second], _) = two_servers();
        let line = format!(
            "--backend burn-remote --remote {} --remote-timeout 2 --workload keras-mnist-mlp --seconds 300 --batch-size 16 \
             --json result.json",
            second.address
        );
        let client = Client::start_until(&mut first, &line, |line| line.contains(" · loss "));
        second.signal(signal);
        let (status, told, folder) = client.end();
        assert_eq!(status, Some(4), "{told}");
        let expected = format!("error: device 2 of 2 ({}): the link to the remote device broke", second.address);
        expect_parts(&told, &[&expected]);
        assert!(!told.contains("panicked"), "{told}");
        assert!(!folder.path().join("result.json").exists(), "nothing was finished");
    }
}

#[test]
fn devices_that_cannot_share_a_batch_are_refused() {
    let (servers, two) = two_servers();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let [first, second] = servers.each_ref().map(|server| server.address.as_str());
    let same = first.replace("127.0.0.1", "localhost");
    let other = Server::start("--threads 2");
    let cases = [
        (format!("--remote {first},{first}"), format!("with {first} twice")),
        (format!("--remote {first},{same}"), format!("but is {first} and {same}, which are the same device")),
        (format!("--remote {first},{closed}"), format!("no device is served at {closed}: connection refused")),
        (format!("--remote {closed},{second}"), format!("no device is served at {closed}: connection refused")),
        (format!("--remote {two} --devices 3"), "omitted, or 2, the number of addresses of --remote".to_owned()),
        (format!("--remote {two} --adapter all"), "several served devices are selected by their addresses".to_owned()),
        (format!("--remote {two} --overlap on"), "exchange gradients after the backward pass".to_owned()),
        (format!("--remote {two} --input stream"), "does not support the input mode".to_owned()),
        (format!("--remote {two} --precision f64"), "in f32 only".to_owned()),
        (format!("--remote {first},{}", other.address), format!("these differ: {first} is remote ")),
        (format!("--remote {two} --seeds 2"), "trains on one device each".to_owned()),
        (format!("--remote {two} --batch-size 1"), "one sample for each device, but is 1".to_owned()),
        (
            format!("--remote {two} --upload http://127.0.0.1:9 --yes"),
            "a run on 2 devices cannot be uploaded".to_owned(),
        ),
        (format!("--remote {first},"), "as in `gpu.example:4400`".to_owned()),
    ];
    for (line, part) in cases {
        let line = format!("--backend burn-remote --workload keras-mnist-mlp {line}");
        Runner::new(&line).run().expect_status(2).expect_errors(&[&part]);
    }
    let line = format!("steps --backend burn-remote --workload keras-mnist-mlp --remote {two}");
    Runner::new(&line).run().expect_status(2).expect_errors(&["set a single address"]);
}
