//! Sends thousands of records that are nearly right to a server, which must never fail.
//!
//! `GRADMARK_FUZZ_CASES=1000000 cargo test --release -p leaderboard --test http fuzzing` takes longer and finds more.

use std::cell::RefCell;
use std::collections::BTreeMap;

use leaderboard::Protection;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use results::RunRecord;
use results::api::{CommitSegment, OpenLap, StartRun};
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, record};

/// Number of cases, which take some seconds.
const CASES: u32 = 3_000;

#[derive(Clone, Debug)]
enum Change {
    /// Replaces a field or an entry of a list.
    Replace(Index, Value),
    /// Changes a number, a text or a boolean to another one of its type.
    Bend(Index, f64),
    Remove(Index),
    /// Repeats an entry of a list, or a field under another name.
    Repeat(Index),
    /// Copies a part of the record to another place.
    Copy(Index, Index),
}

#[derive(Clone, Debug)]
enum Damage {
    None,
    Truncate(Index),
    /// Overwrites bytes, not characters, so the result may be invalid text.
    Overwrite(Index, Vec<u8>),
    Insert(Index, Vec<u8>),
    Replace(Vec<u8>),
    /// Repeats the first field, which is only possible in the text.
    FieldAgain(Value),
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Import,
    Upload,
    Announce,
    /// Request of an announced run before it trains …
    OpenLap,
    /// … and after the first segment.
    Commit,
}

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

fn change() -> impl Strategy<Value = Change> {
    let place = any::<Index>;
    prop_oneof![
        2 => (place(), odd_value()).prop_map(|(at, value)| Change::Replace(at, value)),
        4 => (place(), select(vec![0.0, 0.5, 0.999, 1.001, 2.0, 1000.0])).prop_map(|(at, by)| Change::Bend(at, by)),
        1 => place().prop_map(Change::Remove),
        1 => place().prop_map(Change::Repeat),
        1 => (place(), place()).prop_map(|(from, to)| Change::Copy(from, to)),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..20);
    prop_oneof![
        12 => Just(Damage::None),
        1 => any::<Index>().prop_map(Damage::Truncate),
        1 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Damage::Overwrite(at, bytes)),
        1 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Damage::Replace),
        1 => odd_value().prop_map(Damage::FieldAgain),
    ]
}

/// Adds the paths of all parts of a document.
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

fn apply(document: &mut Value, change: &Change) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    if found.is_empty() {
        return;
    }
    match change {
        Change::Replace(at, value) => *document.pointer_mut(&found[at.index(found.len())]).unwrap() = value.clone(),
        Change::Bend(at, by) => {
            let leaves: Vec<_> = found.iter().filter(|path| is_leaf(document.pointer(path).unwrap())).collect();
            if !leaves.is_empty() {
                bend(document.pointer_mut(leaves[at.index(leaves.len())]).unwrap(), *by);
            }
        }
        Change::Copy(from, to) => {
            let copied = document.pointer(&found[from.index(found.len())]).unwrap().clone();
            *document.pointer_mut(&found[to.index(found.len())]).unwrap() = copied;
        }
        Change::Remove(at) => within(document, &found[at.index(found.len())], |parent, name| match parent {
            Value::Object(fields) => drop(fields.remove(name)),
            Value::Array(entries) => drop(entries.remove(name.parse().unwrap())),
            _ => unreachable!("only these have places"),
        }),
        Change::Repeat(at) => within(document, &found[at.index(found.len())], |parent, name| match parent {
            Value::Object(fields) => drop(fields.insert(format!("{name}_2"), fields[name].clone())),
            Value::Array(entries) => entries.push(entries[name.parse::<usize>().unwrap()].clone()),
            _ => unreachable!("only these have places"),
        }),
    }
}

fn is_leaf(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
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

fn within(document: &mut Value, path: &str, change: impl FnOnce(&mut Value, &str)) {
    let (parent, name) = path.rsplit_once('/').unwrap();
    change(document.pointer_mut(parent).unwrap(), name);
}

fn bytes(document: &Value, damage: &Damage) -> Vec<u8> {
    let mut text = serde_json::to_vec(document).unwrap();
    let at = |index: &Index, text: &[u8]| index.index(text.len());
    match damage {
        Damage::None => {}
        Damage::Truncate(index) => text.truncate(at(index, &text)),
        Damage::Overwrite(index, bytes) => {
            let from = at(index, &text);
            let to = text.len().min(from + bytes.len());
            text.splice(from..to, bytes.iter().copied());
        }
        Damage::Insert(index, bytes) => {
            let from = at(index, &text);
            text.splice(from..from, bytes.iter().copied());
        }
        Damage::Replace(bytes) => text.clone_from(bytes),
        Damage::FieldAgain(value) => {
            let Some((first, _)) = document.as_object().and_then(|fields| fields.iter().next()) else { return text };
            text.splice(0..1, format!("{{{}:{value},", json!(first)).into_bytes());
        }
    }
    text
}

struct Target {
    server: TestServer,
    announced: RefCell<RunRecord>,
}

impl Target {
    fn start() -> Self {
        let server = TestServer::protected_by(Protection {
            announcements_per_hour: 0,
            imports_per_hour: 0,
            uploads_per_second: 0,
            reading_per_second: 0,
            open_runs: 0,
            import_bytes_per_day: 0,
            weights_bytes: 0,
            ..Protection::default()
        });
        let announced = RefCell::new(server.honest_run().1);
        Self { server, announced }
    }

    fn answer(&self, call: Call, changes: &[Change], damage: &Damage) -> Answer {
        let record = self.announced.borrow().clone();
        let (method, path, mut document) = match call {
            Call::Announce => ("POST", "/api/v1/runs".to_owned(), start()),
            Call::OpenLap => ("POST", format!("/api/v1/runs/{}/laps", id(&record)), lap(&record)),
            Call::Commit => ("POST", format!("/api/v1/runs/{}/segments", id(&record)), segment(&record)),
            Call::Import => ("POST", "/api/v1/runs/import".to_owned(), serde_json::to_value(&record).unwrap()),
            Call::Upload => ("PUT", format!("/api/v1/runs/{}", id(&record)), serde_json::to_value(&record).unwrap()),
        };
        changes.iter().for_each(|change| apply(&mut document, change));
        let headers = [("content-type", "application/json")];
        let answer = self.server.send(method, &path, &headers, &bytes(&document, damage));
        if matches!(call, Call::Upload) && answer.status == 201 {
            *self.announced.borrow_mut() = self.server.honest_run().1;
        }
        answer
    }
}

fn id(record: &RunRecord) -> &str {
    record.run_id.as_deref().unwrap()
}

fn lap(record: &RunRecord) -> Value {
    let (nonce, workload) = (record.nonce.clone().unwrap(), record.workloads[0].workload.clone());
    serde_json::to_value(OpenLap { nonce, workload, segment: 0, state_sha256: "0".repeat(64) }).unwrap()
}

fn segment(record: &RunRecord) -> Value {
    let (state_sha256, losses_sha256) = ("0".repeat(64), "0".repeat(64));
    let (nonce, workload) = (record.nonce.clone().unwrap(), record.workloads[0].workload.clone());
    let segment = CommitSegment { nonce, workload, segment: 0, step: 5, state_sha256, losses_sha256, ends_lap: false };
    serde_json::to_value(segment).unwrap()
}

fn start() -> Value {
    let start = StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
    serde_json::to_value(start).unwrap()
}

#[test]
fn arbitrary_bodies_never_cause_internal_errors() {
    let target = Target::start();
    // An invalid number is an error.
    let cases = std::env::var("GRADMARK_FUZZ_CASES").map_or(CASES, |number| number.parse().expect("a number of cases"));
    let call = prop_oneof![
        4 => Just(Call::Import),
        4 => Just(Call::Upload),
        1 => select(vec![Call::Announce, Call::OpenLap, Call::Commit]),
    ];
    let case = (call, prop::collection::vec(change(), 0..4), damage());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let statuses = RefCell::new(BTreeMap::<u16, u32>::new());
    let tried = TestRunner::new(config).run(&case, |(call, changes, damage)| {
        let answer = target.answer(call, &changes, &damage);
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
