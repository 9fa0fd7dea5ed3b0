//! The table: order, filters, pages, and what takes part in the ranking.

use results::api::{AcceptedRun, RunList, Tier};
use results::{ClientKind, Date, DeviceKind, Precision, RunRecord, Warning};

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
    for warning in
        [Warning::TabHidden { seconds: 2.0, paused_seconds: 0.0 }, Warning::CoarseTimer { resolution_seconds: 0.1 }]
    {
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
fn every_filter_finds_its_runs_and_a_run_that_gets_another_tier_is_found_by_it() {
    let server = TestServer::start();
    let native = server.accepted(|record| record.device.adapter.vendor = "NVIDIA".to_owned());
    let browser = server.accepted(|record| {
        record.device.adapter.name = "Example GPU 1".to_owned();
        record.provenance.client.kind = ClientKind::Browser;
        record.provenance.client.name = "Firefox".to_owned();
        record.provenance.client.version = "142".to_owned();
        record.provenance.client.operating_system = "Windows".to_owned();
    });
    let [native, browser] = [native.run_id, browser.run_id];
    for (query, run) in [
        ("client=native", &native),
        ("client=browser", &browser),
        ("vendor=nvidia", &native),
        ("browser=Firefox", &browser),
        ("browser=firefox&sort=oldest", &browser),
        ("system=Windows", &browser),
        ("system=Linux&suite=quick&backend=wgsl&precision=f32&tier=checked", &native),
        ("device=reported-example-gpu-1", &browser),
    ] {
        for workload in ["", "&workload=caffe-mnist", "&workload=caffe-mnist&sort=accuracy"] {
            // An order is named once.
            if query.contains("sort=") && workload.contains("sort=") {
                continue;
            }
            let found = list(&server, &format!("?{query}{workload}"));
            assert!(!found.rows.is_empty() && ids(&found).iter().all(|id| id == run), "{query}{workload}");
            assert_eq!(
                (found.total, found.more_than_total, found.next.is_none()),
                (found.rows.len() as u64, false, true)
            );
        }
    }
    for nothing in ["backend=burn-cuda", "suite=complete", "browser=Chrome", "tier=proven", "vendor=AMD", "ranked=true"]
    {
        assert_eq!(list(&server, &format!("?{nothing}")).total, 0, "{nothing}");
    }
    server.set_tier(&native, Tier::Proven);
    assert_eq!(ids(&list(&server, "?tier=proven")), [&native, &native]);
    assert_eq!(ids(&list(&server, "?ranked=true&vendor=NVIDIA")), [&native, &native]);
    assert_eq!(ids(&list(&server, "?tier=checked")), [&browser, &browser]);
    let today = Date::of(list(&server, "").rows[0].submitted_unix_seconds);
    let [before, after] = [-1.0, 1.0].map(|days| Date::of(today.unix_seconds() + days * 86_400.0).iso());
    let today = today.iso();
    let totals = [
        format!("since={today}&until={today}"),
        format!("since={before}"),
        format!("until={before}"),
        format!("since={after}"),
    ];
    assert_eq!(totals.map(|query| list(&server, &format!("?{query}")).total), [4, 4, 0, 0]);
}

#[test]
fn a_cursor_leads_through_all_rows_and_belongs_to_its_query() {
    let server = TestServer::start();
    let runs: Vec<String> = (1..6).map(|factor| server.accepted(faster(factor)).run_id).collect();
    let mut found = list(&server, "?workload=caffe-mnist&limit=2");
    let cursor = found.next.clone().unwrap();
    let mut seen: Vec<String> = ids(&found).into_iter().map(str::to_owned).collect();
    while let Some(next) = &found.next {
        found = list(&server, &format!("?workload=caffe-mnist&limit=2&cursor={next}"));
        seen.extend(ids(&found).into_iter().map(str::to_owned));
        assert_eq!(found.total, 5, "of all pages");
    }
    assert_eq!(seen, runs.into_iter().rev().collect::<Vec<_>>());
    for other in
        ["", "?workload=keras-mnist-mlp", "?workload=caffe-mnist&backend=wgsl", "?workload=caffe-mnist&sort=newest"]
    {
        let sign = if other.is_empty() { '?' } else { '&' };
        let answer = server.get(&format!("/api/v1/runs{other}{sign}cursor={cursor}"));
        answer.assert_refused(400, "bad_query", "cursor");
        assert!(answer.text().contains("another query"), "{}", answer.text());
    }
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
        ("?sort=fastest", "sort"),
        ("?sort=accuracy&backend=wgsl", "sort"),
        ("?sort=cheapest&workload=caffe-mnist", ""),
        ("?device=..%2F", "device"),
        ("?vendor=Example", "vendor"),
        ("?browser=Netscape", "browser"),
        ("?system=CP%2FM", "system"),
        ("?client=toaster", ""),
        ("?tier=hidden", "tier"),
        ("?tier=best", ""),
        ("?suite=%00", "suite"),
        ("?since=yesterday", "since"),
        ("?until=2026-02-30", "until"),
        ("?cursor=", "cursor"),
        ("?cursor=e30", "cursor"),
        ("?cursor=e30&offset=1", "offset"),
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
