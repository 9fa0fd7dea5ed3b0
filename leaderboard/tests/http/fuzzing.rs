//! Thousands of records that are nearly right, through the whole router: each gets an answer, and none an excuse.
//!
//! `GRADMARK_FUZZ_CASES=1000000 cargo test --release -p leaderboard --test http fuzzing` takes longer and finds more.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leaderboard::Clock;
use leaderboard::fuzzing::{Answered, InProcess};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use results::RunRecord;
use results::api::{CommitSegment, OpenLap, StartRun, StartedRun};
use serde_json::{Value, json};

use crate::support::server::BEGINNING;
use crate::support::{TestDatabase, record};

/// Some seconds' worth.
const CASES: u32 = 3_000;

/// What happens to a record on its way.
#[derive(Clone, Debug)]
enum Change {
    /// A field, or an entry of a list, becomes something else.
    Replace(Index, Value),
    /// A number, a text or a yes becomes another one, as the field may hold it.
    Bend(Index, f64),
    Remove(Index),
    /// An entry of a list comes twice, and a field again under another name.
    Repeat(Index),
    /// Something of the record stands in another place as well.
    Copy(Index, Index),
}

/// What happens to the text of it.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Truncate(Index),
    /// Bytes, not characters, so that it may be no text any more.
    Overwrite(Index, Vec<u8>),
    Insert(Index, Vec<u8>),
    Replace(Vec<u8>),
    /// The first field comes again, which only text can say.
    FieldAgain(Value),
}

/// Where it is sent.
#[derive(Clone, Copy, Debug)]
enum Call {
    Import,
    /// To a run that was announced.
    Upload,
    /// Not a record, but what announces one.
    Announce,
    /// Request of an announced run before it trains …
    OpenLap,
    /// … and after the first segment.
    Commit,
}

fn odd_value() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(0),
        json!(-1),
        json!(1),
        json!(2),
        json!(0.5),
        json!(u32::MAX),
        json!(u64::from(u32::MAX) + 1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(f64::MAX),
        json!(f64::MIN_POSITIVE),
        json!(-0.0),
        json!(1e308),
        json!(1e-320),
        json!(9_007_199_254_740_993_u64),
    ];
    let texts = ["", "\0", "ranked", "wgsl", "f32", "quick", "🦀", "../../etc/passwd", "'; DROP TABLE runs; --", "NaN"];
    prop_oneof![
        select(numbers.to_vec()),
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

/// Paths of everything in a document, the document itself left out.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    let mut visit = |name: &str, inner: &Value| {
        let path = format!("{here}/{name}");
        places(inner, &path, found);
        found.push(path);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| visit(name, inner)),
        // Of a long list the first entries and the last stand for all.
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

/// The server, and a run that was announced to it.
struct Target {
    runtime: tokio::runtime::Runtime,
    server: InProcess,
    announced: RefCell<RunRecord>,
    now: Arc<AtomicU64>,
}

impl Target {
    fn open(database: &TestDatabase) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let now = Arc::new(AtomicU64::new(0));
        let seconds = Arc::clone(&now);
        let clock = Clock::from_fn(move || BEGINNING + seconds.load(Ordering::Relaxed) as f64);
        let server = runtime.block_on(InProcess::open(&database.address(), clock)).unwrap();
        let target = Self { runtime, server, announced: RefCell::new(record::unregistered(1)), now };
        target.announce();
        target
    }

    fn send(&self, method: &str, path: &str, body: Vec<u8>) -> Answered {
        self.runtime.block_on(self.server.send(method, path, body)).unwrap()
    }

    /// Announces a run, whose record the next uploads are made from.
    fn announce(&self) {
        let answer = self.send("POST", "/api/v1/runs", serde_json::to_vec(&start()).unwrap());
        let started: StartedRun = serde_json::from_str(&answer.text).unwrap();
        *self.announced.borrow_mut() = record::for_run(&started);
        // As long as the record says that it took.
        self.now.fetch_add(20, Ordering::Relaxed);
    }

    fn answer(&self, call: Call, changes: &[Change], damage: &Damage) -> Answered {
        let record = self.announced.borrow().clone();
        let (method, path, mut document) = match call {
            Call::Announce => ("POST", "/api/v1/runs".to_owned(), start()),
            Call::OpenLap => ("POST", format!("/api/v1/runs/{}/laps", id(&record)), lap(&record)),
            Call::Commit => ("POST", format!("/api/v1/runs/{}/segments", id(&record)), segment(&record)),
            Call::Import => ("POST", "/api/v1/runs/import".to_owned(), serde_json::to_value(&record).unwrap()),
            Call::Upload => ("PUT", format!("/api/v1/runs/{}", id(&record)), serde_json::to_value(&record).unwrap()),
        };
        changes.iter().for_each(|change| apply(&mut document, change));
        let answer = self.send(method, &path, bytes(&document, damage));
        if matches!(call, Call::Upload) && answer.status == 201 {
            // It is used up.
            self.announce();
        }
        answer
    }
}

fn id(record: &RunRecord) -> &str {
    record.run_id.as_deref().unwrap()
}

/// The first lap of the first network.
fn lap(record: &RunRecord) -> Value {
    let lap = OpenLap {
        nonce: record.nonce.clone().unwrap(),
        workload: record.workloads[0].workload.clone(),
        segment: 0,
        state_sha256: "0".repeat(64),
    };
    serde_json::to_value(lap).unwrap()
}

fn segment(record: &RunRecord) -> Value {
    let segment = CommitSegment {
        nonce: record.nonce.clone().unwrap(),
        workload: record.workloads[0].workload.clone(),
        segment: 0,
        step: 5,
        state_sha256: "0".repeat(64),
        losses_sha256: "0".repeat(64),
        ends_lap: false,
    };
    serde_json::to_value(segment).unwrap()
}

fn start() -> Value {
    let start = StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
    serde_json::to_value(start).unwrap()
}

/// Cases to try; a number that cannot be read is an error, not the usual number.
fn cases() -> u32 {
    std::env::var("GRADMARK_FUZZ_CASES")
        .map_or(CASES, |number| number.parse().expect("GRADMARK_FUZZ_CASES is a number of cases"))
}

#[test]
fn arbitrary_bodies_never_cause_internal_errors() {
    let database = TestDatabase::new();
    let target = Target::open(&database);
    let call = prop_oneof![
        4 => Just(Call::Import),
        4 => Just(Call::Upload),
        1 => select(vec![Call::Announce, Call::OpenLap, Call::Commit]),
    ];
    let case = (call, prop::collection::vec(change(), 0..4), damage());
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let statuses = RefCell::new(BTreeMap::<u16, u32>::new());
    let tried = TestRunner::new(config).run(&case, |(call, changes, damage)| {
        let answer = target.answer(call, &changes, &damage);
        *statuses.borrow_mut().entry(answer.status).or_default() += 1;
        prop_assert!(answer.status < 500, "{}: {}", answer.status, answer.text);
        prop_assert!(answer.status < 300 || answer.text.contains("\"code\""), "{}: {}", answer.status, answer.text);
        Ok(())
    });
    println!("{} cases, by status: {:?}", cases(), statuses.borrow());
    tried.unwrap_or_else(|failure| panic!("{failure}"));
    // The changes must get beyond the parser, and some past every rule.
    let statuses = statuses.into_inner();
    for status in [201, 400, 422] {
        assert!(statuses.get(&status).is_some_and(|&number| number * 100 > cases()), "{status} in {statuses:?}");
    }
}
