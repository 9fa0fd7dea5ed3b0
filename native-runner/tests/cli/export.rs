//! Records that lie here, as tables for other programs.

use std::fs;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use results::RunRecord;
use tempfile::TempDir;

use crate::support::{Runner, TINY, one_line};

/// The quickest back end of this build that needs no adapter.
const BACKEND: &str = if cfg!(feature = "burn-flex") { "burn-flex" } else { "reference" };

/// A folder with two records of a few steps.
fn records() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, batch_size) in [("a", 16), ("b", 32)] {
        let line = format!("--backend {BACKEND} --batch-size {batch_size} --steps 2 --seed 7");
        let file = folder.path().join(format!("{name}.json"));
        Runner::new(&line).tiny().arg("--json").arg(file).run().expect_status(0);
    }
    folder
}

fn export(folder: &TempDir, name: &str) -> Runner {
    Runner::new("export").arg(folder.path()).arg("-o").arg(folder.path().join(name))
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// The names of the columns, and the rows.
fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

/// The cells of a line, some of which are in quotes because there is a comma in them.
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

/// As the other table has it.
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
    assert_eq!((of("batch_size"), of("seed"), of("outcome")), (vec!["16", "32"], vec!["7"; 2], vec!["completed"; 2]));
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
    let first: RunRecord = serde_json::from_str(&read(&folder, "a.json")).unwrap();
    assert_eq!((again.len(), &again[0]), (2, &first));

    let markdown = read(&folder, "all.md");
    assert_eq!(markdown.matches("| tiny |").count(), 2, "{markdown}");
    assert!(markdown.contains("| 16 | 7 | completed |"), "{markdown}");
}

#[test]
fn standard_output_holds_the_table_alone_and_nothing_is_overwritten_unasked() {
    let folder = records();
    let finished = Runner::new("export --format csv -o -").arg(folder.path()).run().expect_status(0);
    let (names, lines) = table(&finished.stdout);
    assert_eq!((names[0].as_str(), lines.len()), ("place", 2));
    fs::write(folder.path().join("mine.csv"), "precious").unwrap();
    export(&folder, "mine.csv").run().expect_status(2).expect_errors(&["mine.csv is there", "--force"]);
    assert_eq!(read(&folder, "mine.csv"), "precious");
    export(&folder, "mine.csv").arg("--force").run().expect_status(0);
    assert!(read(&folder, "mine.csv").starts_with("place,"));
}

#[test]
fn cells_of_a_study_are_exported_and_those_without_a_record_are_counted() {
    let place = tempfile::tempdir().unwrap();
    // Nothing on the processor multiplies with matrix units.
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
fn what_cannot_be_exported_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |runner: Runner, part: &str| {
        let finished = runner.run().expect_status(2);
        assert!(one_line(&finished.stderr).contains(part), "`{part}` is missing in:\n{}", finished.stderr);
    };
    refused(export(&folder, "all.csv"), "there is nothing to report on");
    refused(export(&folder, "all.xlsx"), "end its name with .csv, .jsonl, .parquet or .md, or add --format csv");
    refused(Runner::new("export -o -").arg(folder.path()), "--format csv");
    fs::write(folder.path().join("half.json"), "{\"schema_version\": 1, \"workloads\": [").unwrap();
    refused(export(&folder, "all.csv"), "half.json is not a record");
    assert!(!folder.path().join("all.csv").exists());
}
