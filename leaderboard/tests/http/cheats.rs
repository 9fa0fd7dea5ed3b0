//! Known ways to cheat, end to end: none ranks a run more than 3 % above its true speed, and most are flagged.
//!
//! `GRADMARK_CHEAT_RUNS=20 cargo test --release -p leaderboard --test http cheats -- --ignored --nocapture` prints the
//! detection rate of each.

use std::collections::BTreeMap;

use engine::StepReport;
use results::api::{CommittedSegment, ErrorBody, OpenedLap, RunList, Tier};
use results::{Beacon, Precision, RunRecord, WorkloadRecord};

use crate::support::cheat::{Cheated, bent_step, each_step, guessed_test, map, skipped_step};
use crate::support::pretended::{Plain, Tricks, data_folder};
use crate::support::rehearsal::{LARGE, SEED, SMALL};
use crate::support::requests::Call;
use crate::support::{TestServer, record, rehearsal};

/// Tolerance of the server's clock.
const MAX_GAIN: f64 = 1.03;
/// Number of the first segment after the first steps, which are recomputed for every run.
const FIRST_FREE_SEGMENT: usize = 3;
/// Share of steps in the segments from that one on.
const FREE_STEPS: f64 = 17.0 / 22.0;

/// Expected outcome of a cheat.
enum End {
    /// It is flagged if one of two draws hits this share of the steps.
    Flagged(f64),
    Checked,
    /// A request is refused with this code.
    Refused(&'static str),
    /// It is proven, with a listed speed limited to its true speed.
    Limited,
}

fn small() -> Tricks {
    Tricks { lacks: Some(LARGE), ..Tricks::default() }
}

/// Performs the tricks the requested number of times, each with other beacons and draws, and asserts the outcome.
fn ends(what: &str, end: &End, tricks: Tricks) {
    let runs: u32 = std::env::var("GRADMARK_CHEAT_RUNS").map_or(1, |runs| runs.parse().expect("a number of runs"));
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    let mut gained: f64 = 0.0;
    for number in 0..runs {
        let server = TestServer::of_rehearsals(SEED + number, data_folder());
        let cheated = Cheated::on(&server, tricks);
        let tier = if cheated.uploaded.status == 422 {
            cheated.uploaded.parse::<ErrorBody>().code
        } else {
            let verdict = cheated.verdict(&server);
            println!("{what}: {:?}", verdict.notes);
            verdict.tier.name().to_owned()
        };
        if tier == Tier::Proven.name() {
            let list: RunList = server.get("/api/v1/runs").parse();
            let rate = list.rows[0].summary.samples_per_second.unwrap();
            gained = gained.max(rate / cheated.sent.server_rate());
        }
        *found.entry(tier).or_default() += 1;
    }
    println!("| {what} | {found:?} of {runs} | × {gained:.3} |");
    let of = |tier: &str| f64::from(found.get(tier).copied().unwrap_or_default());
    let runs = f64::from(runs);
    match end {
        End::Flagged(share) => {
            let hit = 1.0 - (1.0 - share).powi(2);
            // Three standard deviations below the expectation.
            let least = runs * hit - 3.0 * (runs * hit * (1.0 - hit)).sqrt();
            assert!(of("flagged") >= least && of("flagged") + of("proven") == runs, "{found:?}");
        }
        End::Checked => assert_eq!(of("checked"), runs, "{found:?}"),
        End::Refused(code) => assert_eq!(of(code), runs, "{found:?}"),
        End::Limited => assert!(of("proven") == runs && gained <= MAX_GAIN + 1e-6, "{found:?} {gained}"),
    }
}

/// Makes the steps of free segments with `step`, and the others honestly.
fn in_free_segments(plain: &mut Plain, steps: u32, step: impl Fn(&mut Plain) -> StepReport) -> StepReport {
    each_step(plain, steps, |plain| if plain.segment().0 >= FIRST_FREE_SEGMENT { step(plain) } else { plain.train(1) })
}

fn trained(record: &mut RunRecord) -> &mut WorkloadRecord {
    record.workloads.iter_mut().find(|of| !of.windows.is_empty()).unwrap()
}

/// Claims that every other window took no time, and adds that time to the window before it.
fn hide_time(record: &mut RunRecord) {
    const NO_TIME: f64 = 0.001;
    for pair in trained(record).windows[1..].chunks_exact_mut(2) {
        pair[0].seconds += pair[1].seconds - NO_TIME;
        pair[1].seconds = NO_TIME;
    }
}

/// Defines a test for each way to cheat.
macro_rules! cheats {
    ($($name:ident $body:block)+) => {
        $(#[test]
        #[ignore = "trains and is verified"]
        fn $name() $body)+
    };
}

cheats! {
    one_window_takes_the_time_of_the_next {
        ends("one step takes all the time", &End::Limited, Tricks { record: hide_time, ..small() });
    }

    time_is_hidden_under_the_name_of_another_device {
        // No peak was measured, so the run is listed under an unknown device.
        let renamed = |record: &mut RunRecord| {
            hide_time(record);
            record.device.backend = "burn-cuda".to_owned();
            record.requested.backend = record.device.backend.clone();
            record.device.adapter.name = "NVIDIA H100 PCIe".to_owned();
            record.device.adapter.vendor = "nvidia".to_owned();
            record.device.adapter.api = "CUDA".to_owned();
            record.workloads.iter_mut().for_each(|of| of.settings.precision = Precision::F16);
        };
        ends("the same as f16 of another device", &End::Limited, Tricks { record: renamed, ..small() });
    }

    everything_is_reported_a_hundred_times_faster {
        let hidden_seconds = |_: &Call, passed: f64| 99.0 * passed;
        ends("a hundred times faster", &End::Limited, Tricks { hidden_seconds, ..small() });
    }

    training_is_called_a_test {
        let hidden_seconds = |call: &Call, _: f64| match call {
            Call::Commit(segment) if segment.segment == 1 => 60.0,
            _ => 0.0,
        };
        let record = |record: &mut RunRecord| {
            trained(record).evaluations.iter_mut().for_each(|look| look.seconds += 60.0);
            record.provenance.wall_seconds += 60.0;
        };
        ends("training during a long test", &End::Limited, Tricks { hidden_seconds, record, ..small() });
    }

    a_slow_link_is_faked {
        ends("a faked slow link", &End::Limited, Tricks { hidden_seconds: |_, _| 0.5, ..small() });
    }

    all_networks_but_one_fail {
        ends("all networks but one fail", &End::Limited, small());
    }

    steps_use_half_a_batch {
        let job = |job: &mut engine::TrainingJob| job.batches.batch_size /= 2;
        let train = |plain: &mut Plain, steps| {
            let report = plain.train(steps);
            StepReport { samples: 2 * report.samples, correct: 2 * report.correct, ..report }
        };
        ends("half of each batch", &End::Flagged(1.0), Tricks { job, train, ..small() });
    }

    dropout_is_off {
        ends("dropout off", &End::Flagged(1.0), Tricks { job: |job| job.dropout = false, ..small() });
    }

    training_begins_with_other_weights {
        ends("weights of another seed", &End::Flagged(1.0), Tricks { job: |job| job.seed ^= 1, ..small() });
    }

    the_learning_rate_is_halved {
        fn halved(plain: &mut Plain) -> StepReport {
            bent_step(plain, |before, after| {
                for (after, before) in after.weights.chunks_exact_mut(4).zip(before.weights.chunks_exact(4)) {
                    let before = f32::from_le_bytes(before.try_into().unwrap());
                    map(after, |after| 0.5 * (before + after));
                }
            })
        }
        let train = |plain: &mut Plain, steps| in_free_segments(plain, steps, halved);
        ends("half the learning rate", &End::Flagged(FREE_STEPS), Tricks { train, ..small() });
    }

    a_layer_is_frozen {
        const FIRST_KERNEL: usize = 4 * 784 * 512;
        fn frozen(plain: &mut Plain) -> StepReport {
            bent_step(plain, |before, after| {
                after.weights[..FIRST_KERNEL].copy_from_slice(&before.weights[..FIRST_KERNEL]);
                after.memory[..FIRST_KERNEL].copy_from_slice(&before.memory[..FIRST_KERNEL]);
            })
        }
        let train = |plain: &mut Plain, steps| in_free_segments(plain, steps, frozen);
        ends("one layer frozen", &End::Flagged(FREE_STEPS), Tricks { train, ..small() });
    }

    nothing_is_trained {
        let train = |plain: &mut Plain, steps| each_step(plain, steps, skipped_step);
        ends("no training at all", &End::Flagged(1.0), Tricks { train, ..small() });
    }

    nothing_is_trained_after_the_first_steps {
        let train = |plain: &mut Plain, steps| in_free_segments(plain, steps, skipped_step);
        ends("no training after five steps", &End::Flagged(FREE_STEPS), Tricks { train, ..small() });
    }

    every_other_segment_is_skipped {
        let train = |plain: &mut Plain, steps| {
            in_free_segments(plain, steps, |plain| {
                if plain.segment().0.is_multiple_of(2) { plain.train(1) } else { skipped_step(plain) }
            })
        };
        ends("every other segment skipped", &End::Flagged(9.0 / 22.0), Tricks { train, ..small() });
    }

    parts_fit_and_do_not_join {
        let train = |plain: &mut Plain, steps| {
            in_free_segments(plain, steps, |plain| {
                let (number, first_step) = plain.segment();
                let jumps = plain.step == first_step && number % 2 == 1;
                bent_step(plain, |_, after| map(&mut after.weights, |weight| if jumps { 1.05 * weight } else { weight }))
            })
        };
        ends("parts that do not join", &End::Flagged(9.0 / 22.0), Tricks { train, ..small() });
    }

    a_network_was_trained_elsewhere {
        // The first weights are the same, but training continues on other samples.
        let seed = |given: &[u32]| given[given.len() - 1] ^ u32::from(given.len() > FIRST_FREE_SEGMENT);
        ends("trained elsewhere from segment 3", &End::Flagged(FREE_STEPS), Tricks { seed, ..small() });
    }

    segments_use_the_beacon_before {
        let seed = |given: &[u32]| given[given.len() - 1 - usize::from(given.len() > FIRST_FREE_SEGMENT)];
        ends("the beacon before", &End::Flagged(FREE_STEPS), Tricks { seed, ..small() });
    }

    beacons_of_an_earlier_run_are_used {
        let seed = |given: &[u32]| given[given.len() - 1].rotate_left(7);
        ends("beacons of an earlier run", &End::Flagged(1.0), Tricks { seed, ..small() });
        let record = |record: &mut RunRecord| {
            trained(record).segments.iter_mut().for_each(|segment| segment.beacon = Beacon([7; 16]));
        };
        ends("the same, in the record too", &End::Refused("wrong_segment"), Tricks { seed, record, ..small() });
    }

    training_is_done_before_the_lap_is_opened {
        // The beacons are guessed, and opening the lap takes no time.
        let seed = |given: &[u32]| u32::try_from(given.len()).unwrap();
        let hidden_seconds = |call: &Call, passed: f64| if matches!(call, Call::Commit(_)) { -passed } else { 0.0 };
        ends("trained before the lap", &End::Flagged(1.0), Tricks { seed, hidden_seconds, ..small() });
    }

    a_batch_is_repeated {
        fn repeated(plain: &mut Plain) -> StepReport {
            let (step, state) = (plain.step, plain.state());
            plain.go_on(&state, plain.segment().1);
            let report = plain.train(1);
            let state = plain.state();
            plain.go_on(&state, step + 1);
            report
        }
        let train = |plain: &mut Plain, steps| in_free_segments(plain, steps, repeated);
        // In each segment of two steps, only the second step has a wrong batch.
        ends("a batch repeated", &End::Flagged(8.0 / 22.0), Tricks { train, ..small() });
    }

    weights_are_rounded_to_f16 {
        fn round(value: f32) -> f32 {
            f32::from_bits((value.to_bits() + 0x1000) & !0x1fff)
        }
        let train = |plain: &mut Plain, steps| {
            each_step(plain, steps, |plain| bent_step(plain, |_, after| map(&mut after.weights, round)))
        };
        // Large weights with small changes make rounding visible.
        let tricks = Tricks { lacks: Some(SMALL), train, test: guessed_test, ..Tricks::default() };
        ends("f16 reported as f32", &End::Flagged(1.0), tricks);
    }

    losses_are_invented {
        let train = |plain: &mut Plain, steps| {
            in_free_segments(plain, steps, |plain| {
                let mut report = plain.train(1);
                report.losses.iter_mut().for_each(|loss| *loss *= 0.99);
                report
            })
        };
        ends("invented losses", &End::Flagged(FREE_STEPS), Tricks { train, ..small() });
    }

    hashes_are_those_of_other_bytes {
        fn other(hash: &mut String) {
            *hash = hash.chars().rev().collect();
        }
        let request = |call: &mut Call| match call {
            Call::OpenLap(lap) if lap.segment > 0 => other(&mut lap.state_sha256),
            Call::Commit(segment) => other(&mut segment.state_sha256),
            _ => {}
        };
        let record = |record: &mut RunRecord| {
            trained(record).segments.iter_mut().for_each(|segment| other(&mut segment.state_sha256));
        };
        ends("hashes of other bytes", &End::Checked, Tricks { request, record, ..small() });
    }

    the_accuracy_is_raised_by_a_point {
        let record = |record: &mut RunRecord| {
            trained(record).evaluations.iter_mut().for_each(|look| look.accuracy += 0.01);
        };
        ends("accuracy raised by a point", &End::Flagged(1.0), Tricks { record, ..small() });
    }

    the_target_is_reached_earlier {
        let request = |call: &mut Call| {
            if let Call::Prove(part) = call {
                part.target_step = Some(part.tested_step);
            }
        };
        let record = |record: &mut RunRecord| {
            let of = trained(record);
            of.evaluations.iter_mut().for_each(|look| look.accuracy = 0.98);
            record::reach(of);
        };
        ends("target reached earlier", &End::Flagged(1.0), Tricks { request, record, ..small() });
    }
}

#[test]
#[ignore = "plays the rehearsal"]
fn one_run_is_reported_to_two_servers() {
    let other = TestServer::of_rehearsals(SEED + 1, data_folder());
    let mut run = rehearsal::light();
    let started = other.begin();
    let mut beacons = BTreeMap::new();
    for message in &run.messages {
        let answer = message.call.send(&other, &started);
        other.pass(10.0);
        match &message.call {
            Call::OpenLap(lap) => beacons.extend((lap.segment..).zip(answer.parse::<OpenedLap>().beacons)),
            Call::Commit(segment) => {
                let beacon = answer.parse::<CommittedSegment>().beacon;
                beacons.extend(beacon.map(|beacon| (segment.segment + 2, beacon)));
            }
            Call::Prove(_) | Call::Show { .. } => {}
        }
    }
    let hand_in = |run: &rehearsal::Rehearsal| other.upload(&started.run_id, &run.record_of(&started));
    hand_in(&run).assert_refused(422, "wrong_seed", "seed");
    run.record.requested.seed = SEED + 1;
    let refused = hand_in(&run);
    assert_eq!((refused.status.as_u16(), refused.parse::<ErrorBody>().code.as_str()), (422, "wrong_segment"));
    for (number, segment) in (0..).zip(&mut trained(&mut run.record).segments) {
        segment.beacon = beacons[&number];
    }
    // The draws differ, and the requested states were not kept.
    let verdict = rehearsal::verdict_on(&other, &started, &hand_in(&run));
    assert_eq!(verdict.tier, Tier::Checked, "{:?}", verdict.notes);
}
