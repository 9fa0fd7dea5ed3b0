//! Lists: order, filters, pages, entity tags, query plans, and ranked results.

use std::io::Read;

use engine::SUITES;
use leaderboard::devices::class_of;
use leaderboard::load::{Board, PastRun};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use results::api::{AcceptedRun, ListRuns, RankedClass, RunList, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, DeviceKind, Precision, RunRecord, SYSTEMS, Warning, obstacle};

use crate::support::database::block_on;
use crate::support::{Answer, TestDatabase, TestServer, record};

fn faster(factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| record::speed_up(record, factor)
}

fn list(server: &TestServer, query: &str) -> RunList {
    server.read(&format!("/api/v1/runs{query}"))
}

fn ids(list: &RunList) -> Vec<&str> {
    list.rows.iter().map(|row| row.run_id.as_str()).collect()
}

#[test]
fn fastest_run_is_first_and_runs_without_a_rate_last() {
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
        record.requested.backend = "burn-wgpu".to_owned();
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
fn only_proven_standard_hardware_results_are_ranked() {
    let server = TestServer::start();
    let ranked = server.proven(|_| {});
    server.accepted(|_| {});
    let software = server.proven(|record| {
        record.device.adapter.software = true;
        record.device.adapter.name = "llvmpipe (LLVM 15)".to_owned();
        record.device.adapter.kind = DeviceKind::Cpu;
        record.requested.adapter = "cpu".to_owned();
    });
    assert_eq!(software.tier, Tier::Proven);
    server.proven(|record| record.requested.learning_rate = Some(0.01));
    let [half, matrix] = [Precision::F16, Precision::F16Matrix].map(|precision| {
        server.proven(|record| {
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
    assert_eq!(ids(&of_network("&precision=f16")), [&half.run_id], "each precision has its own ranking");
    assert!(of_network("&precision=f16-matrix").rows.is_empty() && of_network("&class=processor").rows.is_empty());
    assert_eq!(marked, 5, "the mark in a row and the filters agree");
}

#[test]
fn owner_may_delete_a_hidden_run() {
    let server = TestServer::start();
    let run: AcceptedRun = server.accepted(|_| {});
    server.set_tier(&run.run_id, Tier::Hidden);
    assert_eq!(list(&server, "").total, 0);
    server.get(&format!("/api/v1/runs/{}", run.run_id)).assert_refused(404, "unknown_run", "");
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
}

#[test]
fn filters_find_runs_also_after_a_tier_change() {
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
            // An order is specified only once.
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
fn cursor_visits_all_rows_of_its_query_only() {
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

fn again(server: &TestServer, path: &str, first: &Answer, encodings: &str) -> Answer {
    server.send("GET", path, &[("if-none-match", first.header("etag")), ("accept-encoding", encodings)], b"")
}

#[test]
fn unchanged_content_is_304_in_every_encoding() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let paths = ["/api/v1/runs", &format!("/api/v1/runs/{}", run.run_id), "/api/v1/schema", "/api/v1/data-sets"]
        .map(str::to_owned);
    for path in &paths {
        let plain = server.get_accepting(path, "identity");
        let gzip = server.get_accepting(path, "gzip");
        let name = plain.header("etag");
        assert!(name.starts_with("W/\"") && name.len() > 30, "{path}: {name}");
        assert_eq!(gzip.header("etag"), name, "the content is the same: {path}");
        assert_eq!(gzip.header("content-encoding"), "gzip", "{path}");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, plain.body, "{path}");
        for encodings in ["identity", "gzip"] {
            let same = again(&server, path, &plain, encodings);
            assert_eq!(same.status, 304, "{path}");
            assert!(same.body.is_empty(), "{path}");
            assert_eq!((same.header("etag"), same.header("vary")), (name, "accept-encoding"), "{path}");
            assert_eq!((same.header("content-encoding"), same.header("cache-control")), ("", "no-cache"), "{path}");
        }
    }
}

#[test]
fn changed_content_is_resent_and_refusals_have_no_etag() {
    let server = TestServer::start();
    let before = server.get("/api/v1/runs");
    let run = server.accepted(|_| {});
    let after = again(&server, "/api/v1/runs", &before, "identity");
    assert_eq!(after.status, 200);
    assert_ne!(after.header("etag"), before.header("etag"));
    let path = format!("/api/v1/runs/{}", run.run_id);
    let shown = server.get(&path);
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
    let gone = again(&server, &path, &shown, "identity");
    gone.assert_refused(404, "unknown_run", "");
    assert_eq!((gone.header("etag"), gone.header("cache-control")), ("", "no-store"));
}

#[test]
fn answers_that_hold_a_secret_are_kept_by_nobody() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let accepted = server.upload(&started.run_id, &record);
    assert_eq!((accepted.header("cache-control"), accepted.header("etag")), ("no-store", ""));
}

/// Number of runs, large enough that a database avoids sorting them.
const RUNS: u32 = 2000;

#[test]
fn every_page_query_uses_an_index() {
    let database = TestDatabase::new();
    let plans = block_on(async {
        let board = Board::open(&database.address()).await.unwrap();
        let template = record::of_suite(&SUITES[0], 1);
        let past = |number: u32| {
            let mut record = template.clone();
            record.requested.seed = number;
            record.device.adapter.name = format!("Example GPU {}", number % 50);
            PastRun {
                record,
                tier: Tier::Proven,
                submitted_unix_seconds: 1.8e9 + f64::from(number),
                submitter: format!("{number:016x}"),
            }
        };
        board.store((0..RUNS).map(past).collect()).await.unwrap();
        board.settle().await.unwrap();
        let plans = board.plans().await.unwrap();
        board.close().await;
        plans
    });
    assert!(plans.len() > 1000, "{}", plans.len());
    for (query, steps) in plans {
        assert!(!steps.is_empty());
        for step in &steps {
            let reads_everything = step.contains("Seq Scan on")
                || ["runs", "results", "figures", "announcements", "started_runs"].iter().any(|table| {
                    step.strip_prefix("SCAN ")
                        .is_some_and(|rest| rest.split(' ').next() == Some(table) && !rest.contains("INDEX"))
                });
            assert!(!reads_everything, "{query}\n{steps:#?}");
        }
        assert!(sorts(&steps) <= sorts_of_few(&query), "{query}\n{steps:#?}");
    }
}

/// Returns the number of sorts in SQLite's plan. PostgreSQL sorts few rows instead of following an index.
fn sorts(steps: &[String]) -> usize {
    steps.iter().filter(|step| step.starts_with("USE TEMP B-TREE FOR")).count()
}

/// Returns the number of sorts that a list may have: one of the scanned results and one of its page.
fn sorts_of_few(query: &str) -> usize {
    let of_list = query.contains("AS looked") || query.contains("LIMIT 1 OFFSET");
    if !of_list {
        return usize::MAX;
    }
    if query.contains("AS page") { 2 } else { 0 }
}

const DAY: f64 = 86_400.0;
const BEGINNING: f64 = 1.8e9;
const WORKLOADS: [&str; 2] = ["caffe-mnist", "keras-mnist-mlp"];
const BACKENDS: [&str; 3] = ["wgsl", "burn-wgpu", "burn-flex"];
const VENDORS: [&str; 2] = ["NVIDIA", "Intel"];
const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

#[derive(Clone, Debug)]
struct Known {
    run_id: String,
    workload: String,
    record: RunRecord,
    tier: Tier,
    submitted: f64,
    ranked_as: Option<RankedClass>,
    rate: f64,
    accuracy: f64,
    to_target: Option<f64>,
}

/// Numbers that determine all filtered properties of a run.
type Seed = (u8, u8, u8, u8, u8, u8, u16, u8);

fn past(number: u32, seed: Seed) -> PastRun {
    let (backend, device, client, system, tier, precision, moment, rate) = seed;
    let mut record = record::unregistered(number);
    let pick = |words: &[&str], by: u8| words[usize::from(by) % words.len()].to_owned();
    record.device.backend = pick(&BACKENDS, backend);
    record.device.adapter.name = format!("Example GPU {}", device % 3);
    record.device.adapter.vendor = pick(&VENDORS, device);
    record.provenance.client.operating_system = pick(&SYSTEMS[..2], system);
    if client % 3 > 0 {
        record.provenance.client.kind = ClientKind::Browser;
        record.provenance.client.name = pick(&BROWSERS[..2], client);
    }
    for (i, workload) in record.workloads.iter_mut().enumerate() {
        workload.settings.precision = if precision % 4 == 0 { Precision::F16 } else { Precision::F32 };
        // Few different metrics, so that many are equal, with some absent.
        let figure = rate.wrapping_add(u8::try_from(i).unwrap()) % 5;
        workload.summary.samples_per_second = (figure > 0).then_some(f64::from(figure) * 100.0);
        workload.summary.accuracy = (rate % 4 > 0).then(|| f64::from(rate % 4) / 4.0);
        workload.summary.seconds_to_target = (rate % 3 > 0).then(|| f64::from(rate % 7));
    }
    PastRun {
        record,
        tier: TIERS[usize::from(tier) % TIERS.len()],
        // A quarter of a day apart, so that some are simultaneous and days end between others.
        submitted_unix_seconds: BEGINNING + f64::from(moment % 40) * DAY / 4.0,
        submitter: format!("{number:016x}"),
    }
}

fn known(run: &PastRun, run_id: &str) -> Vec<Known> {
    let of = |workload: &results::WorkloadRecord| Known {
        run_id: run_id.to_owned(),
        workload: workload.workload.clone(),
        record: run.record.clone(),
        tier: run.tier,
        submitted: run.submitted_unix_seconds,
        ranked_as: RankedClass::named(class_of(&run.record).name())
            .filter(|_| run.tier == Tier::Proven && obstacle(&run.record, workload).is_none()),
        rate: workload.summary.samples_per_second.unwrap_or(0.0),
        accuracy: workload.summary.accuracy.unwrap_or(0.0),
        to_target: workload.summary.seconds_to_target,
    };
    run.record.workloads.iter().map(of).collect()
}

fn fits(known: &Known, query: &ListRuns) -> bool {
    let client = &known.record.provenance.client;
    let is = |wanted: &Option<String>, word: &str| wanted.as_ref().is_none_or(|wanted| wanted == word);
    let precision = query.precision.or((query.ranked && query.workload.is_some()).then_some(Precision::F32));
    let of_record = known.record.workloads.iter().find(|workload| workload.workload == known.workload).unwrap();
    let day = Date::of(known.submitted).iso();
    let device = format!("reported-{}", known.record.device.adapter.name.to_lowercase().replace(' ', "-"));
    known.tier != Tier::Hidden
        && is(&query.workload, &known.workload)
        && is(&query.backend, &known.record.device.backend)
        && precision.is_none_or(|precision| precision == of_record.settings.precision)
        && is(&query.suite, &known.record.suite.name)
        && is(&query.device, &device)
        && is(&query.vendor, &known.record.device.adapter.vendor)
        && is(&query.browser, if client.kind == ClientKind::Browser { &client.name } else { "" })
        && is(&query.system, &client.operating_system)
        && query.client.is_none_or(|kind| kind == client.kind)
        && query.tier.is_none_or(|tier| tier == known.tier)
        && query.since.as_ref().is_none_or(|since| day >= *since)
        && query.until.as_ref().is_none_or(|until| day <= *until)
        && (!query.ranked || known.ranked_as == Some(query.class.unwrap_or_default()))
        && (query.sort != Some(RunSort::TimeToAccuracy) || known.to_target.is_some())
}

/// Returns all rows of a query with a plain filter and a plain sort.
fn expected(all: &[Known], query: &ListRuns) -> Vec<(String, String)> {
    let by_default = if query.workload.is_some() { RunSort::Fastest } else { RunSort::Newest };
    let mut rows: Vec<&Known> = all.iter().filter(|known| fits(known, query)).collect();
    rows.sort_by(|a, b| {
        let first = a.submitted.total_cmp(&b.submitted).then_with(|| a.run_id.cmp(&b.run_id));
        let words = a.run_id.cmp(&b.run_id).then_with(|| a.workload.cmp(&b.workload));
        match query.sort.unwrap_or(by_default) {
            RunSort::Fastest => b.rate.total_cmp(&a.rate).then(first),
            RunSort::Accuracy => b.accuracy.total_cmp(&a.accuracy).then(first),
            RunSort::TimeToAccuracy => a.to_target.unwrap().total_cmp(&b.to_target.unwrap()).then(first),
            RunSort::Newest => b.submitted.total_cmp(&a.submitted).then(words),
            RunSort::Oldest => a.submitted.total_cmp(&b.submitted).then(words.reverse()),
        }
    });
    rows.into_iter().map(|known| (known.run_id.clone(), known.workload.clone())).collect()
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec(any::<Seed>(), 1..25)
}

fn queries() -> impl Strategy<Value = ListRuns> {
    let word = |words: &'static [&'static str]| prop::option::of(prop::sample::select(words).prop_map(str::to_owned));
    let day = || {
        prop::option::weighted(0.3, 0..12_u8)
            .prop_map(|day| day.map(|day| Date::of(BEGINNING + f64::from(day) * DAY).iso()))
    };
    let first = (
        word(&WORKLOADS),
        word(&BACKENDS),
        prop::option::of(prop::sample::select(&[Precision::F32, Precision::F16][..])),
        word(&["quick", "complete"]),
        word(&["reported-example-gpu-0", "reported-example-gpu-1", "reported-unheard-of"]),
        word(&VENDORS),
        word(&BROWSERS[..2]),
        word(&SYSTEMS[..2]),
    );
    let second = (
        prop::option::of(prop::sample::select(&[ClientKind::Browser, ClientKind::Native][..])),
        prop::option::of(prop::sample::select(&TIERS[..4])),
        day(),
        day(),
        prop::bool::weighted(0.2),
        prop::option::of(prop::sample::select(&RunSort::ALL[..])),
        1..6_u32,
        any::<u16>(),
        prop::option::weighted(0.2, 0..20_u32),
    );
    (first, second).prop_map(|(first, second)| {
        let (workload, backend, precision, suite, device, vendor, browser, system) = first;
        let (client, tier, since, until, ranked, sort, limit, keep, offset) = second;
        // Only a few of the filters at a time, because otherwise nothing would match.
        let kept = |number: u16| keep & (1 << number) != 0 && keep.rotate_left(5) & (1 << number) != 0;
        let compares = sort.is_some_and(RunSort::needs_workload);
        ListRuns {
            workload: workload.or(compares.then(|| WORKLOADS[0].to_owned())),
            backend: backend.filter(|_| kept(0)),
            precision: precision.filter(|_| kept(1)),
            suite: suite.filter(|_| kept(2)),
            device: device.filter(|_| kept(3)),
            vendor: vendor.filter(|_| kept(4)),
            browser: browser.filter(|_| kept(5)),
            system: system.filter(|_| kept(6)),
            client: client.filter(|_| kept(7)),
            tier: tier.filter(|_| kept(8)),
            since,
            until,
            ranked,
            class: (ranked && keep & 512 != 0).then_some(RankedClass::Processor),
            sort,
            limit: Some(limit),
            cursor: None,
            offset,
        }
    })
}

async fn pages(board: &Board, query: &ListRuns, few: u64, looked_at: u64) -> Vec<(String, String)> {
    let (mut rows, mut next) = (Vec::new(), Some(query.clone()));
    let mut pages = 0;
    while let Some(query) = next {
        let (page, following) = board.page(&query, few, looked_at).await.unwrap();
        assert!(page.len() <= query.limit.unwrap() as usize);
        rows.extend(page);
        next = following;
        pages += 1;
        assert!(pages < 500, "the pages never end");
    }
    rows
}

#[test]
fn pages_match_a_plain_filter_and_sort() {
    let cases = if crate::on_postgres() { 12 } else { 40 };
    let mut runner = TestRunner::new(Config { failure_persistence: None, cases, ..Config::default() });
    let given = (seeds(), prop::collection::vec((queries(), 0..30_u64, 1..30_u64), 12));
    runner
        .run(&given, |(seeds, queries)| {
            let database = TestDatabase::new();
            block_on(async {
                let board = Board::open(&database.address()).await.unwrap();
                let runs =
                    |seeds: &[Seed]| (0..).zip(seeds).map(|(number, seed)| past(number, *seed)).collect::<Vec<_>>();
                let ids = board.store(runs(&seeds)).await.unwrap();
                let all: Vec<Known> =
                    runs(&seeds).iter().zip(&ids).flat_map(|(run, run_id)| known(run, run_id)).collect();
                for (query, few, looked_at) in &queries {
                    let mut wanted = expected(&all, query);
                    wanted.drain(..wanted.len().min(query.offset.unwrap_or(0) as usize));
                    // Filters with few or many matches, and orders that are scanned at once or in parts.
                    for (few, looked_at) in [(5_000, 25_000), (*few, *looked_at), (0, *looked_at)] {
                        let found = pages(&board, query, few, looked_at).await;
                        assert_eq!(found, wanted, "{query:?}, {few} {looked_at}");
                    }
                }
                board.close().await;
            });
            Ok(())
        })
        .unwrap();
}

#[test]
fn rows_that_come_in_between_pages_move_nothing() {
    let database = TestDatabase::new();
    block_on(async {
        let board = Board::open(&database.address()).await.unwrap();
        let at = |number: u32, moment: u16| past(number, (0, 0, 0, 0, 0, 1, moment, 1));
        let before = board.store((0..10).map(|number| at(number, 20)).collect()).await.unwrap();
        let query = ListRuns { limit: Some(3), ..ListRuns::default() };
        let (mut rows, mut next) = board.page(&query, 5_000, 25_000).await.unwrap();
        for number in (10_u32..).step_by(2) {
            let Some(query) = next else { break };
            // A newer run that belongs before this page, and for a while an older one that belongs on a later page.
            let older = (number < 20).then(|| at(number + 1, 0));
            board.store(older.into_iter().chain([at(number, 39)]).collect()).await.unwrap();
            let (page, following) = board.page(&query, 5_000, 25_000).await.unwrap();
            rows.extend(page);
            next = following;
        }
        assert_eq!(rows.len(), 2 * (10 + 5), "with the older ones");
        let of_before = |(run_id, _): &&(String, String)| before.contains(run_id);
        let mut seen: Vec<&(String, String)> = rows.iter().filter(of_before).collect();
        assert_eq!(seen.len(), 20, "each of those that were there once");
        seen.dedup();
        assert_eq!(seen.len(), 20);
        board.close().await;
    });
}
