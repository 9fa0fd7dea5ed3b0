//! Records of work that the suite does not ask for, each changed in one place from an honest one and told apart from it by
//! what the server knows itself.

use results::RunRecord;

use crate::support::{TestServer, record};

/// A change of an honest record, the code of the refusal and its field.
type Forgery = (fn(&mut RunRecord), &'static str, &'static str);

fn all_are_refused(forgeries: &[Forgery]) {
    let server = TestServer::start();
    let (started, honest) = server.honest_run();
    for (forge, code, field) in forgeries {
        let mut forged = honest.clone();
        forge(&mut forged);
        record::summarise(&mut forged);
        server.upload(&started.run_id, &forged).assert_refused(422, code, field);
        let mut imported = RunRecord { run_id: None, nonce: None, ..forged };
        imported.seed = imported.seed.wrapping_add(1);
        server.import(&imported).assert_refused(422, code, field);
    }
    assert_eq!(server.upload(&started.run_id, &honest).status, 201, "nothing that was refused has used the run up");
}

#[test]
fn work_that_differs_from_the_network_is_refused() {
    fn settings(record: &mut RunRecord) -> &mut results::Settings {
        &mut record.workloads[0].settings
    }
    let forgeries: [Forgery; 8] = [
        (
            |r| settings(r).training_flops_per_sample = 1,
            "wrong_work",
            "workloads[0].settings.training_flops_per_sample",
        ),
        (
            |r| settings(r).training_flops_per_sample *= 1000,
            "wrong_work",
            "workloads[0].settings.training_flops_per_sample",
        ),
        (|r| settings(r).parameters = 7850, "wrong_work", "workloads[0].settings.parameters"),
        (|r| settings(r).test_samples = 100, "wrong_work", "workloads[0].settings.test_samples"),
        (|r| settings(r).training_samples = 50_000, "wrong_work", "workloads[0].settings.training_samples"),
        (|r| r.workloads[0].workload = "imagenet-in-a-minute".to_owned(), "unknown_workload", "workloads[0].workload"),
        (
            |r| r.workloads[0].network = Some(serde_json::json!({ "name": "mine" })),
            "network_of_a_file",
            "workloads[0].network",
        ),
        (
            |r| {
                r.device.backend = "warp-drive".to_owned();
                r.device.requested_backend = r.device.backend.clone();
            },
            "unknown_backend",
            "device.backend",
        ),
    ];
    all_are_refused(&forgeries);
}

#[test]
fn nonstandard_run_still_has_the_networks_work() {
    all_are_refused(&[
        (
            |r| {
                r.non_standard.push("4 steps".to_owned());
                r.workloads[0].settings.parameters = 7850;
            },
            "wrong_work",
            "workloads[0].settings.parameters",
        ),
        (
            |r| {
                r.non_standard.push("4 steps".to_owned());
                r.workloads[0].windows[0].seconds /= 10.0;
            },
            "inconsistent",
            "workloads[0].evaluations[0].training_seconds",
        ),
    ]);
}

#[test]
fn what_departs_from_the_suite_and_does_not_say_so_is_refused() {
    all_are_refused(&[
        (
            |r| {
                let seed = r.seed;
                r.workloads[0].settings.batch_size = 1024;
                record::count_samples(&mut r.workloads[0], seed);
                r.workloads[0].epochs.clear();
            },
            "not_standard",
            "workloads[0].settings.batch_size",
        ),
        (|r| r.workloads[0].settings.learning_rate = 0.002, "not_standard", "workloads[0].settings.learning_rate"),
        (
            |r| {
                r.workloads[0].target.as_mut().unwrap().accuracy = 0.9;
                record::reach(&mut r.workloads[0]);
            },
            "not_standard",
            "workloads[0].target.accuracy",
        ),
        (|r| r.workloads[0].target = None, "not_standard", "workloads[0].target"),
        (
            |r| {
                r.device.backend = "reference".to_owned();
                r.device.requested_backend = r.device.backend.clone();
            },
            "not_standard",
            "device.backend",
        ),
        (|r| drop(r.workloads.pop()), "incomplete_suite", "workloads"),
    ]);
}

#[test]
fn a_course_of_training_that_the_suite_does_not_have_is_refused() {
    all_are_refused(&[
        // Ten times the steps in the same windows.
        (
            |r| {
                let seed = r.seed;
                r.workloads[0].windows.iter_mut().for_each(|window| window.steps *= 10);
                record::count_samples(&mut r.workloads[0], seed);
            },
            "inconsistent",
            "workloads[0].evaluations[0].step",
        ),
        // The slowest windows of the training left out.
        (
            |r| {
                let seed = r.seed;
                r.workloads[0].windows.remove(1);
                r.workloads[0].peaks.clear();
                record::count_samples(&mut r.workloads[0], seed);
            },
            "inconsistent",
            "workloads[0].evaluations[1].step",
        ),
        // More samples than these steps have: the last batch of an epoch is short.
        (
            |r| {
                for window in &mut r.workloads[0].windows {
                    window.samples = u64::from(window.steps) * 128;
                }
            },
            "inconsistent",
            "workloads[0].windows[1].samples",
        ),
        // Windows of a tenth of the time before looks at the test set that stay where they are.
        (|r| r.workloads[0].windows[0].seconds /= 10.0, "inconsistent", "workloads[0].evaluations[0].training_seconds"),
        // The worst looks at the test set are not told.
        (
            |r| {
                r.workloads[0].evaluations.remove(0);
            },
            "not_standard",
            "workloads[0].evaluations[0].step",
        ),
        // Training ended when the accuracy was best.
        (
            |r| {
                r.workloads[0].evaluations.pop();
                record::reach(&mut r.workloads[0]);
            },
            "not_standard",
            "workloads[0].evaluations[2].step",
        ),
        (
            |r| {
                r.workloads[0].evaluations.clear();
                record::reach(&mut r.workloads[0]);
            },
            "not_standard",
            "workloads[0].evaluations",
        ),
        // Training that went on.
        (
            |r| {
                let last = r.workloads[0].evaluations.last().copied().unwrap();
                let (step, training_seconds) = (last.step + 1100, last.training_seconds + 1.1);
                r.workloads[0].evaluations.push(results::Evaluation {
                    step,
                    training_seconds,
                    accuracy: 0.9999,
                    ..last
                });
            },
            "not_standard",
            "workloads[0].evaluations[4].step",
        ),
    ]);
}

#[test]
fn partial_suite_run_is_stored_but_not_ranked() {
    let server = TestServer::start();
    let half = server.accepted(|record| {
        record.workloads.pop();
        record.non_standard.push("1 of the suite's 2 networks".to_owned());
    });
    let list: results::api::RunList = server.get("/api/v1/runs").parse();
    assert!(list.rows.iter().all(|row| row.run_id == half.run_id && !row.ranked) && list.total == 1);
}

#[test]
fn what_several_devices_trained_together_is_refused_however_it_is_called() {
    let server = TestServer::start();
    for (number, devices) in [(1, 2), (2, 1)] {
        let mut record = record::unregistered(number);
        record.workloads[1].communication = Some(results::Communication::among(devices));
        server.import(&record).assert_refused(422, "several_devices", "workloads[1].communication");
    }
}

#[test]
fn what_was_streamed_to_the_device_is_refused_however_it_is_called() {
    let server = TestServer::start();
    for (number, mode) in (1..).zip(results::InputMode::ALL) {
        let mut record = record::unregistered(number);
        record.workloads[1].input = Some(results::InputPipeline::new(mode));
        server.import(&record).assert_refused(422, "streamed_input", "workloads[1].input");
    }
}

#[test]
fn a_suite_that_is_not_known_is_refused_before_anybody_trains_it() {
    let server = TestServer::start();
    for (name, version) in [("quick", 2), ("quicker", 1)] {
        let request = results::api::StartRun {
            suite: results::Suite { name: name.to_owned(), version },
            engine_version: record::ENGINE_VERSION.to_owned(),
        };
        server.json("POST", "/api/v1/runs", &request).assert_refused(422, "unknown_suite", "suite");
    }
}
