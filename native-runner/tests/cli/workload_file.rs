//! User-defined networks from files (docs/WORKLOADS.md).

use std::path::{Path, PathBuf};
use std::{env, fs};

use results::api::StartRun;
use results::{Departure, RunRecord};
use serde_json::Value;

use crate::study::StudyFiles;
use crate::support::*;

fn documented(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// Network of two layers, small enough for the plain reference.
const SMALL: &str = "\
name = \"small\"
data_set = \"mnist\"
batch_size = 16
optimizer = { rule = { sgd = { momentum = 0.9 } }, learning_rate = 0.01 }
layers = [
    { conv2d = { filters = 4, kernel_size = 5, stride = 3, activation = \"relu\" } },
    { dense = { units = 10 } },
]
";

/// Returns a language model of a single product, which reads windows of this many characters.
fn with_windows(characters: u32) -> String {
    format!(
        "name = \"text\"\ndata_set = \"moby-dick\"\nwindows = {{ characters = {characters}, per_epoch = 4 }}\n\
         batch_size = 4\noptimizer = {{ rule = {{ sgd = {{ momentum = 0.9 }} }}, learning_rate = 0.01 }}\n\
         layers = [{{ embedding = {{ units = 8, initializer = {{ normal = {{ deviation = 1 }} }} }} }}, \
         \"word_scores\"]\n"
    )
}

fn with_files(line: &str, files: &[(&str, &str)]) -> Runner {
    let runner = Runner::new(line);
    for (name, text) in files {
        fs::write(runner.folder.path().join(name), text).unwrap();
    }
    runner
}

/// `steps` compares losses and gradients of each network with the plain reference before timing anything.
#[test]
#[ignore = "compiles every kernel"]
fn unusual_networks_compute_the_same_everywhere() {
    let Some(adapter) = any_adapter() else { return };
    let burn = if cfg!(feature = "burn-flex") { ",burn-flex" } else { "" };
    let broad = include_str!("../../src/workload_file/broad.toml");
    // Whitened patches are tested with the built-in network that uses them.
    let broad = broad.replace(", kernel_initializer = { whitened_patches = { epsilon = 0.001 } }", "");
    assert!(!broad.contains("whitened"));
    let line = format!(
        "steps --backend wgsl{burn} {adapter} --workload-file broad.toml --batch-sizes 8 --seconds-per-workload 0.5 --json"
    );
    let finished = with_files(&line, &[("broad.toml", &broad)]).run().expect_status(0);
    let document: Value = finished.json();
    let entries = document["workloads"][0]["sizes"][0]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1 + usize::from(!burn.is_empty()));
    assert!(entries.iter().all(|entry| entry["samples_per_second"].as_f64().unwrap() > 0.0), "{entries:?}");
}

#[test]
fn files_stand_beside_names_and_count_once() {
    // A diverged network skips evaluation, which would take longest.
    let line = "--backend reference --steps 3 --batch-size 4 --workload keras-mnist-mlp,keras-mnist-mlp --workload-file small.toml \
                --workload-file small.toml --learning-rate 1e30 --json -";
    let finished = with_files(line, &[("small.toml", SMALL)]).run().expect_status(3);
    let mut names: Vec<String> = finished.json::<RunRecord>().workloads.into_iter().map(|of| of.workload).collect();
    names.sort_unstable();
    assert_eq!(names, ["keras-mnist-mlp", "small"]);
    expect_parts(&finished.stderr, &["small is a network from a file"]);
}

#[test]
fn what_is_wrong_is_shown_with_its_line() {
    let wrong = SMALL.replace("kernel_size = 5", "kernel_size = 29");
    let large = format!("{SMALL}{}", "# more\n".repeat(20_000));
    let files = [
        ("wrong.toml", &*wrong),
        ("large.toml", &large),
        ("small.toml", SMALL),
        ("other.toml", SMALL),
        ("small.txt", SMALL),
    ];
    let place = &["wrong.toml, line 6, column 45: a window of 29 × 29 does not fit", "^^"];
    let cases: [(&str, i32, &[&str]); 11] = [
        ("--workload-file wrong.toml", 2, place),
        ("steps --workload-file wrong.toml", 2, place),
        ("profile --workload-file wrong.toml", 2, place),
        ("trace --workload-file wrong.toml --seed 1 --batch-size 1 --steps 1", 2, place),
        ("workloads --workload-file wrong.toml", 2, place),
        ("--workload-file small.txt", 2, &["small.txt must end in .toml or .json"]),
        ("--workload-file missing.toml", 1, &["cannot read missing.toml"]),
        ("--workload small.toml", 2, &["no workload named `small.toml`", "--workload-file"]),
        ("--workload-file small.toml --workload-file other.toml", 2, &["other.toml", "network named `small`"]),
        ("trace --seed 1 --batch-size 1 --steps 1", 2, &["--workload <NAME>|--workload-file <FILE>"]),
        ("--workload-file large.toml", 2, &["large.toml is larger than 65536 bytes"]),
    ];
    expect_refusals_of(|line| with_files(line, &files), &cases);
}

#[test]
fn only_one_unchanged_language_model_is_uploaded() {
    let upload = "--backend reference --workload-file small.toml --upload http://127.0.0.1:9 --yes";
    let text = with_windows(16);
    let files = [("small.toml", SMALL), ("text.toml", &*text), ("wide.toml", &with_windows(100_000))];
    let of = |file: &str, more: &str| format!("{} {more}", upload.replace("small.toml", file));
    let cases: [(String, i32, &[&str]); 5] = [
        (of("small.toml", ""), 2, &["does not accept the network of small.toml", "only these data sets: moby-dick"]),
        (of("text.toml", "--workload gpt-nano"), 2, &["a single network from a file"]),
        (of("text.toml", "--batch-size 8"), 2, &["--batch-size does not apply", "`batch_size` in the file"]),
        (of("text.toml", "--seed 8"), 2, &["--seed does not apply"]),
        (of("wide.toml", ""), 2, &["wide.toml", "characters"]),
    ];
    let cases: Vec<(&str, i32, &[&str])> =
        cases.iter().map(|(line, status, parts)| (&**line, *status, *parts)).collect();
    expect_refusals_of(|line| with_files(line, &files), &cases);

    let line = "--backend reference --steps 1 --batch-size 4 --workload-file small.toml --json record.json";
    let kept = with_files(line, &files).run().expect_status(0);
    let server = leaderboard();
    let record = kept.folder.path().join("record.json");
    let later = run(&format!("upload {} --yes --to {}", record.display(), server.url), 2);
    later.expect_errors(&["small is a network from a file", "--workload-file FILE --upload URL"]);
    assert!(server.received().is_empty());
}

#[test]
#[ignore = "measures until the throughput is steady"]
fn a_language_model_is_announced_with_its_definition() {
    let server = leaderboard();
    let line = format!("--backend reference --workload-file text.toml --epochs 1 --upload {} --yes", server.url);
    let text = with_windows(2048);
    with_files(&line, &[("text.toml", &text)]).run().expect_status(0).expect_errors(&["open suite version 1"]);
    let received = server.received();
    let start: StartRun = received[0].json();
    let network = start.network.unwrap();
    assert_eq!((start.suite.name.as_str(), &network["published_epochs"]), ("open", &1.into()));
    let record: RunRecord = received.last().unwrap().json();
    assert_eq!(record.workloads[0].network.as_ref(), Some(&network));
    assert_eq!(record.requested.length, None);
    assert!(matches!(&record.departures[..], [Departure::NetworkFile { .. }, Departure::Reference]), "{record:?}");
}

#[test]
fn a_file_and_the_schema_are_shown() {
    let show = |line: &str| with_files(line, &[("small.toml", SMALL)]).run().expect_status(0);
    let text = one_line(&show("workloads --workload-file small.toml").stdout);
    // 5·5·4 + 4, and 8·8·4·10 + 10.
    assert!(text.starts_with("small") && text.contains("2674 parameters") && text.contains("from a file"), "{text}");
    let listed: Value = show("workloads --json --workload-file small.toml").json();
    assert_eq!((&listed[0]["name"], &listed[0]["parameters"]), (&"small".into(), &2674.into()));

    let printed = run("workloads --schema", 0).stdout;
    let written = fs::read_to_string(documented("workload.schema.json")).unwrap();
    assert_eq!(printed, written, "`native-runner workloads --schema > docs/workload.schema.json` writes it anew");
}

#[test]
fn a_study_trains_files_and_notices_that_one_has_changed() {
    let study = StudyFiles::new("");
    study.write_of(&["small.toml", "keras-mnist-mlp"], "batch_sizes = [4]\nlimits = [{ steps = 1 }]");
    let write = |text: &str| fs::write(study.file().with_file_name("small.toml"), text).unwrap();
    write(SMALL);
    // Network files are searched next to the study file, regardless of the working folder.
    let run = |words: &str| study.runner(words).run();
    run("--dry-run").expect_status(0).expect_output(&["small", "keras-mnist-mlp"]);
    run("").expect_status(0);
    let small = study.cell("/spec/workloads/0", "small");
    assert_eq!(small["record"]["workloads"][0]["network"]["name"], "small", "{small}");
    let server = leaderboard();
    let upload = run(&format!("--upload {} --yes", server.url)).expect_status(0);
    upload.expect_errors(&["1 of external programs or networks from files are not uploaded"]);
    assert_eq!(server.received().len(), 1);

    write(&SMALL.replace("filters = 4", "filters = 5"));
    let parts = ["belongs to a different study", "small.toml has changed since the folder was created"];
    run("").expect_status(2).expect_errors(&parts);
    write("name = 7\n");
    run("").expect_status(2).expect_errors(&["[[matrix]] 1", "small.toml, line 1, column 8", "expected a string"]);
}
