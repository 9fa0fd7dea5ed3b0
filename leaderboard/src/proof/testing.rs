//! An announced run and its history, for tests.

use results::{Beacon, Suite};

use super::{SeenLap, SeenSegment, SeenWorkload, Started};

/// Returns a run that was announced at 0 s and expires at 1000 s.
pub(crate) fn started(run_id: &str) -> Started {
    Started {
        run_id: run_id.to_owned(),
        seed: 1,
        suite: Suite { name: "quick".to_owned(), version: 1 },
        engine_version: "0.1.0".to_owned(),
        created_unix_seconds: 0.0,
        expires_unix_seconds: 1000.0,
        used: false,
        submitter: None,
        prefix: None,
        network: None,
    }
}

/// Returns laps with these numbers of segments, all of `steps` steps, with a second between any two requests.
pub(crate) fn seen(laps: &[u32], steps: u64) -> SeenWorkload {
    let mut seen = SeenWorkload { workload: "keras-mnist-mlp".to_owned(), ..SeenWorkload::default() };
    let mut now = 0.0;
    let mut number = 0;
    for &segments in laps {
        seen.laps.push(SeenLap {
            first_segment: number,
            state_sha256: format!("state {}", u64::from(number) * steps),
            opened_unix_seconds: now,
        });
        for place in 1..=segments {
            number += 1;
            now += 1.0;
            seen.segments.push(SeenSegment {
                step: u64::from(number) * steps,
                beacon: Beacon([0; 16]),
                state_sha256: format!("state {}", u64::from(number) * steps),
                losses_sha256: String::new(),
                ends_lap: place == segments,
                committed_unix_seconds: now,
            });
        }
        now += 1.0;
    }
    seen
}
