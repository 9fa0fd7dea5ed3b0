//! The checked-in JSON Schema is the one that the types make.

use results::RunRecord;
use schemars::schema_for;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/run-record.schema.json");

#[test]
fn the_schema_file_is_up_to_date() {
    let mut schema = serde_json::to_string_pretty(&schema_for!(RunRecord)).unwrap();
    schema.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(FILE, &schema).unwrap();
    }
    let stored = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        stored == schema,
        "results/schema/run-record.schema.json differs from the types; run with UPDATE_SCHEMA=1 and commit the file"
    );
}

#[test]
fn every_field_of_a_record_is_described() {
    let schema = serde_json::to_value(schema_for!(RunRecord)).unwrap();
    let types = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    for (name, of) in types.chain([("RunRecord", &schema)]) {
        for (field, property) in of["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}.{field} has no description");
        }
    }
}
