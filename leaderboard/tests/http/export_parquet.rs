//! The table with types, as another program reads it.

use axum::body::Bytes;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use results::open_data::{ExportAbout, ExportColumn};

use crate::export::cells;
use crate::support::server::BEGINNING;
use crate::support::{TestServer, record};

pub(crate) fn open(file: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(file)).unwrap()
}

pub(crate) fn rows(reader: &SerializedFileReader<Bytes>) -> Vec<Row> {
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// What the CSV has for a field, but for its care for spreadsheets.
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
        // The back end cannot tell.
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
fn the_file_says_what_its_columns_are_and_under_which_licence() {
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
fn moments_are_those_of_the_upload_and_hidden_runs_are_absent() {
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
