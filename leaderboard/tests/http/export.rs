//! Exports have exactly the stored runs.

use axum::body::Bytes;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use results::open_data::{ExportAbout, ExportColumn};
use sha2::{Digest, Sha256};

use crate::support::*;

/// Returns the cells of a table as in RFC 4180, read by a plain loop.
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            other => cell.push(other),
        }
    }
    assert!(cell.is_empty() && line.is_empty() && !quoted, "the last line ends");
    lines
}

pub(crate) fn json_lines(text: &str) -> Vec<StoredRun> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn place(table: &[Vec<String>], name: &str) -> usize {
    table[0].iter().position(|other| other == name).unwrap()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    table[1..].iter().map(|line| line[place(table, name)].clone()).collect()
}

fn export(server: &TestServer, query: &str) -> HttpAnswer {
    server.get(&format!("/api/v1/export{query}")).with_status(200)
}

fn assert_file(answer: &HttpAnswer, kind: &str, ending: &str) {
    let file = format!("attachment; filename=\"gradmark-results-2027-01-15.{ending}\"");
    answer.assert_headers(&[("content-type", kind), ("content-disposition", &file)]);
    answer.assert_headers(&[("link", "<https://creativecommons.org/publicdomain/zero/1.0/>; rel=\"license\"")]);
    answer.assert_headers(&[("etag", ""), ("access-control-allow-origin", "*")]);
}

/// Names that exports and lists keep as they are.
const NAMES: [&str; 11] = [
    "显卡 “九千”",
    "=HYPERLINK(\"http://x\",\"y\")",
    "-2+3",
    "'quoted'",
    "a, b \"c\"",
    "x'); DROP TABLE runs; --",
    "Графика",
    "🚀 GPU",
    "\" OR 1=1 --",
    "<script>alert(1)</script>",
    "%s%n\\",
];

/// Returns a server with runs of several backends, and the ids of a hidden and of a deleted one. There are more runs
/// than are read at once, and some are simultaneous.
fn server_with_runs() -> (TestServer, [String; 2]) {
    let server = TestServer::start();
    let import = |seed| {
        server.pass(if seed % 3 == 0 { 0.25 } else { 0.0 });
        let mut record = record::unregistered(seed);
        record::speed_up(&mut record, 1 + seed % 3);
        if seed % 4 == 0 {
            record::on_backend(&mut record, "burn-wgpu");
        }
        record::summarise(&mut record);
        record::declare(&mut record);
        server.import(&record).with_status(201).parse::<AcceptedRun>().run_id
    };
    let runs: Vec<String> = (0..40).map(import).collect();
    let [hidden, deleted] = [&runs[7], &runs[21]].map(ToOwned::to_owned);
    server.set_tier(&hidden, Tier::Hidden);
    server.database().execute(&format!("DELETE FROM runs WHERE run_id = '{deleted}'"));
    for name in NAMES {
        server.accepted(|record| {
            record.device.adapter.name = name.to_owned();
            record.device.claimed_name = Some(name.to_owned());
        });
        server.pass(1.0);
    }
    server.accepted(|record| {
        // The platform and the backend do not report these.
        record.provenance.client.logical_processors = None;
        record.workloads[0].peaks.clear();
    });
    (server, [hidden, deleted])
}

#[test]
fn exports_have_all_visible_runs_in_order() {
    let (server, gone) = server_with_runs();
    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    let answer = export(&server, "?format=jsonl");
    assert_file(&answer, "application/jsonl; charset=utf-8", "jsonl");
    assert!(gone.iter().chain([&started.nonce]).all(|secret| !answer.text().contains(secret)));
    let exported = json_lines(&answer.text());
    assert_eq!(exported.len(), 40 - 2 + NAMES.len() + 2);
    assert!(exported.is_sorted_by(|a, b| a.submitted_unix_seconds <= b.submitted_unix_seconds));
    assert_eq!(exported[0].submitted_unix_seconds, BEGINNING + 0.25);
    for run in &exported {
        assert_eq!(*run, server.stored(&run.run_id));
    }
    let kept = exported.iter().filter_map(|run| run.record.device.claimed_name.as_deref());
    assert_eq!(kept.collect::<Vec<_>>(), NAMES);
    let listed = server.list("?limit=500").rows;
    assert!(NAMES.iter().all(|name| listed.iter().any(|row| row.claimed_name.as_deref() == Some(name))));

    let answer = export(&server, "");
    assert_file(&answer, "text/csv; charset=utf-8; header=present", "csv");
    let table = cells(&answer.text());
    assert!(table.iter().all(|line| line.len() == table[0].len()));
    let workloads = exported.iter().flat_map(|run| run.record.workloads.iter().map(move |workload| (run, workload)));
    let expected = workloads.map(|(run, workload)| {
        let speed = workload.summary.samples_per_second.unwrap().to_string();
        [run.run_id.clone(), workload.workload.clone(), speed]
    });
    let columns = ["run_id", "workload", "samples_per_second"].map(|name| place(&table, name));
    let found = table[1..].iter().map(|line| columns.map(|place| line[place].clone()));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let gzip = server.get_with("/api/v1/export?format=csv", "accept-encoding", "gzip");
    assert_eq!(gzip.unpacked(), answer.body);
    let mut found = column(&table, "claimed_name");
    found.dedup();
    assert!(found.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "no formulas: {found:?}");

    let answer = export(&server, "?format=parquet");
    assert_file(&answer, "application/vnd.apache.parquet", "parquet");
    let compressed = server.get_with("/api/v1/export?format=parquet", "accept-encoding", "gzip");
    assert_eq!((compressed.header("content-encoding"), &compressed.body), ("", &answer.body));
    let rows: Vec<Row> = open(answer.body).get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let found: Vec<Vec<String>> =
        rows.iter().map(|row| row.get_column_iter().map(|(_, field)| as_in_csv(field)).collect()).collect();
    let plain = |cell: &String| cell.strip_prefix('\'').unwrap_or(cell).to_owned();
    let expected: Vec<Vec<String>> = table[1..].iter().map(|line| line.iter().map(plain).collect()).collect();
    assert_eq!(found, expected);
    for name in ["claimed_name", "logical_processors", "share_of_peak"] {
        let values = rows.iter().map(|row| row.get_column_iter().nth(place(&table, name)).unwrap().1);
        let absent = values.filter(|field| **field == Field::Null).count();
        assert!(absent > 0 && absent < rows.len(), "{name}: {absent} of {}", rows.len());
    }
    assert_exported_as_listed(&server);
}

fn assert_exported_as_listed(server: &TestServer) {
    for query in
        ["workload=caffe-mnist", "backend=burn-wgpu", "sort=oldest", "workload=caffe-mnist&sort=newest&backend=wgsl"]
    {
        let listed = server.list(&format!("?{query}&limit=500"));
        assert!(listed.rows.len() >= 10 && listed.next.is_none(), "{query}");
        let listed: Vec<_> = listed.rows.into_iter().map(|row| (row.run_id, row.workload)).collect();
        let table = cells(&export(server, &format!("?{query}")).text());
        let exported: Vec<_> = column(&table, "run_id").into_iter().zip(column(&table, "workload")).collect();
        assert_eq!(exported, listed, "{query}");
        let lines = json_lines(&export(server, &format!("?{query}&format=jsonl")).text());
        let of_run = |run: StoredRun| run.record.workloads.into_iter().map(move |of| (run.run_id.clone(), of.workload));
        assert_eq!(lines.into_iter().flat_map(of_run).collect::<Vec<_>>(), listed, "{query}");
    }
    assert_eq!(export(server, "?workload=unheard-of&format=jsonl").text(), "");
}

/// Asserts that a file of this name has the checksum that `sha256sum --check` reads.
pub(crate) fn assert_checksum(name: &str, bytes: &[u8], sum: &str) {
    assert_eq!(sum, format!("{}  {name}\n", results::hex(&Sha256::digest(bytes))));
}

#[test]
fn backup_file_comes_with_its_checksum() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    server.imported(1);
    let folder = tempfile::tempdir().unwrap();
    for (name, words, query) in [
        ("day.csv", &[][..], "csv"),
        ("day.jsonl", &[], "jsonl"),
        ("day.parquet", &[], "parquet"),
        ("day.txt", &["--format", "jsonl"], "jsonl"),
    ] {
        let file = folder.path().join(name);
        let export = || run(&[&["export", file.to_str().unwrap()], words].concat(), &database);
        assert_says(&done(&export()), &["exported 1 runs"]);
        let written = std::fs::read(&file).unwrap();
        assert_eq!(written, server.get(&format!("/api/v1/export?format={query}")).body);
        let sum = std::fs::read_to_string(folder.path().join(format!("{name}.sha256"))).unwrap();
        assert_checksum(name, &written, &sum);
        assert_says(&failed(&export()), &["is not overwritten"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8, "nothing else stays behind");
}

fn open(file: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(file)).unwrap()
}

/// Returns the CSV text of a field, without protection from spreadsheets.
fn as_in_csv(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(whole) => whole.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string(),
        #[expect(clippy::cast_precision_loss, reason = "exact for another two centuries")]
        Field::TimestampMicros(moment) => (*moment as f64 / 1e6).to_string(),
        other => panic!("{other:?} is no type of ours"),
    }
}

fn metadata(reader: &SerializedFileReader<Bytes>, key: &str) -> String {
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()).unwrap()
}

#[test]
fn file_describes_its_columns_and_license() {
    let server = TestServer::start();
    let about: ExportAbout = server.read("/api/v1/export/about");
    assert_eq!((about.runs, about.licence.as_str()), (0, "CC0-1.0"));
    assert_eq!(export(&server, "?format=jsonl").text(), "");
    let table = cells(&export(&server, "").text());
    assert_eq!(table, [about.csv_columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()]);
    let reader = open(export(&server, "?format=parquet").body);
    assert_eq!(reader.get_row_iter(None).unwrap().count(), 0, "a leaderboard without runs");
    assert_eq!(metadata(&reader, "licence"), about.licence);
    assert_eq!(metadata(&reader, "licence_address"), about.licence_address);
    assert_eq!(metadata(&reader, "schema_version"), results::SCHEMA_VERSION.to_string());
    assert_eq!(serde_json::from_str::<Vec<ExportColumn>>(&metadata(&reader, "columns")).unwrap(), about.csv_columns);

    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    let expected: Vec<&str> = about.csv_columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, expected);
    let utc = Some(LogicalType::timestamp(true, TimeUnit::MICROS));
    for (name, stored, meant, repetition) in [
        ("run_id", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        ("submitted_unix_seconds", Type::INT64, utc, Repetition::REQUIRED),
        ("standard", Type::BOOLEAN, None, Repetition::REQUIRED),
        ("seed", Type::INT64, None, Repetition::REQUIRED),
        ("claimed_name", Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
        ("samples_per_second", Type::DOUBLE, None, Repetition::OPTIONAL),
        ("training_seconds", Type::DOUBLE, None, Repetition::REQUIRED),
    ] {
        let column = schema.columns().iter().find(|column| column.name() == name).unwrap();
        assert_eq!(column.physical_type(), stored, "{name}");
        assert_eq!(column.logical_type_ref(), meant.as_ref(), "{name}");
        assert_eq!(column.self_type().get_basic_info().repetition(), repetition, "{name}");
    }
    server.imported(1);
    assert_eq!(server.read::<ExportAbout>("/api/v1/export/about").runs, 1);
}
