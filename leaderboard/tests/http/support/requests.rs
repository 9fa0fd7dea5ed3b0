//! Requests of a client during and after training.

use std::sync::Arc;

use results::api::{CommitSegment, OpenLap, PartHashes, ProofWanted, ProvePart, StartedRun, WantedHashes};
use results::losses_sha256;
use serde::{Deserialize, Serialize};

use super::record::SMALL;
use super::{HttpAnswer, TestClient};

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct TimedCall {
    /// Seconds since the run was announced, on the server's clock.
    pub(crate) at: f64,
    pub(crate) call: RunCall,
}

/// A request of a run, without its nonce.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) enum RunCall {
    OpenLap(OpenLap),
    Commit(CommitSegment),
    Prove(ProvePart),
    Show {
        workload: String,
        step: u64,
        #[serde(with = "in_base64")]
        state: Arc<Vec<u8>>,
    },
}

/// Megabytes in JSON, which would be slow as lists of numbers.
mod in_base64 {
    use std::sync::Arc;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Vec<u8>>, D::Error> {
        STANDARD.decode(<&str>::deserialize(deserializer)?).map(Arc::new).map_err(D::Error::custom)
    }
}

impl RunCall {
    pub(crate) fn workload(&self) -> &str {
        match self {
            Self::OpenLap(lap) => &lap.workload,
            Self::Commit(segment) => &segment.workload,
            Self::Prove(part) => &part.workload,
            Self::Show { workload, .. } => workload,
        }
    }

    pub(crate) fn send(&self, client: &TestClient, run: &StartedRun) -> HttpAnswer {
        let nonce = run.nonce.clone();
        let path = |end: &str| format!("/api/v1/runs/{}/{end}", run.run_id);
        match self {
            Self::OpenLap(lap) => client.json("POST", &path("laps"), &OpenLap { nonce, ..lap.clone() }),
            Self::Commit(segment) => {
                client.json("POST", &path("segments"), &CommitSegment { nonce, ..segment.clone() })
            }
            Self::Prove(part) => client.json("POST", &path("proof"), &ProvePart { nonce, ..part.clone() }),
            Self::Show { workload, step, state } => {
                let bearer = format!("Bearer {nonce}");
                let headers = [("content-type", "application/octet-stream"), ("authorization", bearer.as_str())];
                client.send("PUT", &path(&format!("states/{workload}/{step}")), &headers, state)
            }
        }
    }
}

const NO_NONCE: String = String::new();

/// Returns an invented hash of the state after `step` steps.
pub(crate) fn hash(step: u64) -> String {
    format!("{step:064x}")
}

pub(crate) fn lap(segment: u32, state_sha256: &str) -> RunCall {
    let state_sha256 = state_sha256.to_owned();
    RunCall::OpenLap(OpenLap { nonce: NO_NONCE, workload: SMALL.to_owned(), segment, state_sha256 })
}

/// Commits to a segment of these steps with the losses of [`losses`].
pub(crate) fn segment(number: u32, steps: [u64; 2], state_sha256: &str, ends_lap: bool) -> CommitSegment {
    let (nonce, workload, state_sha256) = (NO_NONCE, SMALL.to_owned(), state_sha256.to_owned());
    let losses_sha256 = losses_sha256(&losses(steps));
    CommitSegment { nonce, workload, segment: number, step: steps[1], state_sha256, losses_sha256, ends_lap }
}

pub(crate) fn losses(steps: [u64; 2]) -> Vec<f32> {
    (steps[0]..steps[1]).map(|step| 1.0 / (1.0 + step as f32)).collect()
}

/// Returns a `proof` request for a training whose last test was after `tested_step` steps, at the end of a segment.
pub(crate) fn proof(tested_step: u64, target_step: Option<u64>, hashes: Option<PartHashes>) -> RunCall {
    RunCall::Prove(ProvePart { nonce: NO_NONCE, workload: SMALL.to_owned(), tested_step, target_step, hashes })
}

/// Returns the requested hashes, from [`hash`] and [`losses`].
pub(crate) fn hashes(wanted: &WantedHashes) -> PartHashes {
    let losses = if wanted.losses { losses(wanted.steps) } else { Vec::new() };
    let state_sha256 = wanted.at.iter().map(|&step| hash(step)).collect();
    PartHashes { draw: wanted.draw, steps: wanted.steps, state_sha256, losses }
}

pub(crate) fn send_lap(client: &TestClient, run: &StartedRun, first_sha256: &str, ends: &[(u64, String)]) {
    taken(client, run, &lap(0, first_sha256));
    let mut before = 0;
    for (number, (step, sha256)) in (0..).zip(ends) {
        let is_last = number as usize + 1 == ends.len();
        taken(client, run, &RunCall::Commit(segment(number, [before, *step], sha256, is_last)));
        before = *step;
    }
}

/// Answers requests for hashes until the server requests states, for a training whose last test was after `tested_step`
/// steps.
pub(crate) fn send_hashes(client: &TestClient, run: &StartedRun, tested_step: u64) -> ProofWanted {
    let mut wanted: ProofWanted = taken(client, run, &proof(tested_step, None, None)).parse();
    while let Some(part) = &wanted.hashes {
        wanted = taken(client, run, &proof(tested_step, None, Some(hashes(part)))).parse();
    }
    wanted
}

#[track_caller]
pub(crate) fn taken(client: &TestClient, run: &StartedRun, call: &RunCall) -> HttpAnswer {
    let answer = call.send(client, run);
    assert!(answer.status.is_success(), "{}", answer.text());
    answer
}
