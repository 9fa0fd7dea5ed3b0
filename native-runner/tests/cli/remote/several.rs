//! Several served devices that share each batch.

use std::path::Path;

use results::{Outcome, WorkloadRecord};

use super::*;
use crate::external::{expect_golden, trace_line};

/// Two servers, and their addresses as `--remote` takes them.
fn two_servers() -> ([Server; 2], String) {
    let servers = [0, 1].map(|_| Server::start("--threads 1"));
    let addresses = servers.each_ref().map(|server| server.address.as_str()).join(",");
    (servers, addresses)
}

/// A network with batch normalisation, dropout, shortcuts, augmentation, momentum and a schedule, in a file.
fn network() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/workloads/mnist-residual.toml");
    let text = fs::read_to_string(path).unwrap();
    let with_dropout = "[[layers]]\ndropout = { rate = 0.3 }\n[[layers]]\ndense = { units = 10 }";
    text.replace("[[layers]]\ndense = { units = 10 }", with_dropout)
}

/// What a short run of that network on these devices has come to, through all of its schedule.
fn trained(devices: &str) -> (RunRecord, String) {
    let line = format!(
        "--backend burn-remote --remote {devices} --workload-file network.toml --steps 10 \
         --batch-size 15 --seed 7 --json -"
    );
    let runner = Runner::new(&line);
    fs::write(runner.folder.path().join("network.toml"), network()).unwrap();
    let finished = runner.run().expect_status(0);
    (serde_json::from_str(&finished.stdout).unwrap(), one_line(&finished.stderr))
}

#[test]
fn two_served_devices_train_as_one_with_the_whole_batch_and_say_what_they_told_each_other() {
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
    // The gradients, and twice for each of the four batch normalisations.
    assert_eq!(told.exchanges, 10 * 9);
    assert!(told.bytes > 10 * 4 * 4 * of_two.settings.parameters, "to and from two devices: {told:?}");
    assert!(told.seconds() > 0.0 && told.seconds() < of_two.summary.training_seconds, "{told:?}");
    assert!(two.non_standard.contains(&"2 devices".to_owned()), "{:?}", two.non_standard);
    assert!(shown.contains("Devices mnist-residual: 2 devices · communication "), "{shown}");
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
fn of_several_servers_one_that_ends_or_hangs_ends_the_training_with_its_name_and_no_figure() {
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
        assert!(one_line(&told).contains(&expected), "{told}");
        assert!(!told.contains("panicked"), "{told}");
        assert!(!folder.path().join("result.json").exists(), "nothing was finished");
    }
}

#[test]
fn devices_that_cannot_share_a_batch_are_refused_with_the_reason() {
    let (servers, two) = two_servers();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let [first, second] = servers.each_ref().map(|server| server.address.as_str());
    let same = first.replace("127.0.0.1", "localhost");
    let other = Server::start("--threads 2");
    let cases = [
        (format!("--remote {first},{first}"), format!("with {first} twice")),
        (format!("--remote {first},{same}"), format!("but is {first} and {same}, which are the same device")),
        (format!("--remote {first},{closed}"), format!("no device is served at {closed}: nobody listens there")),
        (format!("--remote {closed},{second}"), format!("no device is served at {closed}: nobody listens there")),
        (format!("--remote {two} --devices 3"), "left out, or 2, which is how many addresses --remote has".to_owned()),
        (format!("--remote {two} --adapter all"), "several served devices are named by their addresses".to_owned()),
        (format!("--remote {two} --overlap on"), "exchange gradients after the backward pass".to_owned()),
        (format!("--remote {two} --input stream"), "takes no input mode".to_owned()),
        (format!("--remote {two} --precision f64"), "in f32 only".to_owned()),
        (format!("--remote {first},{}", other.address), format!("are not alike: {first} is remote ")),
        (format!("--remote {two} --seeds 2"), "trains on one device each".to_owned()),
        (format!("--remote {two} --batch-size 1"), "one sample for each device, but is 1".to_owned()),
        (format!("--remote {two} --upload http://127.0.0.1:9 --yes"), "nothing that 2 devices trained".to_owned()),
        (format!("--remote {first},"), "as in `gpu.example:4400`".to_owned()),
    ];
    for (line, part) in cases {
        let line = format!("--backend burn-remote --workload keras-mnist-mlp {line}");
        Runner::new(&line).run().expect_status(2).expect_errors(&[&part]);
    }
    let line = format!("steps --backend burn-remote --workload keras-mnist-mlp --remote {two}");
    Runner::new(&line).run().expect_status(2).expect_errors(&["name a single address here"]);
}
