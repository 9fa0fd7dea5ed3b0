//! Lists: order, filters, pages, entity tags, query plans, and ranked results.

use leaderboard::devices::class_of;
use leaderboard::load::{Board, PastRun};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use results::api::{ListRuns, RankedClass, RunList, RunRow, RunSort};
use results::{BROWSERS, Date, SYSTEMS, Warning, obstacle};
use serde_json::{Map, Value, json};

use crate::support::*;

fn ids(list: &RunList) -> Vec<&str> {
    list.rows.iter().map(|row| row.run_id.as_str()).collect()
}

#[test]
fn only_proven_standard_hardware_results_are_ranked() {
    let server = TestServer::start();
    let ranked = server.proven(|_| {});
    server.accepted(|_| {});
    server.proven(record::in_software);
    server.proven(|record| record.requested.learning_rate = Some(0.01));
    let [half, matrix] = [Precision::F16, Precision::F16Matrix].map(|precision| {
        server.proven(|record| record.workloads.iter_mut().for_each(|of| of.settings.precision = precision))
    });
    // Unsteady windows, and a network that did not learn.
    server.proven(|record| {
        for workload in &mut record.workloads {
            let windows = record::measured(workload).iter_mut();
            windows.step_by(2).zip([1.2, 1.4, 1.6]).for_each(|(window, seconds)| window.seconds = seconds);
        }
    });
    server.proven(|record| record.workloads.iter_mut().for_each(|of| of.settings.chance_accuracy = Some(0.99)));
    let warned = |warning| server.proven(|record| record.warnings.push(warning));
    warned(Warning::TabHidden { seconds: 2.0, paused_seconds: 0.0 });
    warned(Warning::CoarseTimer { resolution_seconds: 0.1 });
    let generated = warned(Warning::GeneratedData { workload: "caffe-mnist".to_owned() });
    assert_eq!(server.accepted(|record| record::speed_up(record, 100_000)).verdict.tier, Tier::Flagged);
    server.imported(1);

    let all = server.list("");
    assert_eq!(all.total, 26);
    for (precision, run) in [(Precision::F16, &half), (Precision::F16Matrix, &matrix)] {
        let is_right = |row: &RunRow| (row.precision == precision) == (row.run_id == *run);
        assert!(all.rows.iter().all(is_right), "a row says what it was computed in");
    }
    let ranking = server.list("?ranked=true");
    let expected = [&generated, &half, &half, &ranked, &ranked];
    assert_eq!(ids(&ranking), expected, "the newest first, and of generated data what is not");
    assert!(ranking.rows.iter().all(|row| row.ranked));
    assert_eq!(all.rows.iter().filter(|row| row.ranked).count(), 5, "the mark in a row and the filters agree");
    let of_network = |more: &str| server.list(&format!("?ranked=true&workload=caffe-mnist{more}"));
    assert_eq!(ids(&of_network("")), [&ranked], "f32 where nothing else is asked for");
    assert_eq!(ids(&of_network("&precision=f16")), [&half], "each precision has its own ranking");
    assert!(of_network("&precision=f16-matrix").rows.is_empty() && of_network("&class=processor").rows.is_empty());
}

#[test]
fn filters_find_runs_also_after_a_tier_change() {
    let server = TestServer::start();
    let native = server.accepted(|record| record.device.adapter.vendor = "NVIDIA".to_owned()).run_id;
    let browser = server.accepted(|record| {
        record.device.adapter.name = "Example GPU 1".to_owned();
        let client = &mut record.provenance.client;
        (client.kind, client.name, client.version) = (ClientKind::Browser, "Firefox".to_owned(), "142".to_owned());
        client.operating_system = "Windows".to_owned();
    });
    let browser = browser.run_id;
    let finds = |query: &str, run: &str| {
        let found = server.list(&format!("?{query}"));
        assert!(!found.rows.is_empty() && ids(&found).iter().all(|id| *id == run), "{query}");
        assert_eq!((found.total, found.more_than_total, found.next), (found.rows.len() as u64, false, None), "{query}");
    };
    let of_native = "client=native vendor=nvidia system=Linux&suite=quick&backend=wgsl&precision=f32&tier=checked";
    let of_browser = "client=browser browser=Firefox browser=firefox system=Windows device=reported-example-gpu-1";
    let of_browser = of_browser.split(' ').map(|query| (query, &browser));
    for (query, run) in of_native.split(' ').map(|query| (query, &native)).chain(of_browser) {
        for workload in ["", "&workload=caffe-mnist", "&workload=caffe-mnist&sort=accuracy", "&sort=oldest"] {
            finds(&format!("{query}{workload}"), run);
        }
    }
    let absent = ["backend=burn-cuda", "suite=complete", "browser=Chrome", "tier=proven", "vendor=AMD", "ranked=true"];
    for nothing in absent.iter().chain(&["workload=unheard-of"]) {
        assert_eq!(server.list(&format!("?{nothing}")).total, 0, "{nothing}");
    }
    server.set_tier(&native, Tier::Proven);
    for (query, run) in [("tier=proven", &native), ("ranked=true&vendor=NVIDIA", &native), ("tier=checked", &browser)] {
        finds(query, run);
    }
    let all = server.list("");
    let today = Date::of(all.rows[0].submitted_unix_seconds);
    let [before, today, after] = [-1.0, 0.0, 1.0].map(|days| Date::of(today.unix_seconds() + days * DAY).iso());
    let today_only = format!("?since={today}&until={today}");
    let days = [today_only, format!("?since={before}"), format!("?until={before}"), format!("?since={after}")];
    assert_eq!(days.map(|days| server.list(&days).total), [4, 4, 0, 0]);
    for offset in 0..5 {
        let page = server.list(&format!("?limit=1&offset={offset}"));
        assert_eq!((page.total, page.rows.first()), (4, all.rows.get(offset)));
    }
}

#[test]
fn cursor_visits_all_rows_of_its_query_only() {
    let server = TestServer::start();
    let accept = |factor| server.accepted(|record| record::speed_up(record, factor)).run_id;
    let runs: Vec<String> = (1..6).map(accept).collect();
    let mut pages = vec![server.list("?workload=caffe-mnist&limit=2")];
    while let Some(next) = &pages[pages.len() - 1].next {
        pages.push(server.list(&format!("?workload=caffe-mnist&limit=2&cursor={next}")));
    }
    assert!(pages.iter().all(|page| page.total == 5));
    assert!(pages.iter().flat_map(ids).eq(runs.iter().rev()), "{pages:?}");
    let cursor = pages[0].next.as_deref().unwrap();
    for other in
        ["", "workload=keras-mnist-mlp&", "workload=caffe-mnist&backend=wgsl&", "workload=caffe-mnist&sort=newest&"]
    {
        let answer = server.get(&format!("/api/v1/runs?{other}cursor={cursor}"));
        assert_says(&answer.assert_refused(400, "bad_query", "cursor"), &["another query"]);
    }
}

#[test]
fn queries_that_make_no_sense_are_refused() {
    let server = TestServer::start();
    let cases: [(&str, &str, &[&str]); 42] = [
        ("runs", "", &["limit=-1", "limit=ten", "limit=99999999999", "client=toaster", "tier=best", "order=price"]),
        ("runs", "", &["sort=cheapest&workload=caffe-mnist", "ranked=true&class=software", "ranked=perhaps"]),
        ("runs", "", &["workload=a&workload=b"]),
        ("runs", "limit", &["limit=0", "limit=501"]),
        ("runs", "offset", &["offset=10001"]),
        ("runs", "sort", &["sort=fastest", "sort=accuracy&backend=wgsl"]),
        ("runs", "device", &["device=..%2F"]),
        ("runs", "vendor", &["vendor=Example"]),
        ("runs", "browser", &["browser=Netscape"]),
        ("runs", "system", &["system=CP%2FM"]),
        ("runs", "tier", &["tier=hidden"]),
        ("runs", "suite", &["suite=%00"]),
        ("runs", "since", &["since=yesterday"]),
        ("runs", "until", &["until=2026-02-30"]),
        ("runs", "cursor", &["cursor=", "cursor=e30"]),
        ("runs", "offset", &["cursor=e30&offset=1"]),
        ("runs", "class", &["workload=caffe-mnist&class=gpu"]),
        ("runs", "workload", &["workload=", "workload=x%27%20OR%201%3D1--"]),
        ("runs", "backend", &["workload=caffe-mnist&backend=%00", "workload=caffe-mnist&backend=%F0%9F%9A%80"]),
        ("standings", "", &["", "suite=quick&class=software", "suite=quick&client=both"]),
        ("standings", "", &["suite=quick&precision=f8", "suite=quick&order=price"]),
        ("standings", "suite", &["suite=", "suite=unheard-of"]),
        ("standings", "backend", &["suite=quick&backend=%00"]),
        ("standings", "limit", &["suite=quick&limit=0", "suite=quick&limit=501"]),
        ("distribution", "", &["", "suite=quick", "suite=quick&workload=caffe-mnist&bins=3"]),
        ("distribution", "suite", &["suite=unheard-of&workload=caffe-mnist"]),
        ("distribution", "workload", &["suite=quick&workload=airbench94", "suite=quick&workload=%00"]),
        ("distribution", "backend", &["suite=quick&workload=caffe-mnist&backend=%00"]),
        ("speedrun", "", &["suite=quick"]),
        ("speedrun", "workload", &["workload=unheard-of", "workload=%00"]),
        ("moderation", "", &["by=me"]),
        ("moderation", "limit", &["limit=0", "limit=501"]),
        ("moderation", "offset", &["offset=10001"]),
        ("devices/reported-example-gpu-9000/history", "", &["client=toaster"]),
        ("export", "", &["format=xml", "format=", "order=price"]),
        ("export", "limit", &["limit=3"]),
        ("export", "cursor", &["cursor=x"]),
        ("export", "offset", &["workload=caffe-mnist&offset=1"]),
        ("export", "sort", &["sort=fastest"]),
        ("compare", "", &["", "price=1", "runs=0123456789abcdef,0123456789abcdee&devices=a,b"]),
        ("compare", "runs", &["runs=0123456789abcdef", "runs=0123456789abcdef,0123456789abcdef"]),
        ("compare", "devices", &["devices=a,b,c,d,e"]),
    ];
    for (path, field, queries) in cases {
        for query in queries {
            server.get(&format!("/api/v1/{path}?{query}")).assert_refused(400, "bad_query", field);
        }
    }
}

fn again(server: &TestServer, path: &str, first: &HttpAnswer, encodings: &str) -> HttpAnswer {
    server.send("GET", path, &[("if-none-match", first.header("etag")), ("accept-encoding", encodings)], b"")
}

#[test]
fn unchanged_content_is_304_in_every_encoding() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let path = format!("/api/v1/runs/{}", run.run_id);
    for path in ["/api/v1/runs", &path, "/api/v1/schema", "/api/v1/data-sets"] {
        let plain = server.get_with(path, "accept-encoding", "identity");
        let gzip = server.get_with(path, "accept-encoding", "gzip");
        let name = plain.header("etag");
        assert!(name.starts_with("W/\"") && name.len() > 30, "{path}: {name}");
        assert_eq!(gzip.header("etag"), name, "the content is the same: {path}");
        assert_eq!(gzip.unpacked(), plain.body, "{path}");
        for encodings in ["identity", "gzip"] {
            let same = again(&server, path, &plain, encodings);
            assert_eq!((same.status.as_u16(), same.body.len()), (304, 0), "{path}");
            same.assert_headers(&[("etag", name), ("vary", "accept-encoding")]);
            same.assert_headers(&[("content-encoding", ""), ("cache-control", "no-cache")]);
        }
    }
    let before = server.get("/api/v1/runs");
    let shown = server.get(&path);
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
    let after = again(&server, "/api/v1/runs", &before, "identity").with_status(200);
    assert_ne!(after.header("etag"), before.header("etag"));
    let gone = again(&server, &path, &shown, "identity");
    gone.assert_refused(404, "unknown_run", "");
    gone.assert_headers(&[("etag", ""), ("cache-control", "no-store")]);
}

/// Large enough that a database avoids sorting them.
const RUNS: u32 = 2000;

#[test]
fn every_page_query_uses_an_index() {
    let template = record::unregistered(1);
    let past = |number: u32| {
        let mut record = template.clone();
        record.requested.seed = number;
        record.device.adapter.name = format!("Example GPU {}", number % 50);
        past_run(record, Tier::Proven, BEGINNING + f64::from(number))
    };
    let plans = TestDatabase::new().with_board((0..RUNS).map(past).collect(), async |board, _| {
        board.settle().await.unwrap();
        board.plans().await.unwrap()
    });
    assert!(plans.len() > 1000, "{}", plans.len());
    for (query, steps) in plans {
        assert!(!steps.is_empty());
        let tables = ["runs", "results", "figures", "announcements", "started_runs"];
        for step in &steps {
            let scanned = step.strip_prefix("SCAN ").filter(|rest| !rest.contains("INDEX"));
            let is_scanned =
                scanned.is_some_and(|rest| tables.iter().any(|table| rest.split(' ').next() == Some(table)));
            assert!(!step.contains("Seq Scan on") && !is_scanned, "{query}\n{steps:#?}");
        }
        // In SQLite's plan. PostgreSQL sorts few rows instead of following an index.
        let sorts = steps.iter().filter(|step| step.starts_with("USE TEMP B-TREE FOR")).count();
        let is_list = query.contains("AS looked") || query.contains("LIMIT 1 OFFSET");
        // One of the scanned results and one of the page.
        let allowed = if query.contains("AS page") { 2 } else { 0 };
        assert!(!is_list || sorts <= allowed, "{query}\n{steps:#?}");
    }
}

const WORKLOADS: [&str; 2] = ["caffe-mnist", "keras-mnist-mlp"];
const BACKENDS: [&str; 3] = ["wgsl", "burn-wgpu", "burn-flex"];
const VENDORS: [&str; 2] = ["NVIDIA", "Intel"];
const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

/// Numbers that determine all filtered properties of a run.
type ListedRunSeed = (u8, u8, u8, u8, u8, u8, u16, u8);

fn past(number: u32, seed: ListedRunSeed) -> PastRun {
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
    for (i, workload) in (0..).zip(&mut record.workloads) {
        workload.settings.precision = if precision % 4 == 0 { Precision::F16 } else { Precision::F32 };
        // Few different metrics, so that many are equal, with some absent.
        let figure = rate.wrapping_add(i) % 5;
        workload.summary.samples_per_second = (figure > 0).then_some(f64::from(figure) * 100.0);
        workload.summary.accuracy = (rate % 4 > 0).then(|| f64::from(rate % 4) / 4.0);
        workload.summary.seconds_to_target = (rate % 3 > 0).then(|| f64::from(rate % 7));
    }
    // A quarter of a day apart, so that some are simultaneous and days end between others.
    let submitted = BEGINNING + f64::from(moment % 40) * DAY / 4.0;
    past_run(record, TIERS[usize::from(tier) % TIERS.len()], submitted)
}

/// A result: a run, its id, and one of its networks.
type Known<'a> = (&'a PastRun, &'a str, &'a WorkloadRecord);

/// Filters: their name, their values, and the value of a result.
type ListFilter = (&'static str, &'static [&'static str], fn(&Known<'_>) -> String);

const FILTERS: [ListFilter; 10] = [
    ("workload", &WORKLOADS, |(_, _, of)| of.workload.clone()),
    ("backend", &BACKENDS, |(run, ..)| run.record.device.backend.clone()),
    ("precision", &["f32", "f16"], |(_, _, of)| of.settings.precision.name().to_owned()),
    ("suite", &["quick", "complete"], |(run, ..)| run.record.suite.name.clone()),
    ("device", &["reported-example-gpu-0", "reported-example-gpu-1", "reported-unheard-of"], |(run, ..)| {
        format!("reported-{}", run.record.device.adapter.name.to_lowercase().replace(' ', "-"))
    }),
    ("vendor", &VENDORS, |(run, ..)| run.record.device.adapter.vendor.clone()),
    ("browser", &[BROWSERS[0], BROWSERS[1]], |(run, ..)| {
        let client = &run.record.provenance.client;
        if client.kind == ClientKind::Browser { client.name.clone() } else { String::new() }
    }),
    ("system", &[SYSTEMS[0], SYSTEMS[1]], |(run, ..)| run.record.provenance.client.operating_system.clone()),
    ("client", &["browser", "native"], |(run, ..)| run.record.provenance.client.kind.name().to_owned()),
    ("tier", &["proven", "checked", "unverified", "flagged"], |(run, ..)| run.tier.name().to_owned()),
];

fn fits(known: &Known<'_>, query: &ListRuns) -> bool {
    let (run, _, of) = known;
    let wanted = serde_json::to_value(query).unwrap();
    let is_filtered = FILTERS.iter().all(|(name, _, value)| wanted[name].is_null() || wanted[name] == value(known));
    let ranked_as = RankedClass::named(class_of(&run.record).name())
        .filter(|_| run.tier == Tier::Proven && obstacle(&run.record, of).is_none());
    // A ranking of a network has one precision.
    let in_f32 = of.settings.precision == Precision::F32 || query.precision.is_some() || query.workload.is_none();
    let day = Date::of(run.submitted_unix_seconds).iso();
    run.tier != Tier::Hidden
        && is_filtered
        && query.since.as_ref().is_none_or(|since| day >= *since)
        && query.until.as_ref().is_none_or(|until| day <= *until)
        && (!query.ranked || (in_f32 && ranked_as == Some(query.class.unwrap_or_default())))
        && (query.sort != Some(RunSort::TimeToAccuracy) || of.summary.seconds_to_target.is_some())
}

/// Returns all rows of a query with a plain filter and a plain sort.
fn expected(all: &[Known<'_>], query: &ListRuns) -> Vec<(String, String)> {
    let by_default = if query.workload.is_some() { RunSort::Fastest } else { RunSort::Newest };
    let sort = query.sort.unwrap_or(by_default);
    let mut rows: Vec<_> = all.iter().filter(|known| fits(known, query)).collect();
    let figure = |of: &WorkloadRecord| match sort {
        RunSort::Fastest => -of.summary.samples_per_second.unwrap_or(0.0),
        RunSort::Accuracy => -of.summary.accuracy.unwrap_or(0.0),
        RunSort::TimeToAccuracy => of.summary.seconds_to_target.unwrap(),
        RunSort::Newest | RunSort::Oldest => 0.0,
    };
    rows.sort_by(|(run_a, id_a, a), (run_b, id_b, b)| {
        let earlier = run_a.submitted_unix_seconds.total_cmp(&run_b.submitted_unix_seconds);
        let words = id_a.cmp(id_b).then_with(|| a.workload.cmp(&b.workload));
        match sort {
            RunSort::Newest => earlier.reverse().then(words),
            RunSort::Oldest => earlier.then(words.reverse()),
            _ => figure(a).total_cmp(&figure(b)).then(earlier).then(id_a.cmp(id_b)),
        }
    });
    rows.into_iter().map(|(_, id, of)| ((*id).to_owned(), of.workload.clone())).collect()
}

fn queries() -> impl Strategy<Value = ListRuns> {
    // Only a few of the filters at a time, because otherwise nothing would match.
    let filter = prop::sample::select(&FILTERS[..]).prop_flat_map(|(name, values, _)| {
        prop::sample::select(values).prop_map(move |value| (name.to_owned(), json!(value)))
    });
    let day = || {
        let day = |day: u8| json!(Date::of(BEGINNING + f64::from(day) * DAY).iso());
        prop::option::weighted(0.3, (0..12_u8).prop_map(day))
    };
    let sort = prop::option::of(prop::sample::select(&RunSort::ALL[..]));
    let ranked = (prop::bool::weighted(0.2), any::<bool>());
    let page = (1..6_u32, prop::option::weighted(0.2, 0..20_u32));
    let given = (prop::collection::vec(filter, 0..4), day(), day(), sort, ranked, page);
    given.prop_map(|(filters, since, until, sort, (ranked, of_processors), (limit, offset))| {
        let mut query: Map<String, Value> = filters.into_iter().collect();
        query.extend([("since".to_owned(), json!(since)), ("until".to_owned(), json!(until))]);
        if sort.is_some_and(RunSort::needs_workload) {
            query.entry("workload").or_insert_with(|| json!(WORKLOADS[0]));
        }
        let filters: ListRuns = serde_json::from_value(Value::Object(query)).unwrap();
        let class = (ranked && of_processors).then_some(RankedClass::Processor);
        ListRuns { ranked, class, sort, limit: Some(limit), offset, ..filters }
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
    let seeds = prop::collection::vec(any::<ListedRunSeed>(), 1..25);
    let given = (seeds, prop::collection::vec((queries(), 0..30_u64, 1..30_u64), 12));
    let tried = runner.run(&given, |(seeds, queries)| {
        let runs = || (0..).zip(&seeds).map(|(number, seed)| past(number, *seed)).collect::<Vec<_>>();
        TestDatabase::new().with_board(runs(), async |board, ids| {
            let runs = runs();
            let all: Vec<_> = runs.iter().zip(&ids).flat_map(|(run, id)| networks(run, id)).collect();
            for (query, few, looked_at) in &queries {
                let mut wanted = expected(&all, query);
                wanted.drain(..wanted.len().min(query.offset.unwrap_or(0) as usize));
                // Filters with few or many matches, and orders that are scanned at once or in parts.
                for (few, looked_at) in [(5_000, 25_000), (*few, *looked_at), (0, *looked_at)] {
                    assert_eq!(pages(board, query, few, looked_at).await, wanted, "{query:?}, {few} {looked_at}");
                }
            }
        });
        Ok(())
    });
    tried.unwrap();
}

fn networks<'a>(run: &'a PastRun, id: &'a str) -> Vec<Known<'a>> {
    run.record.workloads.iter().map(|of| (run, id, of)).collect()
}

#[test]
fn rows_that_come_in_between_pages_move_nothing() {
    let at = |number: u32, moment: u16| past(number, (0, 0, 0, 0, 0, 1, moment, 1));
    TestDatabase::new().with_board((0..10).map(|number| at(number, 20)).collect(), async |board, before| {
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
    });
}
