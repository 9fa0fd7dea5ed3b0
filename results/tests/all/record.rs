//! JSON format of records.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use results::{FailureCause, Outcome, RunRecord, Target, summary};
use schemars::schema_for;
use serde_json::{Value, json};

/// Record of version 0.1.0, as stored by a leaderboard.
const STORED: &str = include_str!("stored/0.1.0.json");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/run-record.schema.json");

#[test]
fn schema_file_is_up_to_date() {
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
fn every_property_and_variant_has_a_description() {
    let schema = serde_json::to_value(schema_for!(RunRecord)).unwrap();
    let types = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    for (name, of) in types.chain([("RunRecord", &schema)]) {
        assert_described(name, of, false);
        assert_parts_described(name, of, false);
    }
}

/// Asserts that a schema has a description, unless the description of a larger part covers it.
fn assert_described(place: &str, schema: &Value, is_covered: bool) {
    let is_described = schema["description"].as_str().is_some_and(|text| !text.is_empty());
    assert!(is_described || is_covered, "{place} has no description");
}

/// Asserts recursively that the properties and variants of a schema have a description.
fn assert_parts_described(place: &str, schema: &Value, is_variant: bool) {
    assert!(schema["enum"].is_null(), "{place} has variants without a description: {}", schema["enum"]);
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let place = format!("{place}.{name}");
        // The variant's description covers its tag, which is a constant, and its only property.
        let is_only = is_variant && properties.is_some_and(|all| all.len() == 1);
        assert_described(&place, property, is_only || !property["const"].is_null());
        assert_parts_described(&place, property, false);
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let place = format!("{place}, in variant {variant}");
        assert_described(&place, variant, false);
        assert_parts_described(&place, variant, true);
    }
    for part in schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items")) {
        assert_parts_described(place, part, false);
    }
}

const TEXT: &str = ".{0,12}";

/// Generates documents that match a schema, with arbitrary text and finite numbers.
fn documents(schema: &Value, types: &Value) -> BoxedStrategy<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return match name {
            "Beacon" => any::<u128>().prop_map(|word| json!(format!("{word:032x}"))).boxed(),
            name => documents(&types[name], types),
        };
    }
    if let Some(constant) = schema.get("const") {
        return Just(constant.clone()).boxed();
    }
    if let Some(variants) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let variant = Union::new(variants.iter().map(|variant| documents(variant, types)));
        // A flattened variant adds to the properties next to it.
        return match schema["properties"].is_null() {
            true => variant.boxed(),
            false => (variant, objects(schema, types)).prop_map(|(variant, object)| joined(variant, object)).boxed(),
        };
    }
    if let Value::Array(names) = &schema["type"] {
        let of_type = |name: &Value| {
            let mut schema = schema.clone();
            schema["type"] = name.clone();
            documents(&schema, types)
        };
        return Union::new(names.iter().map(of_type)).boxed();
    }
    match (schema["type"].as_str().unwrap_or("any"), schema["format"].as_str()) {
        ("any", _) => TEXT.prop_map(|name| json!({ "name": name })).boxed(),
        ("null", _) => Just(Value::Null).boxed(),
        ("boolean", _) => any::<bool>().prop_map(Value::from).boxed(),
        ("string", _) => TEXT.prop_map(Value::from).boxed(),
        ("integer", format) => {
            let maximum = if format == Some("uint64") { u64::MAX } else { u32::MAX.into() };
            (schema["minimum"].as_u64().unwrap_or_default()..=maximum).prop_map(Value::from).boxed()
        }
        ("number", Some("float")) => any::<f32>().prop_map(Value::from).boxed(),
        ("number", Some("double")) => any::<f64>().prop_map(Value::from).boxed(),
        ("number", None) => {
            assert_eq!(schema["exclusiveMinimum"], 0, "{schema}");
            (f64::MIN_POSITIVE..f64::MAX).prop_map(Value::from).boxed()
        }
        ("array", _) => vec(documents(&schema["items"], types), 0..4).prop_map(Value::from).boxed(),
        ("object", _) => objects(schema, types),
        other => panic!("{other:?} is not a type of records"),
    }
}

fn joined(variant: Value, object: Value) -> Value {
    let parts =
        [variant, object].into_iter().filter_map(|part| if let Value::Object(of) = part { Some(of) } else { None });
    Value::Object(parts.flatten().collect())
}

fn objects(schema: &Value, types: &Value) -> BoxedStrategy<Value> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
    let entry = |(name, property): (&String, &Value)| {
        let values = documents(property, types);
        let values = if required(name) { values.prop_map(Some).boxed() } else { prop::option::of(values).boxed() };
        (Just(name.clone()), values)
    };
    let entries: Vec<_> = schema["properties"].as_object().into_iter().flatten().map(entry).collect();
    let given = |(name, value): (String, Option<Value>)| Some((name, value?));
    entries.prop_map(move |entries| Value::Object(entries.into_iter().filter_map(given).collect())).boxed()
}

#[test]
fn records_round_trip_through_json() {
    let schema = serde_json::to_value(schema_for!(RunRecord)).unwrap();
    proptest!(|(document in documents(&schema, &schema["$defs"]))| {
        let record: RunRecord = serde_json::from_value(document).unwrap();
        let text = serde_json::to_string(&record).unwrap();
        prop_assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    });
}

#[test]
fn target_has_an_accuracy_or_a_loss_and_nothing_unknown() {
    let read = |text: &str| serde_json::from_str::<Target>(text).map_err(|error| error.to_string());
    for text in [
        r#"{"accuracy":0.97,"reached_seconds":1.5,"reached_step":2}"#,
        r#"{"loss":2.0,"reached_seconds":null,"reached_step":null}"#,
    ] {
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
    }
    for wrong in [r#"{"loss":2.0,"perplexity":7}"#, r#"{"loss":2.0,"accuracy":0.5}"#, r#"{"reached_step":2}"#] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

/// Leaderboards identify a record by the hash of its JSON, so reading and writing must not change it.
#[test]
fn record_of_0_1_0_round_trips_unchanged() {
    let record: RunRecord = serde_json::from_str(STORED).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), STORED.trim_end());
    for workload in &record.workloads {
        assert_eq!(summary::summarise(workload), workload.summary, "{}", workload.workload);
    }
}

#[test]
fn long_failure_messages_become_one_plain_line() {
    let reason = |message: &str| match Outcome::failed(FailureCause::DeviceRefused, message) {
        Outcome::Failed { reason, .. } => reason,
        outcome => panic!("{outcome:?}"),
    };
    assert_eq!(
        reason("Validation Error\n\nCaused by:\n  In a pass\u{202e}\u{1b}[31m"),
        "Validation Error Caused by: In a pass [31m"
    );
    assert_eq!(reason(&"显".repeat(300)), "显".repeat(300));
    assert_eq!(reason(&"显".repeat(301)), "显".repeat(299) + "…");
    assert_eq!(reason("x ".repeat(10_000).as_str()).chars().count(), Outcome::MAX_REASON_CHARACTERS);
    let written = serde_json::to_string(&Outcome::failed(FailureCause::DoesNotFit, "too large")).unwrap();
    assert_eq!(written, r#"{"kind":"failed","cause":"does_not_fit","reason":"too large"}"#);
}
