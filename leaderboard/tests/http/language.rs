//! Runs of language models, whose target is a loss.

use engine::SuiteDefinition;
use results::Goal;
use results::api::Note;

use crate::support::pretended::{Tricks, train};
use crate::support::*;

const NANO: &str = "gpt-nano";
/// Too large for a leaderboard to prove.
const UNPROVABLE: &str = "gpt-small";

fn language() -> &'static SuiteDefinition {
    engine::suite("language").unwrap()
}

/// Returns an honest record that no leaderboard knows.
fn unregistered(seed: u32) -> RunRecord {
    let mut record = record::of_suite(language(), seed);
    record.provenance.wall_seconds = 60.0;
    record
}

fn nano(record: &mut RunRecord) -> &mut WorkloadRecord {
    record.workloads.iter_mut().find(|of| of.workload == NANO).unwrap()
}

#[test]
fn runs_with_a_target_loss_are_sorted_by_loss() {
    let server = TestServer::start();
    let runs = [(1, 0.9), (2, 0.8), (3, 1.0)].map(|(seed, factor)| {
        let mut run = unregistered(seed);
        nano(&mut run).evaluations.iter_mut().for_each(|evaluation| evaluation.loss *= factor);
        record::reach(nano(&mut run));
        record::summarise(&mut run);
        let accepted: AcceptedRun = server.import(&run).with_status(201).parse();
        let note = Note::LargeStates { workload: UNPROVABLE.to_owned() };
        assert!(accepted.verdict.notes.contains(&note), "{:?}", accepted.verdict.notes);
        accepted.run_id
    });
    let rows = server.list(&format!("?workload={NANO}&sort=accuracy")).rows;
    let order: Vec<&str> = rows.iter().map(|row| row.run_id.as_str()).collect();
    assert_eq!(order, [&runs[1], &runs[0], &runs[2]]);
    assert!(rows.iter().all(|row| row.summary.seconds_to_target.is_some()));
}

#[test]
fn wrong_target_losses_are_refused() {
    let server = TestServer::start();
    let refused = |code, field: &str, goal| {
        let mut run = unregistered(1);
        nano(&mut run).target.as_mut().unwrap().goal = goal;
        record::reach(nano(&mut run));
        record::summarise(&mut run);
        server.import(&run).assert_refused(422, code, &format!("workloads[0].target.{field}"))
    };
    refused("out_of_range", "loss", Goal::Loss(-1.0));
    refused("not_standard", "accuracy", Goal::Accuracy(0.5));
    let message = refused("not_standard", "loss", Goal::Loss(4.0));
    assert!(message.contains("not the loss 4."), "{message}");
}

#[test]
#[ignore = "trains a language model with plain loops"]
fn trained_language_model_is_proven() {
    let server = rehearsal::server();
    let started = server.begin_suite(&record::start_of(language()));
    let tricks = Tricks { suite: language(), step_seconds: 40.0, lacks: Some(UNPROVABLE), ..Tricks::default() };
    let (messages, record) = train(&server, &started, tricks);
    let mut run = Rehearsal { messages, record };
    let answer = server.upload(&started.run_id, &run.record_of(&started));
    assert_tier(&verdict_on(&server, &started, answer), Tier::Proven, "");
    let listed = server.list("").rows.remove(0).summary;
    let loss = nano(&mut run.record).summary.test_loss.unwrap();
    assert!((listed.test_loss.unwrap() / loss - 1.0).abs() < 1e-4, "{listed:?} {loss}");
}
