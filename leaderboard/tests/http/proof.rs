//! Proof of real training, and of nothing else.

use results::badge::Badge;
use results::{Phase, Stretch, Warning};

use crate::support::*;

#[test]
fn a_run_that_trained_is_proven_and_ranked() {
    let server = rehearsal::server();
    let run = rehearsal::honest();
    let verdict = run.verdict(&server);
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, Vec::new()));
    let ranking = server.list("?ranked=true");
    assert_eq!(ranking.total, 2);
    for row in ranking.rows {
        let workload = run.record.workloads.iter().find(|of| of.workload == row.workload).unwrap();
        assert_eq!(row.summary, workload.summary, "the server's clock agrees, and its test");
    }
}

#[test]
fn a_run_that_waits_is_verified_after_interruptions_and_a_kill() {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let started = light().play_accepted(&server);
    assert!(server.verdict(&started.run_id).being_verified);
    // A killed server held it.
    server.stop();
    let address = server.address;
    server.database().execute(&format!(
        "UPDATE verifications SET taken_by = '{address}', taken_until_unix_seconds = 1e12, attempts = attempts + 1"
    ));
    server.settings.listen = address.to_string();
    (0..4).for_each(|_| server.restart_with_verifiers(1));
    assert_tier(&server.verdict_of(&started.run_id), Tier::Proven, "");
}

fn small(record: &mut RunRecord) -> &mut WorkloadRecord {
    record.workloads.iter_mut().find(|of| of.workload == SMALL).unwrap()
}

#[test]
fn slower_server_clock_determines_the_rate() {
    let server = rehearsal::server();
    let mut run = light();
    run.messages.iter_mut().for_each(|message| message.at *= 2.0);
    let started = run.play_accepted(&server);
    let most = 1.03 * run.server_rate();
    let list = server.list("");
    let listed = list.rows.iter().find(|row| row.run_id == started.run_id).unwrap();
    let rate = listed.summary.samples_per_second.unwrap();
    assert!((rate / most - 1.0).abs() < 1e-6, "{rate} and {most}");
    let shown = server.stored(&started.run_id);
    let place = shown.record.workloads.iter().position(|of| of.workload == SMALL).unwrap();
    let claimed = &shown.record.workloads[place].summary;
    assert!(claimed.samples_per_second.unwrap() > 1.9 * rate, "the record stays what it is");
    assert_eq!(shown.listed[place], listed.summary);
    // The same applies to the badge, which is drawn like the card, and to the open data.
    let badge: Badge = server.get_run(&started.run_id, &format!("/badge.json?workload={SMALL}")).parse();
    assert!(badge.message.contains(&format!("{rate:.1} samples/s")), "{} and {rate}", badge.message);
    let csv = server.get("/api/v1/export?format=csv").text();
    assert!(csv.contains(&rate.to_string()), "{csv}");
}

#[test]
fn guessed_first_losses_flag_a_run_and_are_noted_on_others() {
    let server = rehearsal::server();
    let proven = |who: Who| server.proven_by(who, |record| record.device.claimed_name = who.map(str::to_owned));
    let [same, another] = [ANN, BOB].map(proven);
    let mut fake = light();
    small(&mut fake.record).first_losses.iter_mut().for_each(|loss| *loss *= 1.01);
    let client = server.seen_at(ANN);
    let (started, answer) = fake.play_as(&client, &server);
    let verdict = verdict_on(&client, &started, answer);
    assert_tier(&verdict, Tier::Flagged, "");
    assert!(verdict.notes[0].to_string().contains("from its seed, step 1"), "{:?}", verdict.notes);
    let note = "Another run of this submitter on this day was flagged.";
    for (run_id, is_noted) in [(same, true), (another, false)] {
        let verdict = server.verdict(&run_id);
        assert_eq!(verdict.tier, Tier::Proven);
        assert_eq!(verdict.notes.iter().any(|said| said.to_string() == note), is_noted, "{:?}", verdict.notes);
    }
}

#[test]
fn an_accuracy_is_the_one_that_the_server_finds() {
    let mut run = light();
    let right = small(&mut run.record).summary.accuracy.unwrap();
    // Another device may break a tie differently.
    small(&mut run.record).evaluations.iter_mut().for_each(|look| look.accuracy += 0.001);
    record::summarise(&mut run.record);
    let server = rehearsal::server();
    assert_tier(&run.verdict(&server), Tier::Proven, "");
    let listed = server.list("").rows.remove(0).summary;
    assert!((listed.accuracy.unwrap() - right).abs() < 5e-4, "{listed:?} {right}");
}

#[test]
fn a_training_counts_for_one_run_only() {
    let server = rehearsal::server();
    let run = light();
    let started = run.play_accepted(&server);
    // The nonce is used up, for other records and further requests.
    let mut second = run.record_of(&started);
    small(&mut second).resources.cpu_user_percent = Some(1.0);
    server.upload(&started.run_id, &second).assert_refused(409, "already_submitted", "");
    for message in &run.messages {
        message.call.send(&server, &started).assert_refused(409, "already_submitted", "");
    }
    // The same record for another announcement of the same seed.
    let again = server.begin();
    run.send_all_as(&server, &server, &again);
    server.upload(&again.run_id, &run.record_of(&again)).assert_refused(409, "already_submitted", "");
    // Another run's nonce.
    let third = server.begin();
    let mut stolen = run.record_of(&third);
    stolen.nonce = Some(started.nonce);
    server.upload(&third.run_id, &stolen).assert_refused(403, "wrong_nonce", "nonce");

    // A public record under another name is never ranked.
    let named = |name: &str| {
        let mut record = run.record.clone();
        record.device.claimed_name = Some(name.to_owned());
        record
    };
    assert_eq!(server.import(&named("Mine")).parse::<AcceptedRun>().verdict.tier, Tier::Unverified);
    let started = server.begin();
    server.pass(run.record.provenance.wall_seconds);
    let renamed = Rehearsal { messages: Vec::new(), record: named("Mine, announced") }.record_of(&started);
    let answer = server.upload(&started.run_id, &renamed);
    assert_tier(&verdict_on(&server, &started, answer), Tier::Checked, "received no segments");
}

/// Returns [`light`] with a pause of `seconds` between its first two laps.
fn paused(seconds: f64) -> Rehearsal {
    let mut run = light();
    let second = |call: &RunCall| matches!(call, RunCall::OpenLap(lap) if lap.segment > 0);
    let from = run.messages.iter().position(|message| second(&message.call)).unwrap();
    run.messages[from..].iter_mut().for_each(|message| message.at += seconds);
    small(&mut run.record).timeline.insert(1, Stretch { phase: Phase::Paused, seconds });
    run.record.provenance.wall_seconds += seconds;
    run
}

#[test]
fn paused_run_is_not_ranked_and_proven_only_with_a_warning() {
    let mut hidden = paused(1000.0);
    hidden.record.warnings.push(Warning::TabHidden { seconds: 1000.0, paused_seconds: 1000.0 });
    for (run, tier, reason) in [(hidden, Tier::Proven, ""), (paused(40.0), Tier::Checked, "paused for 40.0 s")] {
        let server = rehearsal::server();
        assert_tier(&run.verdict(&server), tier, reason);
        assert_eq!(server.list("?ranked=true").total, 0);
    }
}
