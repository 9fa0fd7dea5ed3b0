//! Tests of trainings that a leaderboard follows.

use async_trait::async_trait;
use results::api::{
    CommitSegment, CommittedSegment, OpenLap, OpenedLap, PartHashes, ProofWanted, ProvePart, WantedHashes, WantedState,
};
use results::{Beacon, Phase, Warning};

use super::fixtures::TrainingTest;
use crate::train::{PendingAnswer, Witness};

/// Leaderboard that numbers its beacons and records messages.
#[derive(Default)]
struct Follower {
    opened: Vec<OpenLap>,
    commitments: Vec<CommitSegment>,
    hashes: Vec<PartHashes>,
    states: Vec<(u64, Vec<u8>)>,
    drawn: Vec<u32>,
    wanted: Vec<ProofWanted>,
    /// Number of commitments after which the leaderboard stops answering.
    silent_after: Option<usize>,
}

fn beacon(segment: u32) -> Beacon {
    Beacon(std::array::from_fn(|i| if i == 0 { u8::try_from(segment).unwrap() } else { 0 }))
}

#[async_trait(?Send)]
impl Witness for Follower {
    async fn open_lap(&mut self, lap: OpenLap) -> Result<OpenedLap, String> {
        let beacons = [beacon(lap.segment), beacon(lap.segment + 1)];
        self.opened.push(lap);
        Ok(OpenedLap { beacons })
    }

    fn commit(&mut self, commitment: CommitSegment) -> PendingAnswer {
        let draws = if self.drawn.contains(&commitment.segment) { vec![0] } else { Vec::new() };
        let next = (!commitment.ends_lap).then(|| beacon(commitment.segment + 2));
        self.commitments.push(commitment);
        let is_silent = self.silent_after.is_some_and(|most| self.commitments.len() > most);
        Box::pin(async move {
            if is_silent { Err("it does not answer".to_owned()) } else { Ok(CommittedSegment { beacon: next, draws }) }
        })
    }

    async fn prove(&mut self, part: ProvePart) -> Result<ProofWanted, String> {
        self.hashes.extend(part.hashes);
        Ok(if self.wanted.is_empty() { ProofWanted::default() } else { self.wanted.remove(0) })
    }

    async fn show(&mut self, _: &str, step: u64, state: Vec<u8>) -> Result<(), String> {
        self.states.push((step, state));
        Ok(())
    }
}

#[test]
fn each_window_is_a_segment_with_its_own_beacon() {
    let mut follower = Follower::default();
    let (record, _, warnings) = TrainingTest::new(0.3).run_before(Some(&mut follower));
    let record = record.unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(record.segments.len(), record.windows.len());
    let trained: f64 = record.windows.iter().map(|window| window.seconds).sum();
    let named = record.timeline.iter().filter(|of| of.phase == Phase::Training).map(|of| of.seconds).sum::<f64>();
    assert!((named - trained).abs() < 1e-9, "{named} and {trained}");
    let mut step = 0;
    for (number, ((segment, window), commitment)) in
        (0..).zip(record.segments.iter().zip(&record.windows).zip(&follower.commitments))
    {
        step += u64::from(window.steps);
        assert_eq!((segment.beacon, commitment.segment, commitment.step), (beacon(number), number, step));
        assert_eq!(segment.state_sha256, commitment.state_sha256);
    }
}

#[test]
fn laps_end_before_evaluations_and_after_the_warm_up() {
    let mut follower = Follower::default();
    let record = TrainingTest::new(0.3).run_before(Some(&mut follower)).0.unwrap();
    let ends: Vec<u64> = follower.commitments.iter().filter(|of| of.ends_lap).map(|of| of.step).collect();
    for evaluation in &record.evaluations {
        assert!(ends.contains(&evaluation.step), "{ends:?}");
    }
    assert_eq!(ends.len(), record.evaluations.len() + 1, "{ends:?}");
    assert_eq!(follower.opened.len(), ends.len());
    let warm_up = record.windows.iter().take_while(|window| window.steps < 4).count();
    let second = &follower.opened[1];
    assert_eq!(second.segment as usize, warm_up.max(1) + 1);
    assert_eq!(second.state_sha256, record.segments[second.segment as usize - 1].state_sha256);
}

#[test]
fn parts_are_trained_again_to_the_same_states() {
    let record = TrainingTest::new(0.3).run_before(Some(&mut Follower::default())).0.unwrap();
    let begin: u64 = record.windows[..4].iter().map(|window| u64::from(window.steps)).sum();
    let steps = [begin, begin + u64::from(record.windows[4].steps)];
    let hashes = WantedHashes { draw: 0, steps, at: vec![begin + 1, begin + 3], losses: true };
    let states =
        vec![WantedState { step: begin + 1, weights_only: false }, WantedState { step: steps[1], weights_only: true }];
    let mut follower = Follower {
        drawn: vec![0, 4],
        wanted: vec![ProofWanted { hashes: Some(hashes), states: Vec::new() }, ProofWanted { hashes: None, states }],
        ..Follower::default()
    };
    let (record, _, warnings) = TrainingTest::new(0.3).run_before(Some(&mut follower));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(follower.hashes[0].state_sha256.len(), 2);
    assert_eq!(results::losses_sha256(&follower.hashes[0].losses), follower.commitments[4].losses_sha256);
    let joined = |body: &[u8]| results::StateBytes::joined_sha256(&body[..8], &body[8..]);
    let no_memory = results::StateBytes { weights: Vec::new(), memory: Vec::new() }.body(true);
    let [(_, inside), (_, end)] = follower.states.as_slice() else { panic!("two states") };
    assert_eq!(joined(&[inside.as_slice(), &no_memory].concat()), follower.hashes[0].state_sha256[0]);
    assert_eq!(joined(end), record.unwrap().segments[4].state_sha256);
}

#[test]
fn unrepeatable_training_ends_the_proof() {
    let hashes = WantedHashes { draw: 0, steps: [1, 5], at: vec![2], losses: false };
    let wanted = vec![ProofWanted { hashes: Some(hashes), states: Vec::new() }];
    let mut follower = Follower { drawn: vec![0, 1], wanted, ..Follower::default() };
    let test = TrainingTest { is_unsteady: true, ..TrainingTest::new(0.3) };
    let (_, _, warnings) = test.run_before(Some(&mut follower));
    let [Warning::CheckpointMissed { reason, .. }] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(reason.contains("same state"), "{reason}");
}

#[test]
fn a_silent_leaderboard_leaves_a_complete_run() {
    let mut follower = Follower { silent_after: Some(3), ..Follower::default() };
    let (record, _, warnings) = TrainingTest::new(0.3).run_before(Some(&mut follower));
    let record = record.unwrap();
    assert_eq!(record.windows.iter().map(|window| window.steps).sum::<u32>(), 200);
    assert!(record.segments.len() < record.windows.len());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_window_is_forty_times_as_long_as_a_commitment() {
    let mut follower = Follower::default();
    let test = TrainingTest { looked_on: Some(0.1), ..TrainingTest::new(0.05) };
    let record = test.run_before(Some(&mut follower)).0.unwrap();
    let longest = record.windows.iter().map(|window| window.seconds).fold(0.0, f64::max);
    let until_evaluation = 100.0 / 2.0 * 0.05;
    assert!(longest > until_evaluation / 2.0, "{longest}");
    assert!(record.timeline.iter().any(|stretch| stretch.phase == Phase::Proving));
}
