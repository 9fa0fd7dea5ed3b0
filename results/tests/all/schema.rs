//! The checked-in JSON Schema is the one that the types make.

use results::RunRecord;
use schemars::schema_for;
use serde_json::Value;

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
fn every_property_and_variant_of_the_record_is_described() {
    let schema = serde_json::to_value(schema_for!(RunRecord)).unwrap();
    let types = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    for (name, of) in types.chain([("RunRecord", &schema)]) {
        assert_described(name, of);
        assert_parts_described(name, of);
    }
}

fn assert_described(place: &str, schema: &Value) {
    assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{place} has no description");
}

/// Asserts that the properties and variants of a schema, and those inside them, have a description.
fn assert_parts_described(place: &str, schema: &Value) {
    assert!(schema["enum"].is_null(), "{place} has variants without a description: {}", schema["enum"]);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        // A constant is the tag of a variant, which has the description.
        if property["const"].is_null() {
            assert_described(&place, property);
        }
        assert_parts_described(&place, property);
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let place = format!("{place}, in variant {variant}");
        assert_described(&place, variant);
        assert_parts_described(&place, variant);
    }
    for part in schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items")) {
        assert_parts_described(place, part);
    }
}
