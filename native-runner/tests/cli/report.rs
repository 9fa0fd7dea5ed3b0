//! HTML reports of short runs.

use std::fs;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use results::RunRecord;
use tempfile::TempDir;

use crate::support::*;

/// The fastest backend of this build that needs no adapter.
const BACKEND: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };
const NAME: &str = "<script>alert(1)</script>";

/// Returns a folder with records of a few steps with two batch sizes.
fn records() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, batch_size) in [("a.json", 16), ("b.json", 32)] {
        let line = format!("--backend {BACKEND} --batch-size {batch_size} --steps 2 --seed 1");
        let runner = Runner::new(&line).tiny().arg("--name").arg(NAME);
        runner.arg("--json").arg(folder.path().join(name)).run().expect_status(0);
    }
    folder
}

fn report(folder: &Path) -> Runner {
    Runner::new("report").arg(folder)
}

#[test]
fn records_become_one_file_that_needs_nothing_else() {
    let folder = records();
    report(folder.path()).run().expect_status(0).expect_output(&[
        "Report on 2 runs",
        "All 2 runs are not standard runs",
        "All 2 runs had no window long enough to count",
        "Every group was trained from a single seed",
        "Written to",
    ]);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Throughput over batch size"), "{}", page.len());
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"));
}

#[test]
fn report_overwrites_only_a_report() {
    let folder = records();
    let alone = report(&folder.path().join("a.json")).args("-o -").run().expect_status(0);
    assert!(alone.stdout.starts_with("<!DOCTYPE html>") && alone.stdout.trim_end().ends_with("</html>"));
    alone.expect_errors(&["Report on 1 run"]);

    let file = folder.path().join("mine.html");
    fs::write(&file, "<p>my own</p>").unwrap();
    let output = |more: &str| report(folder.path()).arg("--output").arg(&file).args(more).run();
    output("").expect_status(2).expect_errors(&["mine.html exists and is not a report", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "<p>my own</p>");
    output("--force").expect_status(0);
    output("--title Again").expect_status(0);
    assert!(fs::read_to_string(&file).unwrap().contains("<h1>Again</h1>"));
}

#[test]
fn what_cannot_be_reported_or_exported_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    report(&place.join("missing")).run().expect_status(1).expect_errors(&["cannot read", "missing"]);
    report(place).run().expect_status(2).expect_errors(&["there are no records in"]);
    fs::write(place.join("notes.json"), "{\"a\": 1}").unwrap();
    report(place).run().expect_status(2).expect_errors(&["there are no records in"]);
    fs::write(place.join("half.json"), "{\n  \"workloads\": [").unwrap();
    report(place).run().expect_status(2).expect_errors(&["half.json", "line 2"]);

    let refused = |runner: Runner, part: &str| {
        runner.run().expect_status(2).expect_errors(&[part]);
    };
    ["half.json", "notes.json"].iter().for_each(|name| fs::remove_file(place.join(name)).unwrap());
    refused(export(&folder, "all.csv"), "there are no records");
    refused(export(&folder, "all.xlsx"), "use a name that ends in .csv, .jsonl, .parquet or .md, or set --format");
    refused(Runner::new("export -o -").arg(folder.path()), "--format csv");
    fs::write(folder.path().join("half.json"), "{\"schema_version\": 1, \"workloads\": [").unwrap();
    refused(export(&folder, "all.csv"), "half.json is not a record");
    assert!(!folder.path().join("all.csv").exists());
}

fn export(folder: &TempDir, name: &str) -> Runner {
    Runner::new("export").arg(folder.path()).arg("-o").arg(folder.path().join(name))
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn a_folder_of_records_is_one_table_in_each_format() {
    let folder = records();
    #[cfg(target_os = "linux")]
    for format in ["csv", "parquet"] {
        let mut runner = Runner::new(&format!("export -o - --format {format}")).arg(folder.path());
        runner.command().stdout(File::options().write(true).open("/dev/full").unwrap());
        runner.run().expect_status(1).expect_errors(&["standard output: "]);
    }
    for name in ["all.csv", "all.parquet", "all.jsonl", "all.md", "other.CSV"] {
        let finished = export(&folder, name).run().expect_status(0);
        finished.expect_errors(&["2 workloads of 2 runs."]);
    }
    // The leaderboard's tests compare the cells of these formats.
    let csv = read(&folder, "all.csv");
    let [names, first, second] = csv.lines().collect::<Vec<_>>()[..] else { panic!("{csv}") };
    assert!(names.starts_with("place,") && first.contains("a.json") && second.contains("b.json"), "{csv}");
    let parquet = File::open(folder.path().join("all.parquet")).unwrap();
    let parquet = SerializedFileReader::new(parquet).unwrap().metadata().file_metadata().clone();
    let columns: Vec<&str> = parquet.schema_descr().columns().iter().map(|column| column.name()).collect();
    assert_eq!((parquet.num_rows(), columns.join(",").as_str()), (2, names));

    let jsonl = read(&folder, "all.jsonl");
    let again: Vec<RunRecord> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first: RunRecord = read_json(&folder.path().join("a.json"));
    assert_eq!((again.len(), &again[0]), (2, &first));

    let markdown = read(&folder, "all.md");
    assert_eq!(markdown.matches("| tiny |").count(), 2, "{markdown}");
    assert!(markdown.contains("| 16 | 1 | completed |"), "{markdown}");

    let shown = Runner::new("export --format csv -o -").arg(folder.path()).run().expect_status(0).stdout;
    assert_eq!(shown, csv);
    fs::write(folder.path().join("mine.csv"), "precious").unwrap();
    export(&folder, "mine.csv").run().expect_status(2).expect_errors(&["mine.csv exists", "--force"]);
    assert_eq!(read(&folder, "mine.csv"), "precious");
    export(&folder, "mine.csv").arg("--force").run().expect_status(0);
    assert!(read(&folder, "mine.csv").starts_with("place,"));
}
