//! Sends thousands of records that are nearly right to a server, which must never fail.
//!
//! `GRADMARK_FUZZ_CASES=1000000 cargo test --release -p leaderboard --test http fuzzing` takes longer and finds more.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::*;

/// A change of a document in one place.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(Value),
    /// Changes a number, a text or a boolean to another one of its type.
    Bend(f64),
    Remove,
    /// Repeats an entry of a list, or a field under another name.
    Repeat,
    Copy(Index),
}

/// Damage of a text: removed and inserted bytes, not characters, so the result may be invalid.
type Damage = (Index, usize, Vec<u8>);

fn odd_value() -> impl Strategy<Value = Value> {
    let whole = [0, 1, 2, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 9_007_199_254_740_993, u64::MAX];
    let real = [0.5, -0.0, f64::MAX, f64::MIN_POSITIVE, 1e308, 1e-320];
    let numbers = [json!(-1), json!(i64::MIN)].into_iter().chain(whole.map(Value::from)).chain(real.map(Value::from));
    let texts = ["", "\0", "ranked", "wgsl", "f32", "quick", "🦀", "../../etc/passwd", "'; DROP TABLE runs; --", "NaN"];
    prop_oneof![
        select(numbers.collect::<Vec<_>>()),
        select(texts.to_vec()).prop_map(|text| json!(text)),
        select(vec![json!(null), json!(true), json!(false), json!([]), json!({}), json!([[[]]]), json!({"a": null})]),
        any::<f64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(|text| json!(text)),
        (1..100_usize).prop_map(|times| json!("x".repeat(times * 50))),
        (1..2_000_usize).prop_map(|length| json!(vec![1.5; length])),
    ]
}

fn changes() -> impl Strategy<Value = Vec<(Mutation, Index)>> {
    let bent = [0.0, 0.5, 0.999, 1.001, 2.0, 1000.0];
    let change = prop_oneof![
        2 => odd_value().prop_map(Mutation::Replace),
        4 => select(bent.to_vec()).prop_map(Mutation::Bend),
        2 => select(vec![Mutation::Remove, Mutation::Repeat]),
        1 => any::<Index>().prop_map(Mutation::Copy),
    ];
    prop::collection::vec((change, any::<Index>()), 0..4)
}

fn damage() -> impl Strategy<Value = Option<Damage>> {
    // Inserts, overwrites or truncates.
    let removed = select(vec![0, 1, 20, usize::MAX]);
    prop::option::weighted(0.25, (any::<Index>(), removed, prop::collection::vec(any::<u8>(), 0..20)))
}

fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    let mut visit = |name: &str, inner: &Value| {
        let path = format!("{here}/{name}");
        places(inner, &path, found);
        found.push(path);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| visit(name, inner)),
        // A long list is represented by its first entries and its last one.
        Value::Array(entries) => (0..entries.len())
            .filter(|&number| number < 2 || number + 1 == entries.len())
            .for_each(|number| visit(&number.to_string(), &entries[number])),
        _ => {}
    }
}

fn apply(document: &mut Value, (mutation, at): &(Mutation, Index)) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    if let Mutation::Bend(_) = mutation {
        found.retain(|path| !matches!(document.pointer(path), Some(Value::Object(_) | Value::Array(_))));
    }
    if found.is_empty() {
        return;
    }
    let path = &found[at.index(found.len())];
    let (parent, name) = path.rsplit_once('/').unwrap();
    match (mutation, document.pointer_mut(parent).unwrap()) {
        (Mutation::Replace(value), _) => *document.pointer_mut(path).unwrap() = value.clone(),
        (Mutation::Bend(by), _) => bend(document.pointer_mut(path).unwrap(), *by),
        (Mutation::Copy(from), _) => {
            let copied = document.pointer(&found[from.index(found.len())]).unwrap().clone();
            *document.pointer_mut(path).unwrap() = copied;
        }
        (Mutation::Remove, Value::Object(fields)) => drop(fields.remove(name)),
        (Mutation::Remove, Value::Array(entries)) => drop(entries.remove(name.parse().unwrap())),
        (Mutation::Repeat, Value::Object(fields)) => drop(fields.insert(format!("{name}_2"), fields[name].clone())),
        (Mutation::Repeat, Value::Array(entries)) => entries.push(entries[name.parse::<usize>().unwrap()].clone()),
        (Mutation::Remove | Mutation::Repeat, _) => unreachable!("only lists and objects have places"),
    }
}

fn bend(value: &mut Value, by: f64) {
    match value {
        Value::Bool(yes) => *yes = !*yes,
        Value::String(text) => text.push('x'),
        Value::Number(number) => match number.as_u64() {
            Some(whole) if by < 1.0 => *value = json!(whole.saturating_sub(1)),
            Some(whole) => *value = json!(whole.saturating_add(1)),
            None => *value = json!(number.as_f64().unwrap() * by),
        },
        _ => {}
    }
}

/// Returns the text of a document, damaged, and with its first field repeated with this value, which is only possible
/// in the text.
fn bytes(document: &Value, damage: Option<&Damage>, again: Option<&Value>) -> Vec<u8> {
    let mut text = serde_json::to_vec(document).unwrap();
    if let Some((value, (first, _))) = again.zip(document.as_object().and_then(|fields| fields.iter().next())) {
        text.splice(0..1, format!("{{{}:{value},", json!(first)).into_bytes());
    }
    if let Some((at, removed, inserted)) = damage {
        let from = at.index(text.len());
        let to = text.len().min(from.saturating_add(*removed));
        text.splice(from..to, inserted.iter().copied());
    }
    text
}

/// Returns the import and the upload of a record, another announcement, and the requests of its run before it trains
/// and after the first segment.
fn requests(record: &RunRecord) -> [(&'static str, String, Value); 5] {
    let path = format!("/api/v1/runs/{}", record.run_id.as_deref().unwrap());
    let (nonce, workload, hash) = (&record.nonce, &record.workloads[0].workload, "0".repeat(64));
    let lap = json!({ "nonce": nonce, "workload": workload, "segment": 0, "state_sha256": hash });
    let mut segment = lap.clone();
    (segment["step"], segment["losses_sha256"], segment["ends_lap"]) = (json!(5), json!(hash), json!(false));
    [
        ("POST", "/api/v1/runs/import".to_owned(), json!(record)),
        ("PUT", path.clone(), json!(record)),
        ("POST", "/api/v1/runs".to_owned(), json!(record::start())),
        ("POST", format!("{path}/laps"), lap),
        ("POST", format!("{path}/segments"), segment),
    ]
}

#[test]
fn arbitrary_bodies_never_cause_internal_errors() {
    let server = TestServer::protected_by(unlimited);
    let announced = RefCell::new(server.honest_run().1);
    // An invalid number is an error.
    let cases = std::env::var("GRADMARK_FUZZ_CASES").map_or(3_000, |number| number.parse().expect("a number of cases"));
    let call = prop_oneof![8 => 0..2_usize, 1 => 2..5_usize];
    let case = (call, changes(), damage(), prop::option::weighted(0.06, odd_value()));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let statuses = RefCell::new(BTreeMap::<u16, u32>::new());
    let tried = TestRunner::new(config).run(&case, |(call, changes, damage, again)| {
        let (method, path, mut document) = requests(&announced.borrow())[call].clone();
        changes.iter().for_each(|change| apply(&mut document, change));
        let body = bytes(&document, damage.as_ref(), again.as_ref());
        let answer = server.send(method, &path, &[("content-type", "application/json")], &body);
        if method == "PUT" && answer.status == 201 {
            *announced.borrow_mut() = server.honest_run().1;
        }
        let (status, text) = (answer.status.as_u16(), answer.text());
        *statuses.borrow_mut().entry(status).or_default() += 1;
        prop_assert!(status < 500, "{status}: {text}");
        prop_assert!(status < 300 || text.contains("\"code\""), "{status}: {text}");
        Ok(())
    });
    println!("{cases} cases, by status: {:?}", statuses.borrow());
    tried.unwrap_or_else(|failure| panic!("{failure}"));
    // The changes must get past the parser, and some past every rule.
    let statuses = statuses.into_inner();
    for status in [201, 400, 422] {
        assert!(statuses.get(&status).is_some_and(|&number| number * 100 > cases), "{status} in {statuses:?}");
    }
}
