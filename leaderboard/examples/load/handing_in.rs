//! Announced runs that are handed in by many at once, with nothing computed again, and deleted again: a board that is kept
//! stays what it was.

use std::time::Instant;

use results::api::{AcceptedRun, StartRun, StartedRun};

use crate::measure::{Report, together};
use crate::server::{Client, Server};
use crate::support::record;

/// Who hand in at the same time.
const CLIENTS: u32 = 16;
/// Accepted hand-ins in a second, sustained.
const WANTED: f64 = 500.0;

pub(crate) fn measure(server: &Server, number: u32, report: &mut Report) {
    let client = server.client();
    let start = StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
    let start = serde_json::to_vec(&start).expect("JSON");
    let started = std::sync::Mutex::new(Vec::new());
    let begin = Instant::now();
    together(CLIENTS, number, |_| {
        let answer: StartedRun =
            serde_json::from_slice(&client.send("POST", "/api/v1/runs", Some(&start), 201)).expect("JSON");
        started.lock().expect("nobody panics with it").push(answer);
    });
    let announcing = begin.elapsed().as_secs_f64();
    report.add("runs announced", f64::from(number) / announcing, "a second", None);
    let started = started.into_inner().expect("nobody panics with it");
    // A client's own work is done before.
    let records: Vec<(String, Vec<u8>)> = started
        .iter()
        .enumerate()
        .map(|(i, run)| {
            let mut record = record::for_run(run);
            // No two real runs take equally long. Those of equal seeds would be one record here, and a deleted one stays away.
            record.provenance.wall_seconds += 1e-6 * i as f64;
            (run.run_id.clone(), serde_json::to_vec(&record).expect("JSON"))
        })
        .collect();
    server.pass(30.0);
    let accepted = std::sync::Mutex::new(Vec::new());
    let begin = Instant::now();
    let durations = together(CLIENTS, number, |i| {
        let (run_id, body) = &records[i as usize];
        let answer = client.send("PUT", &format!("/api/v1/runs/{run_id}"), Some(body), 201);
        accepted.lock().expect("nobody panics with it").push(answer);
    });
    let seconds = begin.elapsed().as_secs_f64();
    report.add("runs handed in and accepted", f64::from(number) / seconds, "a second", Some(WANTED));
    report.add("announced and handed in together", f64::from(number) / (announcing + seconds), "a second", None);
    report.add_durations("one of them, with fifteen others waiting", durations, 1000.0);
    delete(&client, &accepted.into_inner().expect("nobody panics with it"), report);
}

fn delete(client: &Client, accepted: &[Vec<u8>], report: &mut Report) {
    let runs: Vec<AcceptedRun> = accepted.iter().map(|answer| serde_json::from_slice(answer).expect("JSON")).collect();
    let number = u32::try_from(runs.len()).expect("it was one before");
    let begin = Instant::now();
    together(CLIENTS, number, |i| {
        let run = &runs[i as usize];
        client.delete(&format!("/api/v1/runs/{}", run.run_id), &run.deletion_secret);
    });
    report.add("runs deleted", f64::from(number) / begin.elapsed().as_secs_f64(), "a second", None);
}
