//! Runs that really trained are proven, and nothing else is.

use std::sync::Arc;

use results::api::{RunList, StartedRun, Tier};
use results::{Phase, RunRecord, Stretch, Warning, Window};

use crate::support::TestServer;
use crate::support::record;
use crate::support::rehearsal::{self, Rehearsal};

#[test]
fn a_run_that_trained_and_told_is_proven_and_ranked() {
    let server = rehearsal::server();
    let verdict = rehearsal::honest().verdict(&server);
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, Vec::new()));
    let ranking: RunList = server.get("/api/v1/runs?ranked=true").parse();
    assert_eq!(ranking.total, 2);
}

/// A server that verifies nothing, and an honest run in its queue.
fn server_with_a_waiting_run() -> (TestServer, StartedRun) {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let (started, answer) = rehearsal::honest().play(&server);
    assert_eq!(answer.status, 201, "{}", answer.text());
    (server, started)
}

#[test]
fn a_run_that_waits_is_verified_by_the_next_server() {
    let (mut server, started) = server_with_a_waiting_run();
    let path = format!("/api/v1/runs/{}/verdict", started.run_id);
    assert!(server.get(&path).parse::<results::api::Verdict>().being_verified);
    server.restart_with_verifiers(1);
    assert_eq!(server.verdict_of(&started.run_id).tier, Tier::Proven);
}

#[test]
fn interrupted_verifications_do_not_count() {
    let (mut server, started) = server_with_a_waiting_run();
    (0..4).for_each(|_| server.restart_with_verifiers(1));
    assert_eq!(server.verdict_of(&started.run_id).tier, Tier::Proven);
}

#[test]
fn the_next_server_verifies_what_a_killed_one_held() {
    let (mut server, started) = server_with_a_waiting_run();
    server.restart_as_if_killed();
    let verdict = server.verdict_of(&started.run_id);
    assert_eq!(verdict.tier, Tier::Proven, "{verdict:?}");
}

/// What a forger does, and what the leaderboard says of it.
struct Forgery {
    what: &'static str,
    forge: fn(&mut Rehearsal),
    /// The tier that it ends with, and a part of the reason.
    ends: (Tier, &'static str),
}

/// Plays every one to a server of its own and holds it to its end: none is ranked.
fn all_end_unranked(forgeries: &[Forgery]) {
    for Forgery { what, forge, ends: (tier, reason) } in forgeries {
        let server = rehearsal::server();
        let mut forged = rehearsal::honest();
        forge(&mut forged);
        let verdict = forged.verdict(&server);
        println!("{what}: {} because {:?}", verdict.tier.name(), verdict.notes);
        assert_eq!(verdict.tier, *tier, "{what}: {:?}", verdict.notes);
        assert!(verdict.notes.iter().any(|note| note.contains(reason)), "{what}: {:?}", verdict.notes);
        assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0, "{what}");
    }
}

/// Divides everything that the record says took time.
fn hurry(record: &mut RunRecord, times: f64) {
    for workload in &mut record.workloads {
        workload.windows.iter_mut().for_each(|window| window.seconds /= times);
        workload.curve.iter_mut().for_each(|point| point.training_seconds /= times);
        workload.epochs.iter_mut().for_each(|epoch| epoch.seconds /= times);
        for evaluation in &mut workload.evaluations {
            evaluation.training_seconds /= times;
            evaluation.seconds /= times;
        }
        workload.timeline.iter_mut().for_each(|stretch| stretch.seconds /= times);
        record::reach(workload);
    }
}

#[test]
fn forged_times_do_not_fit_the_servers_clock() {
    all_end_unranked(&[
        Forgery {
            what: "nothing was told",
            forge: |forged| {
                forged.told.clear();
                forged.record.workloads.iter_mut().for_each(|workload| workload.checkpoints.clear());
            },
            ends: (Tier::Checked, "not told of its checkpoints"),
        },
        Forgery {
            what: "checkpoints in a burst after the work",
            forge: |forged| {
                let last = forged.told.last().unwrap().at;
                forged.told.iter_mut().for_each(|message| message.at = last);
            },
            ends: (Tier::Flagged, "s passed here"),
        },
        Forgery {
            what: "one network's checkpoints in a burst",
            forge: |forged| {
                let name = forged.told[0].workload.clone();
                let end = forged.told.iter().rfind(|message| message.workload == name).unwrap().at;
                forged.told.iter_mut().filter(|message| message.workload == name).for_each(|message| message.at = end);
            },
            ends: (Tier::Flagged, "s passed here"),
        },
        Forgery {
            what: "steps after the training that nobody made, in time that did pass",
            forge: |forged| {
                let (windows, steps, seconds) = (6, 100, 1.1);
                let more = f64::from(windows) * seconds;
                let mut before = 0.0;
                for workload in &mut forged.record.workloads {
                    for _ in 0..windows {
                        workload.windows.push(Window { steps, samples: 0, seconds });
                    }
                    record::count_samples(workload, rehearsal::SEED);
                    workload.checkpoints.last_mut().unwrap().step += u64::from(windows * steps);
                    let last = workload.timeline.iter().rposition(|stretch| stretch.phase == Phase::Proving).unwrap();
                    workload.timeline.insert(last, Stretch { phase: Phase::Measuring, seconds: more });
                    for message in forged.told.iter_mut().filter(|message| message.workload == workload.workload) {
                        message.at += before + if message.last { more } else { 0.0 };
                        message.checkpoint.step += if message.last { u64::from(windows * steps) } else { 0 };
                    }
                    before += more;
                }
                forged.record.provenance.wall_seconds += before;
                forged.commit_again();
            },
            ends: (Tier::Checked, "times as fast as the fastest in it"),
        },
        Forgery {
            what: "twice the time, half of which telling is said to have taken",
            forge: |forged| {
                let hidden = 30.0;
                let mut before = 0.0;
                for workload in &mut forged.record.workloads {
                    let telling = workload.timeline.iter_mut().filter(|stretch| stretch.phase == Phase::Proving).nth(1);
                    telling.unwrap().seconds += hidden;
                    for message in forged.told.iter_mut().filter(|message| message.workload == workload.workload) {
                        message.at += before + if message.number > 0 { hidden } else { 0.0 };
                    }
                    before += hidden;
                }
            },
            ends: (Tier::Checked, "long"),
        },
    ]);
}

#[test]
fn a_run_whose_seconds_are_divided_is_not_accounted_for() {
    // Half as many seconds do not reach the suite's time, so the record must also say that it went on.
    let server = rehearsal::server();
    let mut forged = rehearsal::honest();
    hurry(&mut forged.record, 1.04);
    forged.commit_again();
    let (_, answer) = forged.play(&server);
    let text = answer.text();
    assert!(answer.status == 422 || text.contains("accounts for"), "{text}");
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

#[test]
fn losses_that_are_guessed_show_when_the_work_is_computed_again() {
    all_end_unranked(&[
        Forgery {
            what: "first losses that are guessed",
            forge: |forged| {
                for workload in &mut forged.record.workloads {
                    workload.first_losses.iter_mut().for_each(|loss| *loss *= 1.01);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "from its seed, step 1"),
        },
        Forgery {
            what: "the loss of the next batch is left out",
            forge: |forged| {
                for workload in &mut forged.record.workloads {
                    workload.checkpoints.iter_mut().for_each(|checkpoint| checkpoint.next_loss = None);
                }
            },
            ends: (Tier::Flagged, "does not say the loss of the batch"),
        },
    ]);
}

#[test]
#[ignore = "computes ten forgeries again"]
fn work_that_was_not_done_shows_when_it_is_computed_again() {
    all_end_unranked(&[
        Forgery {
            what: "another seed's whole run under this seed",
            forge: |forged| {
                *forged = rehearsal::of_another_seed();
                forged.record.seed = rehearsal::SEED;
                forged.commit_again();
            },
            ends: (Tier::Flagged, "from its seed, step 1"),
        },
        Forgery {
            what: "an honest start, and then weights of another seed's network",
            forge: |forged| {
                let other = rehearsal::of_another_seed();
                for message in forged.told.iter_mut().filter(|message| message.number > 0) {
                    let same =
                        |of: &&rehearsal::Message| of.workload == message.workload && of.number == message.number;
                    message.weights = Arc::clone(&other.told.iter().find(same).unwrap().weights);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "did not grow out of this seed's"),
        },
        Forgery {
            what: "the start's weights at every step: only the first steps were done",
            forge: |forged| {
                let start = |name: &str, told: &[rehearsal::Message]| {
                    Arc::clone(&told.iter().find(|of| of.workload == name && of.number == 0).unwrap().weights)
                };
                let told = forged.told.clone();
                forged.told.iter_mut().for_each(|message| message.weights = start(&message.workload, &told));
                forged.commit_again();
            },
            ends: (Tier::Flagged, "no network of this kind learns so slowly"),
        },
        Forgery {
            what: "weights that are noise",
            forge: |forged| {
                for message in forged.told.iter_mut().filter(|message| message.number > 0) {
                    let count = u32::try_from(message.weights.len() / 4).unwrap();
                    let noise = (0..count).map(|i| (i.wrapping_mul(2_654_435_761) as f32 / 4.3e9) - 0.5);
                    message.weights = Arc::new(results::weights_bytes(&[noise.collect()]));
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "did not grow out of this seed's"),
        },
        Forgery {
            what: "weights that are no numbers",
            forge: |forged| {
                for message in &mut forged.told {
                    message.weights = Arc::new(vec![0xff; message.weights.len()]);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "no weights of this network"),
        },
        Forgery {
            what: "a better accuracy",
            forge: |forged| {
                for workload in &mut forged.record.workloads {
                    workload.evaluations.iter_mut().for_each(|look| look.accuracy = 0.9999);
                    record::reach(workload);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "classify"),
        },
        Forgery {
            what: "weights of a network that was trained longer elsewhere",
            forge: |forged| {
                // From the same seed, so that only how much it has learned gives it away.
                for message in forged.told.iter_mut().filter(|message| message.number > 0) {
                    message.weights = rehearsal::weights_after(&message.workload, 60);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "next batch has a loss"),
        },
        Forgery {
            what: "weights after a fifth of the steps: the others were counted and not made",
            forge: |forged| {
                for message in forged.told.iter_mut().filter(|message| message.number > 0) {
                    message.weights = rehearsal::weights_after(&message.workload, 5);
                }
                forged.commit_again();
            },
            ends: (Tier::Flagged, "are not those of so many steps"),
        },
        Forgery {
            what: "the loss of the next batch is guessed",
            forge: |forged| {
                for workload in &mut forged.record.workloads {
                    let guess = workload.curve.last().unwrap().loss;
                    workload.checkpoints.iter_mut().for_each(|checkpoint| checkpoint.next_loss = Some(guess));
                }
            },
            ends: (Tier::Flagged, "next batch has a loss"),
        },
        Forgery {
            what: "ten times the steps, told as they were done",
            forge: |forged| {
                for workload in &mut forged.record.workloads {
                    let times = 10;
                    workload.windows.iter_mut().for_each(|window| window.steps *= times);
                    workload.curve.iter_mut().for_each(|point| point.step *= u64::from(times));
                    workload.evaluations.iter_mut().for_each(|look| look.step *= u64::from(times));
                    workload.checkpoints.iter_mut().for_each(|checkpoint| checkpoint.step *= u64::from(times));
                    record::reach(workload);
                    record::count_samples(workload, rehearsal::SEED);
                }
                forged.told.iter_mut().for_each(|message| message.checkpoint.step *= 10);
                forged.commit_again();
            },
            ends: (Tier::Flagged, "next batch has a loss"),
        },
    ]);
}

#[test]
fn a_record_that_says_otherwise_than_was_told_is_refused() {
    type Change = fn(&mut RunRecord);
    let changes: [(&str, Change, &str); 6] = [
        (
            "seconds divided afterwards",
            |r| r.workloads[0].windows.iter_mut().skip(1).for_each(|window| window.seconds *= 0.999),
            "inconsistent",
        ),
        ("a curve of another run", |r| r.workloads[0].curve[0].loss *= 0.5, "wrong_checkpoint"),
        ("first losses of another run", |r| r.workloads[0].first_losses[0] *= 0.5, "wrong_checkpoint"),
        ("a better look at the test set", |r| r.workloads[0].evaluations[0].loss *= 0.5, "wrong_checkpoint"),
        (
            "checkpoints of another run",
            |r| r.workloads[0].checkpoints[1].weights_sha256 = "0".repeat(64),
            "wrong_checkpoint",
        ),
        (
            "a checkpoint that was never told",
            |r| {
                let more = r.workloads[0].checkpoints[1].clone();
                r.workloads[0].checkpoints.push(more);
            },
            "wrong_checkpoint",
        ),
    ];
    let server = rehearsal::server();
    for (what, change, code) in changes {
        let rehearsal = rehearsal::honest();
        let started = server.begin();
        rehearsal.tell_all(&server, &started);
        let mut record = rehearsal.record_of(&started);
        change(&mut record);
        record::summarise(&mut record);
        let answer = server.upload(&started.run_id, &record);
        assert_eq!(answer.status, 422, "{what}: {}", answer.text());
        assert_eq!(answer.parse::<results::api::ErrorBody>().code, code, "{what}");
    }
}

#[test]
fn two_runs_from_one_announcement_are_one() {
    let server = rehearsal::server();
    let rehearsal = rehearsal::honest();
    let (started, answer) = rehearsal.play(&server);
    assert_eq!(answer.status, 201, "{}", answer.text());
    // The nonce is used up: for another record, and for more checkpoints.
    let mut second = rehearsal.record_of(&started);
    second.workloads[0].resources.cpu_user_percent = Some(1.0);
    server.upload(&started.run_id, &second).assert_refused(409, "already_submitted", "");
    rehearsal.told[0].tell(&server, &started).assert_refused(409, "already_submitted", "");
    // The same record for another announcement of the same seed.
    let again = server.begin();
    rehearsal.tell_all(&server, &again);
    server.upload(&again.run_id, &rehearsal.record_of(&again)).assert_refused(409, "already_submitted", "");
    // With another's nonce.
    let third = server.begin();
    let mut stolen = rehearsal.record_of(&third);
    stolen.nonce = Some(started.nonce);
    server.upload(&third.run_id, &stolen).assert_refused(403, "wrong_nonce", "nonce");
}

#[test]
fn a_public_record_under_another_name_is_never_ranked() {
    let server = rehearsal::server();
    let rehearsal = rehearsal::honest();
    let (_, answer) = rehearsal.play(&server);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let mut record = rehearsal.record.clone();
    record.device.claimed_name = Some("Mine".to_owned());
    let imported = server.import(&record);
    assert_eq!(imported.parse::<results::api::AcceptedRun>().tier, Tier::Unverified);
    let started = server.begin();
    server.pass(record.provenance.wall_seconds);
    let renamed = Rehearsal { record, ..rehearsal.clone() }.record_of(&started);
    server.upload(&started.run_id, &renamed).assert_refused(422, "wrong_checkpoint", "workloads[0].checkpoints[0]");
}

/// A run that waited for so long before it trained and between its second and third checkpoint, in each workload.
fn paused(seconds: f64) -> Rehearsal {
    let mut run = rehearsal::honest();
    let mut before = 0.0;
    for workload in &mut run.record.workloads {
        let pause = Stretch { phase: Phase::Paused, seconds };
        let mut proving = workload.timeline.iter().enumerate().filter(|(_, stretch)| stretch.phase == Phase::Proving);
        let (third, _) = proving.nth(2).unwrap();
        workload.timeline.insert(third, pause);
        workload.timeline.insert(0, pause);
        for message in run.told.iter_mut().filter(|message| message.workload == workload.workload) {
            message.at += before + if message.number < 2 { seconds } else { 2.0 * seconds };
        }
        before += 2.0 * seconds;
    }
    run.record.provenance.wall_seconds += before;
    run
}

#[test]
fn a_run_that_waited_for_a_quarter_of_an_hour_is_proven_and_not_ranked() {
    let server = rehearsal::server();
    let mut run = paused(1000.0);
    run.record.warnings.push(Warning::TabHidden { seconds: 4000.0, paused_seconds: 4000.0 });
    let verdict = run.verdict(&server);
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, Vec::new()));
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

#[test]
fn nobody_calls_training_waiting_and_keeps_it_from_the_mark() {
    let server = rehearsal::server();
    let verdict = paused(10.0).verdict(&server);
    assert_eq!(verdict.tier, Tier::Checked, "{:?}", verdict.notes);
    assert!(verdict.notes.iter().any(|note| note.contains("it waited for 40.0 s")), "{:?}", verdict.notes);
}

#[test]
fn a_laptop_that_slept_is_not_called_a_forger() {
    let server: TestServer = rehearsal::server();
    let mut slept = rehearsal::honest();
    let from = slept.told.len() / 2;
    slept.told[from..].iter_mut().for_each(|message| message.at += 600.0);
    let verdict = slept.verdict(&server);
    assert_eq!(verdict.tier, Tier::Checked, "{:?}", verdict.notes);
    assert!(verdict.notes.iter().any(|note| note.contains("accounts for")), "{:?}", verdict.notes);
}
