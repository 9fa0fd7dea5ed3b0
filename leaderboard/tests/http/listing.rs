//! The table: order, filters, pages, and what takes part in the ranking.

use results::api::{AcceptedRun, RunList, Tier};
use results::{DeviceKind, Precision, RunRecord, Warning};

use crate::support::{TestServer, record};

fn faster(factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| record::speed_up(record, factor)
}

fn list(server: &TestServer, query: &str) -> RunList {
    let answer = server.get(&format!("/api/v1/runs{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.parse()
}

fn ids(list: &RunList) -> Vec<&str> {
    list.rows.iter().map(|row| row.run_id.as_str()).collect()
}

#[test]
fn the_fastest_comes_first_and_a_run_without_a_figure_last() {
    let server = TestServer::start();
    let slow = server.accepted(|_| {});
    let without = server.accepted(|record| record::scale_time(record, 0.1));
    let fast = server.accepted(faster(10));
    let middle = server.accepted(faster(3));
    let list = list(&server, "?workload=caffe-mnist");
    assert_eq!(ids(&list), [&fast.run_id, &middle.run_id, &slow.run_id, &without.run_id]);
    assert_eq!(list.rows[3].summary.samples_per_second, None);
}

#[test]
fn without_a_network_the_newest_comes_first() {
    let server = TestServer::start();
    let before = server.accepted(faster(10));
    let after = server.accepted(|_| {});
    let [before, after] = [before.run_id, after.run_id];
    assert_eq!(ids(&list(&server, "")), [&after, &after, &before, &before]);
}

#[test]
fn filters_and_pages_take_their_share() {
    let server = TestServer::start();
    let wgsl = server.accepted(|_| {});
    let burn = server.accepted(|record| {
        record.device.requested_backend = "burn-wgpu".to_owned();
        record.device.backend = "burn-wgpu".to_owned();
    });
    assert_eq!(list(&server, "").total, 4);
    assert_eq!(ids(&list(&server, "?workload=keras-mnist-mlp&backend=burn-wgpu")), [&burn.run_id]);
    assert_eq!(ids(&list(&server, "?backend=wgsl&workload=caffe-mnist")), [&wgsl.run_id]);
    assert_eq!(list(&server, "?workload=unheard-of").total, 0);
    let all = list(&server, "");
    for offset in 0..5 {
        let page = list(&server, &format!("?limit=1&offset={offset}"));
        assert_eq!(page.total, 4);
        assert_eq!(page.rows.first(), all.rows.get(offset));
    }
}

#[test]
fn only_standard_results_of_steady_training_on_hardware_that_were_proven_are_ranked() {
    let server = TestServer::start();
    let ranked = server.proven(|_| {});
    server.accepted(|_| {});
    let software = server.proven(|record| {
        record.device.adapter.software = true;
        record.device.adapter.name = "llvmpipe (LLVM 15)".to_owned();
        record.device.adapter.kind = DeviceKind::Cpu;
        record.device.requested_adapter = "cpu".to_owned();
    });
    assert_eq!(software.tier, Tier::Proven);
    server.proven(|record| record.non_standard.push("batch size 256".to_owned()));
    let [half, matrix] = [Precision::F16, Precision::F16Matrix].map(|precision| {
        server.proven(|record| {
            if precision == Precision::F16Matrix {
                record.non_standard.push(format!("computed in {}", precision.name()));
            }
            record.workloads.iter_mut().for_each(|workload| workload.settings.precision = precision);
        })
    });
    let unsteady = server.proven(|record| {
        for workload in &mut record.workloads {
            let windows = record::measured(workload).iter_mut();
            windows.step_by(2).zip([1.2, 1.4, 1.6]).for_each(|(window, seconds)| window.seconds = seconds);
        }
    });
    let unlearned = server.proven(|record| {
        for workload in &mut record.workloads {
            workload.settings.chance_accuracy = Some(0.99);
        }
    });
    assert_eq!((unsteady.tier, unlearned.tier), (Tier::Proven, Tier::Proven));
    for warning in [Warning::TabHidden { seconds: 2.0 }, Warning::CoarseTimer { resolution_seconds: 0.1 }] {
        server.proven(|record| record.warnings.push(warning));
    }
    let generated = server.proven(|record| {
        let workload = "caffe-mnist".to_owned();
        record.warnings.push(Warning::GeneratedData { workload });
    });
    let flagged = server.accepted(faster(100_000));
    assert_eq!(flagged.tier, Tier::Flagged);
    assert_eq!(server.import(&record::unregistered(1)).status, 201);

    assert_eq!(list(&server, "").total, 26);
    for row in list(&server, "").rows {
        let precision = match &row.run_id {
            id if *id == half.run_id => Precision::F16,
            id if *id == matrix.run_id => Precision::F16Matrix,
            _ => Precision::F32,
        };
        assert_eq!(row.precision, precision, "a row says what it was computed in");
    }
    let ranking = list(&server, "?ranked=true");
    let expected = [&generated.run_id, &half.run_id, &half.run_id, &ranked.run_id, &ranked.run_id];
    assert_eq!(ids(&ranking), expected, "the newest first, and of generated data what is not");
    assert!(ranking.rows.iter().all(|row| row.ranked));
    let marked = list(&server, "").rows.iter().filter(|row| row.ranked).count();
    let of_network = |more: &str| list(&server, &format!("?ranked=true&workload=caffe-mnist{more}"));
    assert_eq!(ids(&of_network("")), [&ranked.run_id], "f32 where nothing else is asked for");
    assert_eq!(ids(&of_network("&precision=f16")), [&half.run_id], "each precision has a ranking of its own");
    assert!(of_network("&precision=f16-matrix").rows.is_empty() && of_network("&class=processor").rows.is_empty());
    assert_eq!(marked, 5, "the mark in a row and the filters agree");
}

#[test]
fn a_hidden_run_is_neither_listed_nor_shown_but_its_owner_may_delete_it() {
    let server = TestServer::start();
    let run: AcceptedRun = server.accepted(|_| {});
    server.set_tier(&run.run_id, Tier::Hidden);
    assert_eq!(list(&server, "").total, 0);
    server.get(&format!("/api/v1/runs/{}", run.run_id)).assert_refused(404, "unknown_run", "");
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
}

#[test]
fn a_query_that_makes_no_sense_is_refused() {
    let server = TestServer::start();
    for (query, field) in [
        ("?limit=0", "limit"),
        ("?limit=501", "limit"),
        ("?limit=-1", ""),
        ("?limit=ten", ""),
        ("?limit=99999999999", ""),
        ("?offset=10001", "offset"),
        ("?backend=wgsl", "backend"),
        ("?precision=f32", "precision"),
        ("?workload=caffe-mnist&class=gpu", "class"),
        ("?ranked=true&class=software", ""),
        ("?ranked=perhaps", ""),
        ("?order=price", ""),
        ("?workload=a&workload=b", ""),
        ("?workload=", "workload"),
        ("?workload=x%27%20OR%201%3D1--", "workload"),
        ("?workload=caffe-mnist&backend=%00", "backend"),
        ("?workload=caffe-mnist&backend=%F0%9F%9A%80", "backend"),
    ] {
        server.get(&format!("/api/v1/runs{query}")).assert_refused(400, "bad_query", field);
    }
}
