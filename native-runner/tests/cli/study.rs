//! Studies on the processor: cells of a few steps, killed, failed and resumed.

#[cfg(target_os = "linux")]
mod killed;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::*;

/// The fastest backend of this build that computes on the processor.
const BACKEND: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };

/// File and folder of a study, which outlive the commands.
pub(crate) struct StudyFiles {
    place: TempDir,
}

impl StudyFiles {
    pub(crate) fn new(more: &str) -> Self {
        let study = Self { place: tempfile::tempdir().unwrap() };
        study.write(more);
        study
    }

    fn write(&self, more: &str) {
        self.write_of(&[TINY], more);
    }

    pub(crate) fn write_of(&self, workloads: &[&str], more: &str) {
        let head = format!("title = \"A test\"\n[[matrix]]\nworkloads = {workloads:?}\n");
        fs::write(self.file(), format!("{head}backends = [\"{BACKEND}\"]\n{more}\n")).unwrap();
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.place.path().join("mine.toml")
    }

    fn output(&self) -> PathBuf {
        self.place.path().join("out")
    }

    pub(crate) fn runner(&self, words: &str) -> Runner {
        Runner::new("study").arg(self.file()).arg("--output").arg(self.output()).args(words)
    }

    fn plan(&self) -> Value {
        read_json(&self.output().join("study.json"))
    }

    fn files(&self) -> BTreeMap<String, String> {
        let Ok(entries) = fs::read_dir(self.output().join("cells")) else { return BTreeMap::new() };
        let entries = entries.map(|entry| entry.unwrap());
        let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
        let whole = named.filter(|(name, _)| name.ends_with(".json"));
        whole.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
    }

    fn cells(&self) -> Vec<Value> {
        self.files().values().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// Returns the first cell that has this value in its settings, under this path.
    pub(crate) fn cell(&self, path: &str, value: &str) -> Value {
        self.cells().into_iter().find(|cell| cell["settings"].pointer(path) == Some(&value.into())).unwrap()
    }
}

const SMALL: &str = "batch_sizes = [16, 32]\nlimits = [{ steps = 2 }]";

#[test]
fn every_cell_leaves_its_record_and_is_not_run_again() {
    let study = StudyFiles::new(&format!("{SMALL}\nseeds = [1]"));
    let parts = ["2 of 2 cells would run", "GFLOP", "batch 16"];
    let dry = study.runner("--dry-run").run().expect_status(0).expect_output(&parts);
    assert!(!study.output().exists() && !dry.stderr.contains("(1 of 2"), "{}", dry.stderr);
    study.runner("--only batch-size=16").run().expect_status(0);
    let document: Value = study.runner("--dry-run --json -").run().expect_status(0).json();
    let cells = document["cells"].as_array().unwrap();
    let of = |size: u64| cells.iter().find(|listed| listed["cell"]["settings"]["spec"]["batch_size"] == size).unwrap();
    assert_eq!((&of(16)["would_run"], &of(32)["would_run"]), (&false.into(), &true.into()));
    // The same steps with larger batches.
    assert!(of(32)["flops"].as_f64() > of(16)["flops"].as_f64(), "{document}");
    assert_eq!(study.files().len(), 1, "a dry run trains nothing");

    let finished = study.runner("--json -").run().expect_status(0);
    assert_eq!(finished.json::<Value>()["cells"].as_array().unwrap().len(), 2);
    let parts = ["mine A test", "batch 32", "1 of them already finished", "2, shuffled with seed 1"];
    expect_parts(&finished.stderr, &parts);
    let ids = |cells: &[Value]| cells.iter().map(|cell| cell["id"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!(ids(study.plan()["cells"].as_array().unwrap()), ids(&study.cells()));
    for cell in study.cells() {
        assert_eq!((cell["ending"].as_str(), cell["exit_status"].as_i64()), (Some("completed"), Some(0)));
        let record: results::RunRecord = serde_json::from_value(cell["record"].clone()).unwrap();
        let batch_size = u64::from(record.workloads[0].settings.batch_size);
        assert_eq!(Some(batch_size), cell["settings"]["spec"]["batch_size"].as_u64());
        assert_eq!((record.requested.seed, record.workloads[0].summary.steps), (1, 2));
        assert!(record.departures_text(", ").contains("2 steps"), "{:?}", record.departures);
        assert!(cell["seconds"].as_f64().unwrap() > 0.0);
    }
    let before = study.files();
    let again = study.runner("").run().expect_status(0).expect_errors(&["2 of them already finished"]);
    assert!(again.stdout.contains("batch 32"), "{}", again.stdout);
    study.write(&format!("{SMALL}\nseeds = [2]"));
    let other = study.runner("").run().expect_status(2);
    other.expect_errors(&["belongs to a different study", "seeds: [2] here, [1] in the folder", "--output"]);
    assert_eq!(study.files(), before);

    // An unfinished study of another day is mentioned.
    study.write(&format!("{SMALL}\nseeds = [1]"));
    let place = "studies/mine-2020-01-01";
    fs::create_dir_all(study.place.path().join(place)).unwrap();
    fs::write(study.place.path().join(place).join("study.json"), document["plan"].to_string()).unwrap();
    let mut runner = Runner::new("study mine.toml --dry-run");
    runner.command().current_dir(study.place.path());
    let command = format!("native-runner study mine.toml --dry-run --output {place}");
    runner.run().expect_status(0).expect_errors(&[&format!("{place} has 0 of 2 cells of this study"), &command]);
}

#[test]
fn scaled_study_keeps_and_reports_its_impossible_cell() {
    let study = StudyFiles::new("batch_sizes = [16, 32]\nprecisions = ['f32', 'f16-matrix']\nlimits = [{ steps = 8 }]");
    let text = fs::read_to_string(study.file()).unwrap();
    fs::write(study.file(), format!("repeats = \"Table I of a paper.\"\n{text}")).unwrap();
    let runner = |words: &str| study.runner(&format!("--scale 0.25 --only batch-size=16 {words}"));
    // No backend on the processor uses matrix units.
    let parts = ["! f16-matrix: ", "scaled to 0.25 of the full length"];
    let finished = runner("").run().expect_status(1).expect_output(&parts);
    finished.expect_errors(&["1 of 2 cells have no results", "--retry-failed", "shortened to 0.25"]);
    assert_eq!(study.plan()["scale"], 0.25);
    let [trained, failed] = ["f32", "f16-matrix"].map(|precision| study.cell("/spec/precision", precision));
    assert_eq!((&trained["ending"], trained["scale"].as_f64()), (&"completed".into(), Some(0.25)));
    let steps =
        [&trained["settings"]["spec"]["length"], &trained["record"]["requested"]["length"], &trained["full_limit"]];
    assert_eq!(steps.map(|length| length["steps"].as_u64()), [2, 2, 8].map(Some), "{trained}");
    assert_eq!((failed["ending"].as_str(), failed["exit_status"].as_i64()), (Some("failed"), Some(2)));
    assert!(failed["reason"].as_str().unwrap().contains("f16-matrix"), "{failed}");
    assert!(failed["record"].is_null() && !failed["last_lines"].as_array().unwrap().is_empty(), "{failed}");
    // A failure is a result until a retry is requested.
    runner("").run().expect_status(1).expect_errors(&["2 of them already finished"]);
    runner("--retry-failed").run().expect_status(1);
    let attempts = study.cells().iter().map(|cell| cell["attempts"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(attempts, 1 + 2);
    // A study of full length is a different study.
    let other = study.runner("").run().expect_status(2);
    other.expect_errors(&["belongs to a different study", "scale: 1.0 here, 0.25"]);

    let (found, page) = report(&study);
    expect_parts(&found, &["A test", "mine: 2 of 4 cells have run", "1 of 2 runs has no results: 1 failed"]);
    expect_parts(&found, &["in mine every limit is 25 % of the original"]);
    expect_parts(&page, &["Repeats: Table I of a paper.", "f16-matrix"]);
    let table = study.place.path().join("t.csv");
    let finished = Runner::new("export -o").arg(&table).arg(study.output()).run().expect_status(0);
    finished.expect_errors(&["Written", "1 workload of 1 run.", "Left out: 1 cell without a record"]);
    assert_eq!(fs::read_to_string(&table).unwrap().lines().count(), 1 + 1);
}

/// The error of a program that cannot start is the reason, and the other backend's cell has results.
#[cfg(unix)]
#[test]
fn an_external_program_is_a_back_end_of_a_study() {
    let study = StudyFiles::new("batch_sizes = [16]\nlimits = [{ steps = 1 }]");
    let line = format!("--backend {BACKEND},pytorch");
    study.runner(&line).run().expect_status(2).expect_errors(&["[[matrix]] 1", "no backend `pytorch`", "--program"]);
    let run =
        || study.runner(&line).arg("--program").arg("pytorch=sh -c 'echo no module named torch >&2; exit 1'").run();
    let parts = ["1 of 2 cells cannot run here: pytorch: ", "1 of 2 cells have no results"];
    run().expect_status(1).expect_errors(&parts);
    assert_eq!(study.cell("/spec/backend", BACKEND)["ending"], "completed");
    let failed = study.cell("/spec/backend", "pytorch");
    assert_eq!(failed["ending"], "failed");
    assert!(failed["reason"].as_str().unwrap().contains("no module named torch"), "{failed}");
    assert_eq!(study.plan()["definition"]["programs"]["pytorch"], "sh -c 'echo no module named torch >&2; exit 1'");
    // A study with another command is a different study.
    let other = study.runner(&line).arg("--program").arg("pytorch=false").run().expect_status(2);
    other.expect_errors(&["belongs to a different study", "definition.programs.pytorch"]);
}

#[test]
fn a_cell_that_takes_too_long_is_ended() {
    let study = StudyFiles::new("limits = [{ seconds = 600 }]");
    let finished = study.runner("--cell-timeout 1").run().expect_status(1);
    assert!(finished.stdout.contains("took longer than 1 s"), "{}", finished.stdout);
    assert_eq!(study.cells()[0]["ending"], "timed_out");
}

#[cfg(unix)]
#[test]
fn study_goes_on_where_standard_error_is_closed() {
    let study = StudyFiles::new("batch_sizes = [16]\nlimits = [{ steps = 1 }]");
    let mut runner = study.runner("");
    // The reader is dropped immediately.
    runner.command().stderr(std::io::pipe().unwrap().1);
    runner.run().expect_status(0);
    assert_eq!(study.cells()[0]["ending"], "completed");
}

#[cfg(unix)]
#[test]
fn study_without_possible_cells_opens_backends_once_and_makes_no_folder() {
    let empty = tempfile::tempdir().unwrap();
    let damaged = damaged_data("mnist-train.bin", |bytes| bytes.truncate(1000));
    let study = StudyFiles::new("");
    study.write_of(&["keras-mnist-mlp"], "");
    let starts = study.place.path().join("starts");
    let script = format!("echo start >> {}; echo no module named torch >&2; exit 1", starts.display());
    let with_program = |line: &str| study.runner(line).arg("--program").arg(format!("pytorch=sh -c '{script}'"));
    let [empty, damaged] = [&empty, &damaged].map(|folder| format!("--data {}", folder.path().display()));
    for (line, parts) in [
        (&*empty, &["mnist is not in", "native-runner fetch-data mnist --data"] as &[&str]),
        (&damaged, &["mnist-train.bin has 1000 bytes"]),
        ("--backend wgsl --adapter no-such-gpu", &["wgsl · no-such-gpu: no adapter fits"]),
        ("--backend pytorch", &["pytorch: ", "no module named torch"]),
    ] {
        for words in ["--dry-run", ""] {
            let finished = with_program(line).args(words).run().expect_status(2);
            finished.expect_errors(&["no cell of mine can run here: "]).expect_errors(parts);
            assert!(!study.output().exists());
        }
    }
    assert_eq!(fs::read_to_string(&starts).unwrap().lines().count(), 2);
    // The backend exists, but no backend on the processor uses matrix units.
    study.write("precisions = [\"f16-matrix\"]");
    let finished = study.runner("").run().expect_status(2);
    finished.expect_errors(&[&format!("no cell of mine can run here: {BACKEND} · f16-matrix: ")]);
    assert!(!study.output().exists());
    study.write("batch_sizes = [16, 32]");
    let wgsl = ("wgsl --adapter no-such-gpu", "wgsl · no-such-gpu: no adapter fits");
    for (line, reason) in [wgsl, ("pytorch", "pytorch: ")] {
        let shown = with_program(&format!("--dry-run --backend {BACKEND},{line}")).run().expect_status(0);
        shown.expect_output(&[&format!("2 of 4 cells cannot run here: {reason}"), "2 of 4 cells would run"]);
    }
}

#[test]
fn order_follows_from_the_seed() {
    let seeds = "seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let order = |order_seed: u32| -> Vec<u64> {
        let study = StudyFiles::new(seeds);
        let text = fs::read_to_string(study.file()).unwrap();
        fs::write(study.file(), format!("order_seed = {order_seed}\n{text}")).unwrap();
        let finished = study.runner("--dry-run --json -").run().expect_status(0);
        let document: Value = finished.json();
        let cells = document["plan"]["cells"].as_array().unwrap();
        cells.iter().map(|cell| cell["settings"]["spec"]["seed"].as_u64().unwrap()).collect()
    };
    let first = order(1);
    assert_eq!(order(1), first);
    assert_ne!(order(2), first);
    assert_ne!(first, (1..=10).collect::<Vec<_>>());
}

#[test]
fn mistake_in_a_study_is_shown_with_its_place() {
    let study = StudyFiles::new("colour = 1");
    study.runner("").run().expect_status(2).expect_errors(&["mine.toml", "line 5, column 1", "`batch_sizes`"]);
    assert!(!study.output().exists());
    expect_refusals(&[
        ("study no-such-study", 2, &["no-such-study", "gtdl-batch-size"]),
        ("study keras-five --only batch=5", 2, &["--only", "batch-size"]),
        ("study keras-five --dry-run --only seed=5", 2, &["--only"]),
        ("study keras-five --scale 2", 2, &["--scale", "at most 1"]),
        ("study keras-five --scale 0", 2, &["--scale", "above 0"]),
        ("study keras-five --scale -1", 2, &["--scale", "above 0"]),
        ("study keras-five --scale nan", 2, &["--scale", "above 0"]),
    ]);
}

#[test]
fn built_in_studies_are_listed_and_can_be_copied() {
    let parts = ["keras-backends", "gtdl-combined", "Table XXI", "repeats", "differs", "(34 cells)"];
    run("study", 0).expect_output(&parts);
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("copy.toml"), run("study gtdl-learning-rate --print", 0).stdout).unwrap();
    let of = |name: &str| {
        let line = format!("study {name} --backend {BACKEND} --dry-run --json -");
        let mut runner = Runner::new(&line);
        runner.command().current_dir(place.path());
        let document: Value = runner.run().expect_status(0).json();
        document["plan"]["cells"].clone()
    };
    assert_eq!(of("copy.toml"), of("gtdl-learning-rate"));
    let schema: Value = run("study --schema", 0).json();
    assert!(schema["properties"]["matrix"].is_object() && schema["additionalProperties"] == false, "{schema}");
    expect_parts(&schema.to_string(), &["keras-mnist-mlp", "burn-flex", "1..all", "order_seed"]);
}

#[test]
#[ignore = "trains two networks of the suite"]
fn records_are_uploaded_once_after_one_agreement() {
    let study = StudyFiles::new("");
    study.write_of(&["keras-mnist-mlp"], SMALL);
    let server = leaderboard();
    study.runner("--upload").arg(&server.url).run().expect_status(2).expect_errors(&["--yes"]);
    assert!(study.files().is_empty());
    let finished = study.runner("--yes --upload").arg(&server.url).run().expect_status(0);
    assert_eq!(paths(&server.received()), ["POST /api/v1/runs/import"; 2]);
    expect_parts(&finished.stderr, &["2 records were uploaded"]);
    for cell in study.cells() {
        let upload = &cell["uploads"][0];
        assert_eq!((&upload["leaderboard"], &upload["run_id"]), (&server.url.as_str().into(), &"run-2".into()));
        assert_eq!(upload["deletion_link"], format!("{}/runs/run-2/delete#secret", server.url));
    }
    let again = study.runner("--yes --upload").arg(&server.url).run().expect_status(0);
    assert_eq!(server.received().len(), 2);
    expect_parts(&again.stderr, &["already has every record that it accepts"]);
}

const FAST: &str = "suites = [\"launch\", \"gemm\"]\nbudget_seconds = 0.5\nbudget_mib = 4";

/// Creates a study of kernels with these lines, on the adapter of the tests; `None` without an adapter.
fn study_of_kernels(lines: &str) -> Option<StudyFiles> {
    let adapter = any_adapter()?;
    let adapter = adapter.rsplit(' ').next().unwrap_or("any");
    let study = StudyFiles { place: tempfile::tempdir().unwrap() };
    write_kernels(&study, &format!("adapters = [\"{adapter}\"]\n{lines}"));
    Some(study)
}

fn write_kernels(study: &StudyFiles, lines: &str) {
    fs::write(study.file(), format!("title = \"A test of kernels\"\n[[kernels]]\n{lines}\n")).unwrap();
}

fn report(study: &StudyFiles) -> (String, String) {
    let finished = Runner::new("report").arg(study.output()).run().expect_status(0);
    (one_line(&finished.stdout), fs::read_to_string(study.output().join("report.html")).unwrap())
}

#[test]
#[ignore = "runs a study of kernels"]
fn study_of_kernels_keeps_records_and_makes_a_report() {
    let Some(study) = study_of_kernels(FAST) else { return };
    let finished = study.runner("--scale 0.2 --json -").run().expect_status(0);
    let document: Value = finished.json();
    let parts = ["(1 of 2", "(2 of 2", "every entry has 0.2 of its seconds", "kernels gemm", "% of the peak ·"];
    expect_parts(&finished.stderr, &parts);
    assert_eq!(study.plan()["cells"].as_array().unwrap().len(), 2);
    for cell in study.cells() {
        assert_eq!((cell["ending"].as_str(), cell["scale"].as_f64()), (Some("completed"), Some(0.2)), "{cell}");
        assert_eq!((&cell["full_limit"]["seconds"], &cell["settings"]["budget_seconds"]), (&0.5.into(), &0.1.into()));
        let record: results::kernels::KernelRecord = serde_json::from_value(cell["record"].clone()).unwrap();
        assert_eq!((record.budget_seconds, record.budget_bytes), (0.1, 4 << 20));
        let suite = cell["settings"]["suite"].as_str().unwrap();
        assert!(record.report.entries.iter().all(|entry| entry.suite.name() == suite));
        assert_eq!(record.report.entries.is_empty(), suite == "launch");
    }
    let of_gemm =
        document["cells"].as_array().unwrap().iter().find(|cell| cell["settings"]["suite"] == "gemm").unwrap();
    let share = of_gemm["kernels"]["peak_share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.5, "{of_gemm}");

    let (found, page) = report(&study);
    expect_parts(&found, &["Matrix products on", "of the measured peak of arithmetic"]);
    expect_parts(&found, &["every entry has 20 % of the original seconds"]);
    expect_parts(&page, &["Percent of the measured peak", "512 × 512 × 512"]);
    // A finished run is a result, and stays unchanged.
    let before = study.files();
    let again = study.runner("--scale 0.2").run().expect_status(0).expect_errors(&["2 of them already finished"]);
    assert!(again.stdout.contains("of peak"), "{}", again.stdout);
    assert_eq!(study.files(), before);
}

#[test]
fn failed_kernel_cell_is_kept_and_others_go_on() {
    let lines = "suites = ['launch']\n[[kernels]]\nsuites = ['launch']\nadapters = ['no-such-gpu']";
    let Some(study) = study_of_kernels(lines) else { return };
    let finished = study.runner("").run().expect_status(1).expect_output(&["no adapter fits"]);
    finished.expect_errors(&["1 of 2 cells have no results", "--retry-failed"]);
    let failed = study.cell("/adapter", "no-such-gpu");
    assert_eq!((&failed["ending"], &failed["record"]), (&"failed".into(), &Value::Null));
    assert!(study.cells().iter().any(|cell| cell["ending"] == "completed"));
    let (found, page) = report(&study);
    assert!(found.contains("1 of 2 cells has no results: 1 failed") && page.contains("no-such-gpu"), "{found}");
}

#[test]
fn study_of_kernels_refuses_options_of_networks() {
    for option in ["--backend wgsl", "--workload-file mine.toml", "--program pytorch", "--remote host"] {
        let finished = Runner::new(&format!("study kernels --dry-run {option}")).run().expect_status(2);
        finished.expect_errors(&[option.split(' ').next().unwrap(), "for studies that train networks"]);
    }
    let Some(study) = study_of_kernels("suites = [\"launch\"]") else { return };
    let server = leaderboard();
    study.runner("--upload").arg(&server.url).run().expect_status(0).expect_errors(&["Nothing will be uploaded"]);
    assert!(server.received().is_empty());
    for (line, parts) in [
        ("workloads = [\"caffe-mnist\"]", ["line 3, column 1", "unknown field `workloads`"]),
        ("suites = [\"gru\"]", ["line 3, column 11", "unknown variant `gru`"]),
        ("budget_seconds = 0", ["line 3, column 18", "above 0"]),
        ("[[matrix]]\nworkloads = [\"caffe-mnist\"]", ["[[matrix]] and [[kernels]]", "two studies"]),
    ] {
        write_kernels(&study, line);
        study.runner("--dry-run").run().expect_status(2).expect_errors(&["mine.toml", parts[0], parts[1]]);
    }
}
