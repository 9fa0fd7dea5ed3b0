//! Pages of lists: what is found on whatever way is what a plain filter and a plain sort give, in whatever bounds.

use leaderboard::devices::class_of;
use leaderboard::load::{Board, PastRun};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use results::api::{ListRuns, RankedClass, RunSort, Tier};
use results::{BROWSERS, ClientKind, Date, Precision, RunRecord, SYSTEMS, obstacle};

use crate::support::database::block_on;
use crate::support::{TestDatabase, record};

const DAY: f64 = 86_400.0;
const BEGINNING: f64 = 1.8e9;
const WORKLOADS: [&str; 2] = ["caffe-mnist", "keras-mnist-mlp"];
const BACKENDS: [&str; 3] = ["wgsl", "burn-wgpu", "burn-flex"];
const VENDORS: [&str; 2] = ["NVIDIA", "Intel"];
const TIERS: [Tier; 5] = [Tier::Proven, Tier::Checked, Tier::Unverified, Tier::Flagged, Tier::Hidden];

/// A result as a list knows it.
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

/// What a run is made from: numbers by which everything that is filtered is chosen.
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
        // Few different figures, so that many are equal, and some that are absent.
        let figure = rate.wrapping_add(u8::try_from(i).unwrap()) % 5;
        workload.summary.samples_per_second = (figure > 0).then_some(f64::from(figure) * 100.0);
        workload.summary.accuracy = (rate % 4 > 0).then(|| f64::from(rate % 4) / 4.0);
        workload.summary.seconds_to_target = (rate % 3 > 0).then(|| f64::from(rate % 7));
    }
    PastRun {
        record,
        tier: TIERS[usize::from(tier) % TIERS.len()],
        // A quarter of a day apart, so that some come at the same moment and days end between others.
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

/// All rows of a query, filtered and sorted in the plainest way.
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
        // Of all filters a few at a time, or nothing would ever fit.
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

/// All pages of a query one after the other.
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
fn pages_together_are_what_a_plain_filter_and_a_plain_sort_give() {
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
                    // Filters that leave few or many, and orders that are looked through at once or piece by piece.
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
            // One that is newer and belongs before this page, and for a while one that is older and will come.
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
