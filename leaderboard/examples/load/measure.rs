//! Durations and rates beside what is wanted of them.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Kind;

/// Everything that was measured on one data base.
#[derive(Serialize)]
pub(crate) struct Report {
    database: String,
    results: u64,
    pub(crate) figures: Vec<Figure>,
}

/// One thing that was measured.
#[derive(Serialize)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    /// At most so much of a duration, at least so much of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<f64>,
}

impl Figure {
    pub(crate) fn missed(&self) -> bool {
        let Some(wanted) = self.wanted else { return false };
        if self.unit == "ms" { self.value > wanted } else { self.value < wanted }
    }
}

impl Report {
    pub(crate) fn new(kind: Kind, results: u64) -> Self {
        let database = format!("{kind:?}");
        eprintln!("{database}, {results} results");
        Self { database, results, figures: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &str, value: f64, unit: &'static str, wanted: Option<f64>) {
        let figure = Figure { name: name.to_owned(), value, unit, wanted };
        let beside = match wanted {
            None => String::new(),
            Some(wanted) => format!("   wanted {wanted} {}", if figure.missed() { "MISSED" } else { "met" }),
        };
        eprintln!("  {name:<58} {value:>10.1} {unit:<9}{beside}");
        self.figures.push(figure);
    }

    /// The 95th percentile of durations, and the median without a target.
    pub(crate) fn add_durations(&mut self, name: &str, mut durations: Vec<Duration>, wanted_milliseconds: f64) {
        durations.sort_unstable();
        let at = |share: usize| durations[(durations.len() * share / 100).min(durations.len() - 1)].as_secs_f64() * 1e3;
        self.add(&format!("{name}, p95"), at(95), "ms", Some(wanted_milliseconds));
        self.add(&format!("{name}, median"), at(50), "ms", None);
    }
}

/// Performs `number` requests on so many threads and returns how long each took.
pub(crate) fn together(clients: u32, number: u32, ask: impl Fn(u32) + Sync) -> Vec<Duration> {
    let ask = &ask;
    std::thread::scope(|scope| {
        let work = |client: u32| {
            move || {
                let of_client = (client..number).step_by(clients as usize);
                let timed = |i| {
                    let begin = Instant::now();
                    ask(i);
                    begin.elapsed()
                };
                of_client.map(timed).collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..clients).map(|client| scope.spawn(work(client))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client ends well")).collect()
    })
}
