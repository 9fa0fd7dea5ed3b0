//! Whose weights are asked for. A client cannot foresee it: each draw is made by the server's key, of the hash that the
//! client has just given.

use engine::{Standard, SuiteDefinition};

use super::Key;
use super::told::Told;

/// Weights of so many bytes may be asked for in one run; more would be felt by those with a slow uplink. One network is
/// asked for even where it alone is larger.
const BYTES_OF_RUN: u64 = 5 << 20;

/// How many times as often as a look the last checkpoint is asked for.
const LAST_OVER_LOOK: u32 = 3;

/// Whether the weights of a checkpoint are asked for, given what was told of its workload before.
///
/// Exactly one of a workload's checkpoints is: each look with the same probability as far as all are told, and the last one
/// more often, because the windows that rank lie before it; of a training that ends early, the last one instead of those
/// that do not come. The start, which a client cannot have computed wrongly, is
/// never asked for.
pub(crate) fn wants_weights(
    key: &Key,
    run_id: &str,
    known: &Standard,
    planned: u32,
    before: &[Told],
    now: &Told,
) -> bool {
    if now.number == 0 || before.iter().any(|told| told.weights_wanted) {
        return false;
    }
    if now.is_last {
        return true;
    }
    // The looks that are left with this one, and the last checkpoint after them.
    let left = (planned + 1).saturating_sub(now.number).max(1) + LAST_OVER_LOOK;
    let parts = [
        b"checkpoint".as_slice(),
        run_id.as_bytes(),
        known.workload.name.as_bytes(),
        &now.number.to_le_bytes(),
        now.weights_sha256.as_bytes(),
    ];
    key.draw(&parts) * f64::from(left) < 1.0
}

/// Whether any weights of this network are asked for in the run.
pub(crate) fn is_challenged(key: &Key, run_id: &str, suite: &SuiteDefinition, workload: &str) -> bool {
    challenged(key, run_id, suite).contains(&workload)
}

/// The networks of which weights are asked for. The key decides in which order networks are taken, until the limit is
/// reached.
fn challenged(key: &Key, run_id: &str, suite: &SuiteDefinition) -> Vec<&'static str> {
    let mut order: Vec<(f64, &'static str)> = suite
        .workloads
        .iter()
        .map(|&name| (key.draw(&[b"network", run_id.as_bytes(), name.as_bytes()]), name))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut bytes = 0;
    let fits = |&(place, name): &(usize, &str)| {
        bytes += weights_bytes(name);
        place == 0 || bytes <= BYTES_OF_RUN
    };
    order.into_iter().map(|(_, name)| name).enumerate().take_while(fits).map(|(_, name)| name).collect()
}

/// Whether weights of this network are asked for in the place of others, which failed: without any, a run would prove
/// little, and whoever wants none to be seen could say of each network that it failed.
///
/// So it is once no network that was drawn is still to be trained, in the order of the seed, and none of those that came to
/// their end has shown any. `told` is all that was told of the run until now.
pub(crate) fn stands_in(
    key: &Key,
    run_id: &str,
    suite: &SuiteDefinition,
    seed: u32,
    told: &[Told],
    workload: &str,
) -> bool {
    let order = suite.in_order_of(seed);
    let Some(place) = order.iter().position(|name| *name == workload) else { return false };
    let drawn = challenged(key, run_id, suite);
    let is_drawn_later = order[place..].iter().any(|name| drawn.contains(name));
    let has_shown = |name: &&str| {
        let of = || told.iter().filter(|told| told.workload == *name);
        of().any(|told| told.is_last) && of().any(|told| told.shown_unix_seconds.is_some())
    };
    !is_drawn_later && !order[..place].iter().any(has_shown)
}

/// Bytes of a network's weights, running averages included; 0 for one that does not exist.
pub(crate) fn weights_bytes(workload: &str) -> u64 {
    let tensors = engine::workload(workload).and_then(|workload| workload.model.tensors().ok()).unwrap_or_default();
    tensors.iter().map(|tensor| 4 * tensor.elements() as u64).sum()
}

#[cfg(test)]
mod tests {
    use engine::SUITES;

    use super::*;

    fn key(number: u32) -> Key {
        Key::load(Some(&format!("{number:064}")), None).unwrap()
    }

    fn told(number: u32, is_last: bool) -> Told {
        Told { number, is_last, weights_sha256: format!("{number:064}"), ..Told::default() }
    }

    /// The number of the checkpoint that is asked for, of a training with `planned` looks of which `looks` happen.
    fn asked(key: &Key, planned: u32, looks: u32) -> u32 {
        let known = Standard::of(&SUITES[0], "keras-mnist-mlp", 1).unwrap();
        let mut before: Vec<Told> = Vec::new();
        for number in 0..=looks + 1 {
            let mut now = told(number, number == looks + 1);
            now.weights_wanted = wants_weights(key, "run", &known, planned, &before, &now);
            before.push(now);
        }
        let wanted: Vec<&Told> = before.iter().filter(|told| told.weights_wanted).collect();
        assert_eq!(wanted.len(), 1, "exactly one is asked for");
        wanted[0].number
    }

    #[test]
    fn looks_are_asked_for_equally_often_and_the_last_checkpoint_three_times_as_often() {
        let mut counts = [0_u32; 6];
        (0..2100).for_each(|number| counts[asked(&key(number), 4, 4) as usize] += 1);
        assert_eq!(counts[0], 0);
        assert!(counts[1..5].iter().all(|&count| (240..360).contains(&count)), "{counts:?}");
        assert!((800..1000).contains(&counts[5]), "{counts:?}");
    }

    #[test]
    fn a_training_that_ends_early_is_asked_at_its_end_at_the_latest() {
        let mut last = 0;
        (0..700).for_each(|number| last += u32::from(asked(&key(number), 4, 1) == 2));
        assert!((560..640).contains(&last), "{last}");
    }

    #[test]
    fn where_all_networks_that_were_drawn_failed_the_next_one_stands_in_for_them() {
        let suite = &SUITES[1];
        let seed = 5;
        let order = suite.in_order_of(seed);
        let stands_in =
            |number: u32, told: &[Told], place: usize| stands_in(&key(number), "run", suite, seed, told, order[place]);
        let of = |workload: &str, is_last: bool, shown: Option<f64>| Told {
            workload: workload.to_owned(),
            is_last,
            shown_unix_seconds: shown,
            ..Told::default()
        };
        let mut tried = 0;
        for number in 0..50 {
            let drawn = challenged(&key(number), "run", suite);
            let last = order.iter().rposition(|name| drawn.contains(name)).unwrap();
            assert!((0..=last).all(|place| !stands_in(number, &[], place)), "one is still to come");
            if last + 2 >= order.len() {
                continue;
            }
            tried += 1;
            assert!(stands_in(number, &[], last + 1), "none has shown anything");
            let failed_later = [of(order[last], false, Some(1.0))];
            assert!(stands_in(number, &failed_later, last + 1), "what was shown is of a training that failed");
            let showed = [of(order[last], true, Some(1.0))];
            assert!(!stands_in(number, &showed, last + 1));
            let stood_in = [of(order[last + 1], true, Some(1.0))];
            assert!(!stands_in(number, &stood_in, last + 2), "one is enough");
        }
        assert!(tried > 10, "{tried}");
    }

    #[test]
    fn of_the_quick_suite_both_networks_are_asked_for_and_of_the_complete_one_some() {
        for number in 0..50 {
            let of = |suite: &SuiteDefinition| -> u64 {
                let asked = suite.workloads.iter().filter(|name| is_challenged(&key(number), "run", suite, name));
                asked.map(|name| weights_bytes(name)).sum()
            };
            assert_eq!(of(&SUITES[0]), 4 * (669_706 + 431_080));
            assert!(of(&SUITES[1]) > 0 && of(&SUITES[1]) < 14 << 20);
        }
    }
}
