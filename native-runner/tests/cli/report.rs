//! HTML reports of short runs.

use std::fs;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use results::RunRecord;
use tempfile::TempDir;

use crate::support::{Runner, TINY, expect_parts, one_line, read_json};

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
fn standard_output_holds_the_file_alone() {
    let folder = records();
    let finished = report(&folder.path().join("a.json")).args("-o -").run().expect_status(0);
    assert!(finished.stdout.starts_with("<!DOCTYPE html>") && finished.stdout.trim_end().ends_with("</html>"));
    finished.expect_errors(&["Report on 1 run"]);
}

#[test]
fn what_cannot_be_reported_on_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    report(&place.join("missing")).run().expect_status(1).expect_errors(&["cannot read", "missing"]);
    report(place).run().expect_status(2).expect_errors(&["there are no records in"]);
    fs::write(place.join("notes.json"), "{\"a\": 1}").unwrap();
    report(place).run().expect_status(2).expect_errors(&["there are no records in"]);
    fs::write(place.join("half.json"), "{\n  \"workloads\": [").unwrap();
    report(place).run().expect_status(2).expect_errors(&["half.json", "line 2"]);
}

#[test]
fn report_of_a_study_has_title_failures_and_missing_cells() {
    let place = tempfile::tempdir().unwrap();
    let (file, folder) = (place.path().join("small.toml"), place.path().join("out"));
    // No backend on the processor uses matrix units.
    let text = format!(
        "title = \"What a small study says\"\nrepeats = \"Table I of a paper.\"\n[[matrix]]\n\
         workloads = ['{TINY}']\nbackends = [\"{BACKEND}\"]\nprecisions = [\"f32\", \"f16-matrix\"]\n\
         batch_sizes = [16, 32]\nlimits = [{{ steps = 8 }}]\n"
    );
    fs::write(&file, text).unwrap();
    let study = Runner::new("study --scale 0.25 --only batch-size=16").arg(&file).arg("--output").arg(&folder);
    study.run().expect_status(1);
    let text = one_line(&report(&folder).run().expect_status(0).stdout);
    expect_parts(
        &text,
        &[
            "What a small study says",
            "small: 2 of 4 cells have run",
            "in small every limit is 25 % of the original",
            "1 of 2 runs has no results: 1 failed",
        ],
    );
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("Repeats: Table I of a paper.") && page.contains("f16-matrix"), "{}", page.len());
}

fn export(folder: &TempDir, name: &str) -> Runner {
    Runner::new("export").arg(folder.path()).arg("-o").arg(folder.path().join(name))
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

/// Returns the cells of a line. A cell with a comma is in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

fn rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn text_of(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(whole) => whole.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string(),
        Field::TimestampMicros(moment) => moment.to_string(),
        other => panic!("{other:?} is no type of ours"),
    }
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
    for name in ["all.csv", "all.parquet", "all.jsonl", "all.md"] {
        let finished = export(&folder, name).run().expect_status(0);
        finished.expect_errors(&["2 workloads of 2 runs."]);
    }
    let csv = read(&folder, "all.csv");
    let (names, lines) = table(&csv);
    let cell = |name: &str| names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("no {name}"));
    let of = |name: &str| lines.iter().map(|line| line[cell(name)].as_str()).collect::<Vec<_>>();
    assert_eq!((of("batch_size"), of("seed"), of("outcome")), (vec!["16", "32"], vec!["1"; 2], vec!["completed"; 2]));
    assert!(of("place")[0].ends_with("a.json") && of("place")[1].ends_with("b.json"), "{csv}");
    assert_eq!((of("devices"), of("reason")), (vec!["1"; 2], vec![""; 2]));

    let typed = rows(&folder.path().join("all.parquet"));
    assert_eq!(typed.len(), 2);
    for (row, line) in typed.iter().zip(&lines) {
        for ((name, field), expected) in row.get_column_iter().zip(line) {
            if name != "started_unix_seconds" {
                assert_eq!(text_of(field), *expected, "{name}");
            }
        }
    }

    let jsonl = read(&folder, "all.jsonl");
    let again: Vec<RunRecord> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first: RunRecord = read_json(&folder.path().join("a.json"));
    assert_eq!((again.len(), &again[0]), (2, &first));

    let markdown = read(&folder, "all.md");
    assert_eq!(markdown.matches("| tiny |").count(), 2, "{markdown}");
    assert!(markdown.contains("| 16 | 1 | completed |"), "{markdown}");
}

#[test]
fn export_to_standard_output_is_pure_and_files_are_kept() {
    let folder = records();
    let finished = Runner::new("export --format csv -o -").arg(folder.path()).run().expect_status(0);
    let (names, lines) = table(&finished.stdout);
    assert_eq!((names[0].as_str(), lines.len()), ("place", 2));
    fs::write(folder.path().join("mine.csv"), "precious").unwrap();
    export(&folder, "mine.csv").run().expect_status(2).expect_errors(&["mine.csv exists", "--force"]);
    assert_eq!(read(&folder, "mine.csv"), "precious");
    export(&folder, "mine.csv").arg("--force").run().expect_status(0);
    assert!(read(&folder, "mine.csv").starts_with("place,"));
}

#[test]
fn exported_study_counts_cells_without_a_record() {
    let place = tempfile::tempdir().unwrap();
    // No backend on the processor uses matrix units.
    let definition = format!(
        "title = \"t\"\n[[matrix]]\nworkloads = ['{TINY}']\nbackends = [\"{BACKEND}\"]\n\
         batch_sizes = [16]\nprecisions = [\"f32\", \"f16-matrix\"]\nlimits = [{{ steps = 2 }}]\n"
    );
    fs::write(place.path().join("t.toml"), definition).unwrap();
    let study = place.path().join("out");
    Runner::new("study").arg(place.path().join("t.toml")).arg("--output").arg(&study).run().expect_status(1);
    let file = place.path().join("t.parquet");
    let finished = Runner::new("export").arg(&study).arg("-o").arg(&file).run().expect_status(0);
    finished.expect_errors(&["Written", "1 workload of 1 run.", "Left out: 1 cell without a record"]);
    assert_eq!(rows(&file).len(), 1);
}

#[test]
fn export_errors_come_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |runner: Runner, part: &str| {
        runner.run().expect_status(2).expect_errors(&[part]);
    };
    refused(export(&folder, "all.csv"), "there are no records");
    refused(export(&folder, "all.xlsx"), "use a name that ends in .csv, .jsonl, .parquet or .md, or set --format");
    refused(Runner::new("export -o -").arg(folder.path()), "--format csv");
    fs::write(folder.path().join("half.json"), "{\"schema_version\": 1, \"workloads\": [").unwrap();
    refused(export(&folder, "all.csv"), "half.json is not a record");
    assert!(!folder.path().join("all.csv").exists());
}
