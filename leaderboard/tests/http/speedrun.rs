//! The speedrun: the record of each class of devices, and its history.

use results::Goal;
use results::api::{DeviceForm, Speedrun, SpeedrunClass};

use crate::support::*;

fn speedrun(server: &TestServer) -> Vec<SpeedrunClass> {
    server.read::<Speedrun>("/api/v1/speedrun?workload=caffe-mnist").classes
}

/// Changes a record so that this evaluation is the first to reach the target. They follow each other by seconds.
fn reaching_at(first: usize) -> impl Fn(&mut RunRecord) {
    move |record| {
        for workload in &mut record.workloads {
            for (place, evaluation) in workload.evaluations.iter_mut().enumerate() {
                evaluation.accuracy = if place < first { 0.9 } else { 0.995 };
            }
            record::reach(workload);
        }
    }
}

fn records(class: &SpeedrunClass) -> Vec<&str> {
    class.records.iter().map(|record| record.run.run_id.as_str()).collect()
}

#[test]
fn each_class_has_its_record_and_history() {
    let server = board();
    server.accepted(reaching_at(0));
    let first = server.proven(reaching_at(3));
    server.proven(reaching_at(3));
    let better = server.proven(reaching_at(1));
    server.proven(reaching_at(2));
    let best = server.proven(reaching_at(0));
    let of_laptop = server.proven(|record| record.provenance.client.has_battery = Some(true));
    let of_browser = server.proven(in_browser);

    let classes = speedrun(&server);
    let names: Vec<_> = classes.iter().map(|class| (class.form, class.client_kind)).collect();
    let expected = [(DeviceForm::Laptop, ClientKind::Native), (DeviceForm::Desktop, ClientKind::Browser)];
    assert_eq!(names, [&expected[..], &[(DeviceForm::Desktop, ClientKind::Native)]].concat());
    assert_eq!(records(&classes[0]), [&of_laptop]);
    assert_eq!(records(&classes[1]), [&of_browser]);
    assert_eq!(records(&classes[2]), [&best, &better, &first]);
    let seconds = |of: usize| classes[2].records[of].run.summary.seconds_to_target.unwrap();
    assert!(seconds(0) < seconds(1) && seconds(1) < seconds(2) && classes[2].records[0].engine_version == "0.1.0");
}

#[test]
fn hidden_record_gives_way_to_the_next_best() {
    let server = board();
    let first = server.proven(reaching_at(3));
    let best = server.proven(reaching_at(1));
    let second = server.proven(reaching_at(2));
    let now = || records(&speedrun(&server)[0]).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(now(), [best.as_str(), &first]);
    server.set_tier(&best, Tier::Hidden);
    assert_eq!(now(), [second.as_str(), &first]);
    server.set_tier(&first, Tier::Flagged);
    assert_eq!(now(), [second.as_str()]);
    server.set_tier(&best, Tier::Proven);
    assert_eq!(now(), [best.as_str()]);
}

#[test]
fn speedrun_without_a_workload_is_of_gpt_nano() {
    let server = TestServer::start();
    let empty: Speedrun = server.read("/api/v1/speedrun");
    assert_eq!((empty.workload.as_str(), empty.suite.name.as_str()), ("gpt-nano", "speedrun"));
    assert!(empty.classes.is_empty() && matches!(empty.goal, Goal::Loss(_)));
}
