//! Exports have exactly the stored runs.

use axum::body::Bytes;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use results::api::{RunList, StoredRun, Tier};
use results::open_data::{ExportAbout, ExportColumn};
use sha2::{Digest, Sha256};

use crate::support::server::BEGINNING;
use crate::support::{ServerProcess, TestDatabase, TestServer, record};
use crate::upkeep::{done, failed, run, stored};

/// Returns the cells of a table as in RFC 4180, read by a plain loop.
pub(crate) fn cells(text: &str) -> Vec<Vec<String>> {
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

fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    let place = table[0].iter().position(|other| other == name).unwrap();
    table[1..].iter().map(|line| line[place].clone()).collect()
}

#[test]
fn export_has_all_stored_runs_in_order() {
    let server = TestServer::start();
    // More runs than are read at once.
    let runs: Vec<String> = (0..40)
        .map(|number| {
            // Some are simultaneous.
            server.pass(if number % 3 == 0 { 1.0 } else { 0.0 });
            server.import(&record::unregistered(number)).with_status(201).parse::<results::api::AcceptedRun>().run_id
        })
        .collect();
    let hidden = &runs[7];
    server.set_tier(hidden, Tier::Hidden);
    server.database().execute(&format!("DELETE FROM runs WHERE run_id = '{}'", runs[21]));

    let answer = server.get("/api/v1/export?format=jsonl");
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/jsonl; charset=utf-8"));
    let file = "attachment; filename=\"gradmark-results-2027-01-15.jsonl\"";
    assert_eq!(answer.header("content-disposition"), file);
    assert_eq!(answer.header("link"), "<https://creativecommons.org/publicdomain/zero/1.0/>; rel=\"license\"");
    assert_eq!((answer.header("etag"), answer.header("access-control-allow-origin")), ("", "*"));
    assert!(!answer.text().contains(hidden) && !answer.text().contains(&runs[21]));
    let exported = json_lines(&answer.text());
    assert_eq!(exported.len(), 38);
    assert!(exported.is_sorted_by(|a, b| a.submitted_unix_seconds <= b.submitted_unix_seconds));
    for run in &exported {
        assert_eq!(*run, server.get(&format!("/api/v1/runs/{}", run.run_id)).parse::<StoredRun>());
    }

    let answer = server.get("/api/v1/export");
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8; header=present");
    let table = cells(&answer.text());
    assert!(table.iter().all(|line| line.len() == table[0].len()));
    let workloads = exported.iter().flat_map(|run| run.record.workloads.iter().map(move |workload| (run, workload)));
    let expected: Vec<_> = workloads
        .map(|(run, workload)| {
            let speed = workload.summary.samples_per_second.unwrap().to_string();
            (run.run_id.clone(), workload.workload.clone(), speed)
        })
        .collect();
    let [ids, names, speeds] = ["run_id", "workload", "samples_per_second"].map(|name| column(&table, name));
    let found: Vec<_> = ids.into_iter().zip(names).zip(speeds).map(|((id, name), speed)| (id, name, speed)).collect();
    assert_eq!(found, expected);
    let gzip = server.get_accepting("/api/v1/export?format=csv", "gzip");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&gzip.body[..]), &mut text).unwrap();
    assert_eq!(text, answer.text());
}

#[test]
fn exports_have_no_nonces_and_no_formulas() {
    let server = TestServer::start();
    let names =
        ["显卡 “九千”", "=HYPERLINK(\"http://x\",\"y\")", "-2+3", "'quoted'", "a, b \"c\"", "x'); DROP TABLE runs; --"];
    for name in names {
        server.accepted(|record| record.device.claimed_name = Some(name.to_owned()));
        server.pass(1.0);
    }
    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    let lines = server.get("/api/v1/export?format=jsonl").text();
    assert!(!lines.contains(&started.nonce));
    let kept: Vec<_> = json_lines(&lines).into_iter().filter_map(|run| run.record.device.claimed_name).collect();
    assert_eq!(kept, names);
    let cells = column(&cells(&server.get("/api/v1/export").text()), "claimed_name");
    let mut found: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    found.dedup();
    assert!(found.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{found:?}");
    let read: Vec<&str> = found.iter().map(|cell| cell.strip_prefix('\'').unwrap_or(cell)).collect();
    assert_eq!(read, names);
}

#[test]
fn damaged_record_is_neither_exported_nor_shown() {
    let server = TestServer::start();
    let (good, bad) = (server.accepted(|_| {}), server.accepted(|_| {}));
    server.database().execute(&format!("UPDATE runs SET record = '{{' WHERE run_id = '{}'", bad.run_id));
    let exported = json_lines(&server.get("/api/v1/export?format=jsonl").text());
    assert_eq!(exported.into_iter().map(|run| run.run_id).collect::<Vec<_>>(), [good.run_id]);
    server.get(&format!("/api/v1/runs/{}", bad.run_id)).assert_refused(500, "internal", "");
}

#[test]
fn empty_leaderboard_exports_documented_columns() {
    let server = TestServer::start();
    assert_eq!(server.get("/api/v1/export?format=jsonl").text(), "");
    let table = cells(&server.get("/api/v1/export").text());
    let about: ExportAbout = server.get("/api/v1/export/about").parse();
    assert_eq!((about.runs, about.licence.as_str()), (0, "CC0-1.0"));
    assert_eq!(table, [about.csv_columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()]);
    server.accepted(|_| {});
    assert_eq!(server.get("/api/v1/export/about").parse::<ExportAbout>().runs, 1);
    for query in ["?format=xml", "?format=", "?order=price"] {
        server.get(&format!("/api/v1/export{query}")).assert_refused(400, "bad_query", "");
    }
}

#[test]
fn exported_list_equals_the_list() {
    let server = TestServer::start();
    // More runs than are read at once, and more than one page of the list has rows.
    for number in 0..40 {
        server.accepted(|record| {
            record::speed_up(record, 1 + number % 3);
            if number % 4 == 0 {
                record.requested.backend = "burn-wgpu".to_owned();
                record.device.backend = "burn-wgpu".to_owned();
            }
        });
        server.pass(1.0);
    }
    let hidden = server.accepted(|_| {});
    server.set_tier(&hidden.run_id, Tier::Hidden);
    for query in
        ["workload=caffe-mnist", "backend=burn-wgpu", "sort=oldest", "workload=caffe-mnist&sort=newest&backend=wgsl"]
    {
        let listed: RunList = server.get(&format!("/api/v1/runs?{query}&limit=500")).parse();
        assert!(listed.rows.len() >= 10 && listed.next.is_none(), "{query}");
        let listed: Vec<_> = listed.rows.into_iter().map(|row| (row.run_id, row.workload)).collect();
        let table = cells(&server.get(&format!("/api/v1/export?{query}")).text());
        let exported: Vec<_> = column(&table, "run_id").into_iter().zip(column(&table, "workload")).collect();
        assert_eq!(exported, listed, "{query}");
        let lines = json_lines(&server.get(&format!("/api/v1/export?{query}&format=jsonl")).text());
        let of_run = |run: StoredRun| run.record.workloads.into_iter().map(move |of| (run.run_id.clone(), of.workload));
        assert_eq!(lines.into_iter().flat_map(of_run).collect::<Vec<_>>(), listed, "{query}");
    }
    assert_eq!(server.get("/api/v1/export?workload=unheard-of&format=jsonl").text(), "");
    for (query, field) in [("limit=3", "limit"), ("cursor=x", "cursor"), ("workload=caffe-mnist&offset=1", "offset")] {
        server.get(&format!("/api/v1/export?{query}")).assert_refused(400, "bad_query", field);
    }
    server.get("/api/v1/export?sort=fastest").assert_refused(400, "bad_query", "sort");
}

#[test]
fn backup_file_comes_with_its_checksum() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    stored(&server, 1);
    let folder = tempfile::tempdir().unwrap();
    for (name, words, query) in [
        ("day.csv", &[][..], "csv"),
        ("day.jsonl", &[], "jsonl"),
        ("day.parquet", &[], "parquet"),
        ("day.txt", &["--format", "jsonl"], "jsonl"),
    ] {
        let file = folder.path().join(name);
        let arguments = [&["export"], words].concat();
        let export = || run(&arguments, &[file.as_ref(), "--database".as_ref(), database.as_ref()]);
        let said = done(&export());
        assert!(said.contains("exported 1 runs"), "{said}");
        let written = std::fs::read(&file).unwrap();
        assert_eq!(written, server.get(&format!("/api/v1/export?format={query}")).body);
        let digest: String = Sha256::digest(&written).iter().map(|byte| format!("{byte:02x}")).collect();
        let sum = std::fs::read_to_string(folder.path().join(format!("{name}.sha256"))).unwrap();
        assert_eq!(sum, format!("{digest}  {name}\n"), "as sha256sum --check reads it");
        assert!(failed(&export()).contains("is not overwritten"));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8, "nothing else stays behind");
}

pub(crate) fn open(file: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(file)).unwrap()
}

pub(crate) fn rows(reader: &SerializedFileReader<Bytes>) -> Vec<Row> {
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// Returns the CSV text of a field without its protection from spreadsheets.
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
fn it_has_the_cells_of_the_csv_with_types() {
    let server = TestServer::start();
    for name in [None, Some("显卡 “九千”"), Some("=1+1, \"quoted\""), Some("'x")] {
        server.accepted(|record| {
            record.device.claimed_name = name.map(ToOwned::to_owned);
            record.provenance.client.logical_processors = name.map(|_| 8);
        });
        server.pass(0.123_456);
    }
    server.accepted(|record| {
        // The backend does not report it.
        record.workloads[0].peaks.clear();
    });

    let answer = server.get("/api/v1/export?format=parquet");
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/vnd.apache.parquet"));
    let file = "attachment; filename=\"gradmark-results-2027-01-15.parquet\"";
    assert_eq!(answer.header("content-disposition"), file);
    assert_eq!(answer.header("link"), "<https://creativecommons.org/publicdomain/zero/1.0/>; rel=\"license\"");
    let compressed = server.get_accepting("/api/v1/export?format=parquet", "gzip");
    assert_eq!((compressed.header("content-encoding"), &compressed.body), ("", &answer.body));

    let reader = open(answer.body);
    let table = cells(&server.get("/api/v1/export?format=csv").text());
    let found: Vec<Vec<String>> =
        rows(&reader).iter().map(|row| row.get_column_iter().map(|(_, field)| as_in_csv(field)).collect()).collect();
    let plain = |cell: &String| cell.strip_prefix('\'').unwrap_or(cell).to_owned();
    let expected: Vec<Vec<String>> = table[1..].iter().map(|line| line.iter().map(plain).collect()).collect();
    assert_eq!(expected.len(), 5 * record::unregistered(0).workloads.len());
    assert_eq!(found, expected);
    let nulls = |name: &str| {
        let place = table[0].iter().position(|other| other == name).unwrap();
        let values: Vec<_> =
            rows(&reader).iter().map(|row| row.get_column_iter().nth(place).unwrap().1.clone()).collect();
        (values.iter().filter(|field| **field == Field::Null).count(), values.len())
    };
    for name in ["claimed_name", "logical_processors", "share_of_peak"] {
        let (absent, all) = nulls(name);
        assert!(absent > 0 && absent < all, "{name}: {absent} of {all}");
    }
}

#[test]
fn file_describes_its_columns_and_license() {
    let server = TestServer::start();
    let about: ExportAbout = server.get("/api/v1/export/about").parse();
    let reader = open(server.get("/api/v1/export?format=parquet").body);
    assert!(rows(&reader).is_empty(), "a leaderboard without runs");
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
}

#[test]
fn shows_upload_times_and_omits_hidden_runs() {
    let server = TestServer::start();
    for seed in 0..40 {
        assert_eq!(server.import(&record::unregistered(seed)).status, 201);
        server.pass(0.25);
    }
    let hidden: results::api::AcceptedRun = server.import(&record::unregistered(40)).parse();
    server.set_tier(&hidden.run_id, results::api::Tier::Hidden);
    let reader = open(server.get("/api/v1/export?format=parquet").body);
    let rows = rows(&reader);
    let workloads = record::unregistered(0).workloads.len();
    assert_eq!(rows.len(), 40 * workloads);
    for (number, row) in rows.iter().enumerate() {
        let moment = row.get_column_iter().nth(1).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "a whole number")]
        let expected = (BEGINNING * 1e6) as i64 + i64::try_from(number / workloads).unwrap() * 250_000;
        assert_eq!(moment, (&"submitted_unix_seconds".to_owned(), &Field::TimestampMicros(expected)));
    }
}
