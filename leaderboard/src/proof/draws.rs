//! Random parts of the training, and the hashes and states that the server requests for them.

use std::collections::BTreeMap;

use engine::Standard;
use results::api::{ProofWanted, WantedHashes, WantedState};

use super::seen::inner_steps;
use super::{BegunProof, SeenSegment, SeenWorkload, ServerKey, TrainingKey};

const DRAWS: u32 = 2;
/// Largest number of states of a workload: both ends of each part, the last test, and the target.
pub(crate) const MAX_STATES: u64 = 2 * DRAWS as u64 + 2;

/// Returns the draws that fall on a segment that begins after `begin` steps. As in reservoir sampling, a draw stays on
/// the last such segment, with a probability in proportion to its steps. The client only keeps the state before it.
pub(crate) fn falling_on(segment: &SeenSegment, begin: u64, key: &TrainingKey<'_>) -> Vec<u32> {
    let share = segment.step.saturating_sub(begin) as f64 / segment.step as f64;
    (0..DRAWS).filter(|&draw| key.draw_after(segment, draw) < share).collect()
}

pub(crate) fn drawn_segments(seen: &SeenWorkload, key: &TrainingKey<'_>) -> Vec<usize> {
    let mut drawn = vec![0; DRAWS as usize];
    for (number, segment) in seen.segments.iter().enumerate() {
        for draw in falling_on(segment, seen.steps_of(number)[0], key) {
            drawn[draw as usize] = number;
        }
    }
    drawn
}

/// Returns the server's next request for a workload: nothing during its training and after everything was received.
pub(crate) fn next_wanted(seen: &SeenWorkload, known: &Standard) -> ProofWanted {
    match drawn(seen) {
        None => ProofWanted::default(),
        Some(Err(hashes)) => ProofWanted { hashes: Some(hashes), states: Vec::new() },
        Some(Ok(parts)) => {
            let has_come = |wanted: &WantedState| seen.states.iter().any(|state| state.step == wanted.step);
            let states = states_of(seen, &parts, known).filter(|wanted| !has_come(wanted)).collect();
            ProofWanted { hashes: None, states }
        }
    }
}

/// Returns the begin and end of all parts that the server recomputes, or `None` until each of them is small enough.
pub(crate) fn parts(seen: &SeenWorkload) -> Option<Vec<[u64; 2]>> {
    drawn(seen)?.ok()
}

/// Returns the request for the state after `step` steps, received or not.
pub(crate) fn wanted_state(seen: &SeenWorkload, known: &Standard, step: u64) -> Option<WantedState> {
    let parts = parts(seen)?;
    states_of(seen, &parts, known).find(|state| state.step == step)
}

fn drawn(seen: &SeenWorkload) -> Option<Result<Vec<[u64; 2]>, WantedHashes>> {
    let proof = seen.proof.as_ref()?;
    Some((0..DRAWS).map(|draw| narrow_draw(seen, proof, draw)).collect())
}

/// Returns the requested states: both ends of each part, and the tested tensors of the last test and at the target.
fn states_of(seen: &SeenWorkload, parts: &[[u64; 2]], known: &Standard) -> impl Iterator<Item = WantedState> + use<> {
    let mut states: BTreeMap<u64, bool> = parts.iter().flatten().map(|&step| (step, false)).collect();
    let tests_averages = known.workload.average.is_some_and(|average| average.is_tested());
    let tested = seen.proof.iter().flat_map(|proof| [Some(proof.tested_step), proof.target_step]);
    for step in tested.flatten() {
        states.entry(step).or_insert(!tests_averages);
    }
    states.into_iter().map(|(step, weights_only)| WantedState { step, weights_only })
}

/// Requests the losses of a draw's segment, and draws a smaller part of it for each round of hashes received.
fn narrow_draw(seen: &SeenWorkload, proof: &BegunProof, draw: u32) -> Result<[u64; 2], WantedHashes> {
    let key = ServerKey::of_word(&proof.word);
    let number = draw.to_le_bytes();
    let mut steps = proof.drawn.get(draw as usize).map_or([0, 0], |&segment| seen.steps_of(segment));
    let mut is_segment = true;
    loop {
        let length = steps[1] - steps[0];
        let is_small = length <= 1;
        if is_small && !is_segment {
            return Ok(steps);
        }
        let Some(given) = seen.hashes.iter().find(|given| given.draw == draw && given.steps == steps) else {
            let at = if is_small { Vec::new() } else { inner_steps(steps).collect() };
            return Err(WantedHashes { draw, steps, at, losses: is_segment });
        };
        if is_small {
            return Ok(steps);
        }
        let ends = steps.map(u64::to_le_bytes);
        let words = [b"part".as_slice(), &number, &ends[0], &ends[1]].into_iter();
        let words: Vec<&[u8]> = words.chain(given.state_sha256.iter().map(String::as_bytes)).collect();
        let step = steps[0] + place(&key, &words, length);
        let begin = inner_steps(steps).filter(|&inner| inner <= step).last();
        let end = inner_steps(steps).find(|&inner| inner > step);
        steps = [begin.unwrap_or(steps[0]), end.unwrap_or(steps[1])];
        is_segment = false;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no training has as many steps as a double can count"
)]
fn place(key: &ServerKey, words: &[&[u8]], number: u64) -> u64 {
    let place = key.draw(words) * number as f64;
    (place as u64).min(number.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use results::api::PartHashes;

    use super::*;
    use crate::proof::MAX_HASHES;
    use crate::proof::testing::seen;

    fn known(name: &str) -> Standard {
        Standard::of(engine::suite("complete").unwrap(), name).unwrap()
    }

    fn ended(laps: &[u32], steps: u64, word: &str) -> SeenWorkload {
        let mut seen = seen(laps, steps);
        let segments = seen.segments.len();
        let tested_step = seen.segments[segments - 1].step;
        let drawn = drawn_segments(&seen, &TrainingKey::new(&ServerKey::of_word(word), None, "run", "network"));
        seen.proof = Some(BegunProof { word: word.to_owned(), segments, drawn, tested_step, target_step: None });
        seen
    }

    fn narrow(mut seen: SeenWorkload, with: &str) -> (SeenWorkload, Vec<[u64; 2]>) {
        loop {
            match drawn(&seen).unwrap() {
                Ok(parts) => return (seen, parts),
                Err(WantedHashes { draw, steps, at, losses }) => {
                    assert!(at.len() <= MAX_HASHES as usize && at.is_sorted());
                    assert_eq!(losses, !seen.hashes.iter().any(|given| given.draw == draw));
                    let state_sha256 = at.iter().map(|step| format!("{with} {step}")).collect();
                    seen.hashes.push(PartHashes { draw, steps, state_sha256, losses: Vec::new() });
                }
            }
        }
    }

    #[test]
    fn each_segment_is_drawn_as_often_as_its_steps_demand() {
        let mut counts = [0_u32; 3];
        for number in 0..1000 {
            let mut seen = seen(&[3], 1);
            // The segments have 1, 1 and 8 steps.
            seen.segments[2].step = 10;
            let key = ServerKey::of_word(&format!("word {number}"));
            let drawn = drawn_segments(&seen, &TrainingKey::new(&key, None, "run", "network"));
            drawn.into_iter().for_each(|segment| counts[segment] += 1);
        }
        assert!((140..260).contains(&counts[0]) && (140..260).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn parts_inside_of_a_segment_are_drawn_equally_often() {
        let mut counts = [0_u32; 16];
        for number in 0..800 {
            let (_, parts) = narrow(ended(&[1], 16, &format!("word {number}")), "hash");
            parts.iter().for_each(|part| counts[usize::try_from(part[0]).unwrap()] += 1);
        }
        assert!(counts.iter().all(|count| (55..150).contains(count)), "{counts:?}");
    }

    #[test]
    fn every_answer_is_the_same_again_and_hashes_change_it() {
        let (seen, first) = narrow(ended(&[4], 100_000, "word"), "hash");
        assert_eq!(parts(&seen), Some(first.clone()));
        assert_eq!(narrow(ended(&[4], 100_000, "word"), "hash").1, first);
        assert_ne!(narrow(ended(&[4], 100_000, "word"), "another hash").1, first);
        assert_ne!(narrow(ended(&[4], 100_000, "another word"), "hash").1, first);
    }

    #[test]
    fn losses_of_a_single_step_are_wanted_without_hashes() {
        let seen = ended(&[1], 1, "word");
        let hashes = WantedHashes { draw: 0, steps: [0, 1], at: Vec::new(), losses: true };
        let wanted = next_wanted(&seen, &known("keras-mnist-mlp"));
        assert_eq!(wanted, ProofWanted { hashes: Some(hashes), states: Vec::new() });
    }

    #[test]
    fn each_state_is_requested_once() {
        let known = known("keras-mnist-mlp");
        let (mut seen, parts) = narrow(ended(&[2, 2], 10, "word"), "hash");
        let proof = seen.proof.as_mut().unwrap();
        (proof.tested_step, proof.target_step) = (30, Some(20));
        let states = next_wanted(&seen, &known).states;
        assert!(states.is_sorted_by(|a, b| a.step < b.step), "{states:?}");
        for state in &states {
            assert_eq!(state.weights_only, !parts.as_flattened().contains(&state.step));
            assert_eq!(wanted_state(&seen, &known, state.step), Some(*state));
        }
        let has = |step| states.iter().any(|state| state.step == step);
        assert!(has(30) && has(20) && parts.as_flattened().iter().all(|step| has(*step)));
        assert_eq!(has(40), parts.iter().any(|part| part[1] == 40), "training went on after the last test");
        assert_eq!(wanted_state(&seen, &known, 13), None);
        seen.states = states[1..].to_vec();
        assert_eq!(next_wanted(&seen, &known).states, states[..1]);
        seen.states = states;
        assert_eq!(next_wanted(&seen, &known), ProofWanted::default());
    }

    #[test]
    fn averages_that_are_tested_are_wanted() {
        let known = known("tensorflow-cifar10");
        let (seen, _) = narrow(ended(&[2, 2], 1, "word"), "hash");
        assert!(next_wanted(&seen, &known).states.iter().all(|state| !state.weights_only));
    }
}
