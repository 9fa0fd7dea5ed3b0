//! Known ways to cheat, end to end: none ranks a run more than 3 % above its true speed, and most are flagged.
//!
//! `GRADMARK_CHEAT_RUNS=20 cargo test --release -p leaderboard --test http cheats -- --ignored --nocapture` prints the
//! detection rate of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Activation, DataSet, Layer, Split, StepReport, TestReport};
use results::api::{CommittedSegment, OpenedLap};
use results::{Beacon, StateBytes};

use crate::support::pretended::{PlainTraining, Tricks, train};
use crate::support::rehearsal::server_with;
use crate::support::*;

/// Tolerance of the server's clock.
const MAX_GAIN: f64 = 1.03;
/// Number of the first segment after the first steps, which are recomputed for every run.
const FIRST_FREE_SEGMENT: usize = 3;
/// Share of steps in the segments from that one on.
const FREE_STEPS: f64 = 17.0 / 22.0;

/// Announces a run, trains with tricks, and uploads the record. Returns the verdict, or the code of the refusal, and
/// what was sent.
fn cheat(server: &TestServer, tricks: Tricks) -> (Result<Verdict, String>, Rehearsal) {
    let run = server.begin_suite(&record::start_of(tricks.suite));
    let (messages, record) = train(server, &run, tricks);
    let sent = Rehearsal { messages, record };
    let uploaded = server.upload(&run.run_id, &sent.record_of(&run));
    let outcome = match uploaded.status.as_u16() {
        422 => Err(uploaded.parse::<ErrorBody>().code),
        _ => Ok(verdict_on(server, &run, uploaded)),
    };
    (outcome, sent)
}

/// Trains a step and changes the state after it, given the one before.
fn bent_step(plain: &mut PlainTraining, bend: impl Fn(&StateBytes, &mut StateBytes)) -> StepReport {
    let before = plain.state();
    let report = plain.train(1);
    let mut after = plain.state();
    bend(&before, &mut after);
    plain.go_on(&after, plain.step);
    report
}

/// Counts a skipped step, with a plausible loss and a changed state.
fn skipped_step(plain: &mut PlainTraining) -> StepReport {
    let mut state = plain.state();
    map(&mut state.weights, |weight| 1.001 * weight);
    plain.go_on(&state, plain.step + 1);
    let samples = u64::from(plain.job.batches.batch_size);
    let losses = vec![2.3 / (1.0 + 0.1 * plain.step as f64)];
    StepReport { losses, correct: samples / 2, samples, ..StepReport::default() }
}

fn map(bytes: &mut [u8], change: impl Fn(f32) -> f32) {
    for word in bytes.chunks_exact_mut(4) {
        let value = f32::from_le_bytes(word.try_into().unwrap());
        word.copy_from_slice(&change(value).to_le_bytes());
    }
}

fn guessed_test(plain: &mut PlainTraining) -> TestReport {
    let samples = u64::from(plain.job.data.test.samples());
    TestReport { loss: 0.3, correct: samples * 9 / 10, answers: samples, seconds: None }
}

enum End {
    /// It is flagged if one of two draws hits this share of the steps.
    Flagged(f64),
    Checked,
    Refused(&'static str),
    /// It is proven, with a listed speed limited to its true speed.
    Limited,
}

fn small() -> Tricks {
    Tricks { lacks: Some(LARGE), ..Tricks::default() }
}

fn language() -> Tricks {
    let suite = engine::suite("language").unwrap();
    Tricks { suite, step_seconds: 40.0, lacks: Some("gpt-small"), ..Tricks::default() }
}

/// Trains the steps of free segments in another way.
fn free(step: fn(&mut PlainTraining) -> StepReport) -> Tricks {
    Tricks { step: Some(step), first_segment: FIRST_FREE_SEGMENT, ..small() }
}

fn recording(record: fn(&mut RunRecord)) -> Tricks {
    Tricks { record, ..small() }
}

/// Performs the tricks the requested number of times, each with other beacons and draws, and asserts the outcome. Draws
/// may miss a cheat that is not in every segment, so without a hit it is tried again.
fn ends(what: &str, end: &End, tricks: Tricks) {
    /// Makes a miss of the rarest cheat in every try unlikely: one in 5,000.
    const MAX_TRIES: u32 = 8;
    let asked: u32 = std::env::var("GRADMARK_CHEAT_RUNS").map_or(1, |runs| runs.parse().expect("a number of runs"));
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    let (mut gained, mut runs): (f64, u32) = (0.0, 0);
    let is_missed = |found: &BTreeMap<_, _>| matches!(end, End::Flagged(_)) && !found.contains_key("flagged");
    while runs < asked || (runs < MAX_TRIES && is_missed(&found)) {
        let server = server_with(|config| config.seed = Some(SEED + runs));
        let (outcome, sent) = cheat(&server, tricks);
        let tier = match outcome {
            Ok(verdict) => {
                println!("{what}: {:?}", verdict.notes);
                verdict.tier.name().to_owned()
            }
            Err(code) => code,
        };
        if tier == Tier::Proven.name() {
            let rate = server.list("").rows[0].summary.samples_per_second.unwrap();
            gained = gained.max(rate / sent.server_rate());
        }
        *found.entry(tier).or_default() += 1;
        runs += 1;
    }
    println!("| {what} | {found:?} of {runs} | × {gained:.3} |");
    let of = |tier: &str| f64::from(found.get(tier).copied().unwrap_or_default());
    let (tried_again, runs) = (runs > asked, f64::from(runs));
    match end {
        End::Flagged(share) => {
            let hit = 1.0 - (1.0 - share).powi(2);
            // Three standard deviations below the expectation.
            let usual = runs * hit - 3.0 * (runs * hit * (1.0 - hit)).sqrt();
            let least = if tried_again { 1.0 } else { usual.max(1.0) };
            assert!(of("flagged") >= least && of("flagged") + of("proven") == runs, "{found:?}");
        }
        End::Checked => assert_eq!(of("checked"), runs, "{found:?}"),
        End::Refused(code) => assert_eq!(of(code), runs, "{found:?}"),
        End::Limited => assert!(of("proven") == runs && gained <= MAX_GAIN + 1e-6, "{found:?} {gained}"),
    }
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

macro_rules! cheats {
    ($($name:ident $end:expr, $tricks:expr;)+) => {
        $(#[test]
        #[ignore = "trains and is verified"]
        fn $name() {
            ends(stringify!($name), &$end, $tricks);
        })+
    };
}

cheats! {
    one_window_takes_the_time_of_the_next End::Limited, recording(hide_time);

    // No peak was measured, so the run is listed under an unknown device.
    time_is_hidden_under_the_name_of_another_device End::Limited, recording(|record| {
        hide_time(record);
        record::on_backend(record, "burn-cuda");
        record.device.adapter.name = "NVIDIA H100 PCIe".to_owned();
        record.device.adapter.vendor = "nvidia".to_owned();
        record.device.adapter.api = "CUDA".to_owned();
        record.workloads.iter_mut().for_each(|of| of.settings.precision = Precision::F16);
    });

    everything_is_reported_a_hundred_times_faster End::Limited,
        Tricks { hidden_seconds: |_, passed| 99.0 * passed, ..small() };

    training_is_called_a_test End::Limited, Tricks {
        hidden_seconds: |call, _| match call {
            RunCall::Commit(segment) if segment.segment == 1 => 60.0,
            _ => 0.0,
        },
        record: |record| {
            trained(record).evaluations.iter_mut().for_each(|look| look.seconds += 60.0);
            record.provenance.wall_seconds += 60.0;
        },
        ..small()
    };

    a_slow_link_is_faked End::Limited, Tricks { hidden_seconds: |_, _| 0.5, ..small() };

    all_networks_but_one_fail End::Limited, small();

    steps_use_half_a_batch End::Flagged(1.0), Tricks {
        job: |job| job.batches.batch_size /= 2,
        step: Some(|plain| {
            let report = plain.train(1);
            StepReport { samples: 2 * report.samples, correct: 2 * report.correct, ..report }
        }),
        ..small()
    };

    dropout_is_off End::Flagged(1.0), Tricks { job: |job| job.dropout = false, ..small() };

    training_begins_with_other_weights End::Flagged(1.0), Tricks { job: |job| job.seed ^= 1, ..small() };

    the_learning_rate_is_halved End::Flagged(FREE_STEPS), free(|plain| {
        bent_step(plain, |before, after| {
            for (after, before) in after.weights.chunks_exact_mut(4).zip(before.weights.chunks_exact(4)) {
                let before = f32::from_le_bytes(before.try_into().unwrap());
                map(after, |after| 0.5 * (before + after));
            }
        })
    });

    a_layer_is_frozen End::Flagged(FREE_STEPS), free(|plain| {
        const FIRST_KERNEL: usize = 4 * 784 * 512;
        bent_step(plain, |before, after| {
            after.weights[..FIRST_KERNEL].copy_from_slice(&before.weights[..FIRST_KERNEL]);
            after.memory[..FIRST_KERNEL].copy_from_slice(&before.memory[..FIRST_KERNEL]);
        })
    });

    nothing_is_trained End::Flagged(1.0), Tricks { step: Some(skipped_step), ..small() };

    nothing_is_trained_after_the_first_steps End::Flagged(FREE_STEPS), free(skipped_step);

    every_other_segment_is_skipped End::Flagged(9.0 / 22.0), free(|plain| {
        if plain.segment().0.is_multiple_of(2) { plain.train(1) } else { skipped_step(plain) }
    });

    parts_fit_and_do_not_join End::Flagged(9.0 / 22.0), free(|plain| {
        let (number, first_step) = plain.segment();
        let jumps = plain.step == first_step && number % 2 == 1;
        bent_step(plain, |_, after| map(&mut after.weights, |weight| if jumps { 1.05 * weight } else { weight }))
    });

    // The first weights are the same, but training continues on other samples.
    a_network_was_trained_elsewhere End::Flagged(FREE_STEPS),
        Tricks { seed: |given| given[given.len() - 1] ^ u32::from(given.len() > FIRST_FREE_SEGMENT), ..small() };

    segments_use_the_beacon_before End::Flagged(FREE_STEPS),
        Tricks { seed: |given| given[given.len() - 1 - usize::from(given.len() > FIRST_FREE_SEGMENT)], ..small() };

    beacons_of_an_earlier_run_are_used End::Flagged(1.0), Tricks { seed: of_earlier_run, ..small() };

    beacons_of_an_earlier_run_are_recorded End::Refused("wrong_segment"), Tricks {
        seed: of_earlier_run,
        record: |record| {
            trained(record).segments.iter_mut().for_each(|segment| segment.beacon = Beacon([7; 16]));
        },
        ..small()
    };

    // The beacons are guessed, and opening the lap takes no time.
    training_is_done_before_the_lap_is_opened End::Flagged(1.0), Tricks {
        seed: |given| u32::try_from(given.len()).unwrap(),
        hidden_seconds: |call, passed| if matches!(call, RunCall::Commit(_)) { -passed } else { 0.0 },
        ..small()
    };

    // In each segment of two steps, only the second step has a wrong batch: the segment's first one again.
    a_batch_is_repeated End::Flagged(8.0 / 22.0), free(|plain| {
        let (step, state) = (plain.step, plain.state());
        plain.go_on(&state, plain.segment().1);
        let report = plain.train(1);
        let state = plain.state();
        plain.go_on(&state, step + 1);
        report
    });

    // Large weights with small changes make rounding visible.
    weights_are_rounded_to_f16 End::Flagged(1.0), Tricks {
        lacks: Some(SMALL),
        step: Some(|plain| {
            let round = |value: f32| f32::from_bits((value.to_bits() + 0x1000) & !0x1fff);
            bent_step(plain, |_, after| map(&mut after.weights, round))
        }),
        test: guessed_test,
        ..Tricks::default()
    };

    losses_are_invented End::Flagged(FREE_STEPS), free(|plain| {
        let mut report = plain.train(1);
        report.losses.iter_mut().for_each(|loss| *loss *= 0.99);
        report
    });

    hashes_are_those_of_other_bytes End::Checked, Tricks {
        request: |call| match call {
            RunCall::OpenLap(lap) if lap.segment > 0 => reverse(&mut lap.state_sha256),
            RunCall::Commit(segment) => reverse(&mut segment.state_sha256),
            _ => {}
        },
        record: |record| {
            trained(record).segments.iter_mut().for_each(|segment| reverse(&mut segment.state_sha256));
        },
        ..small()
    };

    the_accuracy_is_raised_by_a_point End::Flagged(1.0),
        recording(|record| trained(record).evaluations.iter_mut().for_each(|look| look.accuracy += 0.01));

    the_target_is_reached_earlier End::Flagged(1.0), Tricks {
        request: |call| {
            if let RunCall::Prove(part) = call {
                part.target_step = Some(part.tested_step);
            }
        },
        record: |record| {
            let of = trained(record);
            of.evaluations.iter_mut().for_each(|look| look.accuracy = 0.98);
            record::reach(of);
        },
        ..small()
    };

    // Each step has two updates.
    language_model_is_trained_longer_elsewhere End::Flagged(1.0), Tricks {
        step: Some(|plain| {
            let (step, report) = (plain.step, plain.train(1));
            let state = plain.state();
            plain.go_on(&state, step);
            plain.train(1);
            report
        }),
        ..language()
    };

    another_text_is_trained End::Flagged(1.0), Tricks {
        job: |job| {
            let DataSet { definition, train, test, .. } = job.data.as_ref();
            let other = Split::text(train.images.iter().rev().copied());
            job.data = Arc::new(DataSet::new(definition, other, test.clone(), false));
        },
        ..language()
    };

    // Its states are too long, so the client cannot send them.
    a_larger_language_model_is_trained End::Checked, Tricks {
        job: |job| {
            for node in &mut job.model.nodes {
                if let Layer::Conv2d { filters, activation: Activation::Gelu, .. } = &mut node.layer {
                    *filters *= 2;
                }
            }
        },
        test: guessed_test,
        ..language()
    };

    loss_of_another_seed_is_claimed End::Flagged(1.0), Tricks {
        record: |record| trained(record).evaluations.iter_mut().for_each(|look| look.loss *= 0.995),
        ..language()
    };

    // Training was done before, with guessed beacons.
    checkpoints_come_in_a_burst End::Flagged(1.0), Tricks {
        seed: |given| u32::try_from(given.len()).unwrap(),
        hidden_seconds: |call, passed| if matches!(call, RunCall::Commit(_)) { -passed } else { 0.0 },
        ..language()
    };
}

fn of_earlier_run(given: &[u32]) -> u32 {
    given[given.len() - 1].rotate_left(7)
}

fn reverse(hash: &mut String) {
    *hash = hash.chars().rev().collect();
}

#[test]
fn states_that_do_not_train_into_each_other_flag_a_run() {
    let step = |plain: &mut PlainTraining| {
        bent_step(plain, |_, after| {
            // RMSprop's memory of the last ten biases.
            let rest = after.memory.len() - 4 * 10;
            map(&mut after.memory[rest..], |value| 1.1 * value);
        })
    };
    let (outcome, _) = cheat(&rehearsal::server(), Tricks { step: Some(step), test: guessed_test, ..small() });
    let verdict = outcome.unwrap();
    assert_tier(&verdict, Tier::Flagged, "");
    assert!(verdict.notes[0].to_string().contains("of its change"), "{:?}", verdict.notes);
}

#[test]
#[ignore = "plays the rehearsal"]
fn one_run_is_reported_to_two_servers() {
    let other = server_with(|config| config.seed = Some(SEED + 1));
    let mut run = light();
    let started = other.begin();
    let mut beacons = BTreeMap::new();
    for message in &run.messages {
        let answer = message.call.send(&other, &started);
        other.pass(10.0);
        match &message.call {
            RunCall::OpenLap(lap) => beacons.extend((lap.segment..).zip(answer.parse::<OpenedLap>().beacons)),
            RunCall::Commit(segment) => {
                let beacon = answer.parse::<CommittedSegment>().beacon;
                beacons.extend(beacon.map(|beacon| (segment.segment + 2, beacon)));
            }
            RunCall::Prove(_) | RunCall::Show { .. } => {}
        }
    }
    let hand_in = |run: &Rehearsal| other.upload(&started.run_id, &run.record_of(&started));
    hand_in(&run).assert_refused(422, "wrong_seed", "seed");
    run.record.requested.seed = SEED + 1;
    let refused = hand_in(&run);
    assert_eq!((refused.status.as_u16(), refused.parse::<ErrorBody>().code.as_str()), (422, "wrong_segment"));
    for (number, segment) in (0..).zip(&mut trained(&mut run.record).segments) {
        segment.beacon = beacons[&number];
    }
    // The draws differ, and the requested states were not kept.
    assert_tier(&verdict_on(&other, &started, hand_in(&run)), Tier::Checked, "");
}
