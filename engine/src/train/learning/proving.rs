//! Client side of the proof of learning. A leaderboard follows the training segment by segment and requests hashes and
//! states afterwards. docs/PROOF.md describes the protocol.

use std::rc::Rc;

use results::api::{CommitSegment, OpenLap, PartHashes, ProvePart, WantedHashes};
use results::{Beacon, Phase, Segment, StateBytes, Warning, losses_sha256};

use super::Learning;
use crate::error::{EngineError, Result};
use crate::train::proof::{Kept, KeptReason, Lap, Proof, Witness};
use crate::train::{Edges, Event};
use crate::training::segment_seed;

/// Maximum total size in bytes of the states kept inside a part. More states mean fewer steps to retrain.
const MAX_INSIDE_BYTES: usize = 64 << 20;
/// Maximum number of leaderboard requests after a training.
const MAX_REQUESTS: u32 = 100;

/// Cause of a proof that ended early.
#[derive(Debug, thiserror::Error)]
enum Broken {
    /// Missing answer or refusal from the leaderboard. The run continues without it.
    #[error("{0}")]
    Witness(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<String> for Broken {
    fn from(reason: String) -> Self {
        Self::Witness(reason)
    }
}

impl Learning<'_, '_> {
    /// Starts a segment and returns its beacon, if a leaderboard follows this training.
    pub(super) async fn begin_segment(&mut self) -> Result<Option<Beacon>> {
        let phase = self.progress.now();
        if self.proof.as_ref().is_some_and(|proof| proof.is_warming_up) && self.is_warm() {
            self.end_lap().await?;
        }
        let Some(mut proof) = self.proof.take() else { return Ok(None) };
        let begun = self.next_beacon(&mut proof).await;
        self.proof = Some(proof);
        if let Some(phase) = phase {
            self.progress.phase(self.edges, phase);
        }
        let beacon = self.unless_broken(begun)?;
        if let (Some(beacon), Some(proof)) = (beacon, &mut self.proof) {
            let seed = segment_seed(beacon, self.job.seed);
            proof.segments.begin(self.step, seed);
            self.trainer.begin_segment(seed);
        }
        Ok(beacon)
    }

    pub(super) async fn end_segment(&mut self, beacon: Beacon, losses: &[f64]) -> Result<()> {
        let start = self.edges.clock.now_seconds();
        let state = self.trainer.state().await?;
        let state_sha256 = state.sha256();
        let step = self.step;
        #[expect(clippy::cast_possible_truncation, reason = "losses are float32 on every backend that is timed")]
        let losses: Vec<f32> = losses.iter().map(|&loss| loss as f32).collect();
        let segment = self.segment();
        let Some(proof) = &mut self.proof else { return Ok(()) };
        let begin = step - losses.len() as u64;
        if let Some(lap) = &mut proof.lap {
            let commitment = CommitSegment {
                nonce: String::new(),
                workload: self.record.workload.clone(),
                segment,
                step,
                state_sha256: state_sha256.clone(),
                losses_sha256: losses_sha256(&losses),
                ends_lap: false,
            };
            lap.unsent = Some((begin, commitment));
        }
        proof.losses.insert(begin, losses);
        proof.sent.insert(step, state_sha256.clone());
        proof.kept.push(step, state);
        proof.commitment_seconds = self.edges.clock.now_seconds() - start;
        self.record.segments.push(Segment { beacon, state_sha256 });
        Ok(())
    }

    pub(in crate::train) async fn end_lap(&mut self) -> Result<()> {
        let is_warm = self.is_warm();
        let Some(proof) = &mut self.proof else { return Ok(()) };
        proof.is_warming_up &= !is_warm;
        let Some(lap) = proof.lap.take() else { return Ok(()) };
        self.progress.phase(self.edges, Phase::Proving);
        let ended = lap.end(&mut proof.kept, self.edges).await;
        self.unless_broken(ended).map(drop)
    }

    /// Answers the leaderboard's requests for hashes and states after a training, retraining parts if necessary.
    pub(in crate::train) async fn prove(&mut self) -> Result<()> {
        let Some(mut proof) = self.proof.take() else { return Ok(()) };
        let Some(tested_step) = self.record.evaluations.last().map(|last| last.step) else { return Ok(()) };
        self.progress.phase(self.edges, Phase::Proving);
        match self.show_all(&mut proof, tested_step).await {
            Ok(()) => Ok(()),
            Err(Broken::Engine(error)) => Err(error),
            Err(Broken::Witness(reason)) => {
                // The next workload can still be proven.
                self.warn_unproven(reason);
                Ok(())
            }
        }
    }

    async fn next_beacon(&mut self, proof: &mut Proof) -> Result<Beacon, Broken> {
        if let Some(lap) = &mut proof.lap {
            if let Some((begin, answer)) = lap.pending.take() {
                let answer = answer.await?;
                proof.kept.pin_parts(&answer.draws, begin);
                lap.beacons.extend(answer.beacon);
            }
            let witness = witness(self.edges)?;
            lap.pending = lap.unsent.take().map(|(begin, commitment)| (begin, witness.commit(commitment)));
        } else {
            self.progress.phase(self.edges, Phase::Proving);
            if proof.sent.is_empty() {
                let state = self.trainer.state().await?;
                proof.sent.insert(self.step, state.sha256());
                proof.kept.push(self.step, state);
            }
            let (workload, state_sha256) = (self.record.workload.clone(), proof.sent[&self.step].clone());
            let lap = OpenLap { nonce: String::new(), workload, segment: self.segment(), state_sha256 };
            let opened = witness(self.edges)?.open_lap(lap).await?;
            proof.lap = Some(Lap { beacons: opened.beacons.into(), pending: None, unsent: None });
        }
        let beacon = proof.lap.as_mut().and_then(|lap| lap.beacons.pop_front());
        beacon.ok_or_else(|| Broken::Witness("the leaderboard gave no beacon".to_owned()))
    }

    /// Returns the number of the next segment, from 0.
    fn segment(&self) -> u32 {
        u32::try_from(self.record.segments.len()).unwrap_or(u32::MAX)
    }

    async fn show_all(&mut self, proof: &mut Proof, tested_step: u64) -> Result<(), Broken> {
        let (nonce, workload) = (String::new(), self.record.workload.clone());
        let target_step = self.record.target.as_ref().and_then(|target| target.reached_step);
        let part = ProvePart { nonce, workload, tested_step, target_step, hashes: None };
        let mut hashes = None;
        for _ in 0..MAX_REQUESTS {
            let wanted = witness(self.edges)?.prove(ProvePart { hashes: hashes.take(), ..part.clone() }).await?;
            if let Some(wanted) = wanted.hashes {
                hashes = Some(self.hashes_inside(proof, wanted).await?);
                continue;
            }
            if wanted.states.is_empty() {
                return Ok(());
            }
            for of in wanted.states {
                let state = self.state_after(proof, of.step).await?;
                witness(self.edges)?.show(&part.workload, of.step, state.body(of.weights_only)).await?;
            }
        }
        Err(Broken::Witness("the leaderboard did not stop requesting hashes and states".to_owned()))
    }

    /// Retrains a part and hashes states inside it.
    async fn hashes_inside(&mut self, proof: &mut Proof, wanted: WantedHashes) -> Result<PartHashes, Broken> {
        let WantedHashes { draw, steps, at, losses } = wanted;
        let losses = if losses { proof.losses.get(&steps[0]).cloned().unwrap_or_default() } else { Vec::new() };
        let begin = self.state_after(proof, steps[0]).await?;
        self.trainer.restore(&begin, steps[0], &proof.segments).await?;
        let stride = (at.len() * begin.len()).div_ceil(MAX_INSIDE_BYTES).max(1);
        proof.kept.pinned.insert(KeptReason::Part(draw), (steps[0], begin));
        proof.kept.inside.clear();
        let mut step = steps[0];
        let mut state_sha256 = Vec::new();
        for (place, next) in at.into_iter().chain([steps[1]]).enumerate() {
            let more = next.checked_sub(step).filter(|&more| more > 0);
            self.train_again(more.ok_or("the leaderboard requested steps out of order".to_owned())?).await?;
            step = next;
            let state = self.trainer.state().await?;
            let sha256 = state.sha256();
            if *proof.sent.entry(step).or_insert_with(|| sha256.clone()) != sha256 {
                return Err(Broken::Witness("training again did not reproduce the same state".to_owned()));
            }
            state_sha256.push(sha256);
            if place % stride == stride - 1 {
                proof.kept.inside.push((step, Rc::new(state)));
            }
        }
        // The hash at the end is already known.
        state_sha256.pop();
        Ok(PartHashes { draw, steps, state_sha256, losses })
    }

    /// Returns the state after `step` steps, retrained from the nearest earlier kept state if necessary.
    async fn state_after(&mut self, proof: &Proof, step: u64) -> Result<Rc<StateBytes>, Broken> {
        if step > self.step {
            return Err(Broken::Witness("the leaderboard requested a step that was never trained".to_owned()));
        }
        let (kept, state) =
            proof.kept.before(step).ok_or("the leaderboard requested a part that it did not draw".to_owned())?;
        if kept == step {
            return Ok(state);
        }
        self.trainer.restore(&state, kept, &proof.segments).await?;
        self.train_again(step - kept).await?;
        Ok(Rc::new(self.trainer.state().await?))
    }

    /// Retrains in windows, so that a run can be paused or canceled in between.
    async fn train_again(&mut self, mut left: u64) -> Result<(), Broken> {
        while left > 0 {
            self.pause().await;
            if self.edges.observer.cancelled() {
                return Err(Broken::Witness("it was cancelled".to_owned()));
            }
            let steps = self.steps_of_window(self.step + left, f64::INFINITY);
            self.trainer.train_steps(steps).await?;
            left -= u64::from(steps);
        }
        Ok(())
    }

    /// Continues without the leaderboard if the leaderboard caused the error.
    fn unless_broken<T>(&mut self, result: Result<T, Broken>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Broken::Engine(error)) => Err(error),
            Err(Broken::Witness(reason)) => {
                self.proof = None;
                self.edges.witness = None;
                self.warn_unproven(reason);
                Ok(None)
            }
        }
    }

    fn warn_unproven(&mut self, reason: String) {
        let warning = Warning::CheckpointMissed { workload: self.record.workload.clone(), reason };
        self.edges.observer.event(&Event::Warned { warning: warning.clone() });
        self.warnings.push(warning);
    }
}

fn witness<'a>(edges: &'a mut Edges<'_>) -> Result<&'a mut dyn Witness, String> {
    match &mut edges.witness {
        Some(witness) => Ok(*witness),
        None => Err("no leaderboard follows it".to_owned()),
    }
}

impl Lap {
    async fn end(self, kept: &mut Kept, edges: &mut Edges<'_>) -> Result<(), Broken> {
        if let Some((begin, answer)) = self.pending {
            kept.pin_parts(&answer.await?.draws, begin);
        }
        if let Some((begin, commitment)) = self.unsent {
            let answer = witness(edges)?.commit(CommitSegment { ends_lap: true, ..commitment }).await?;
            kept.pin_parts(&answer.draws, begin);
        }
        Ok(())
    }
}
