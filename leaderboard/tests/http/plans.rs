//! No list, table or page is made by reading everything: each query has an index that serves it.

use engine::SUITES;
use leaderboard::load::{Board, PastRun};
use results::api::Tier;

use crate::support::database::block_on;
use crate::support::{TestDatabase, record};

/// Enough that a data base would think twice before it sorts them.
const RUNS: u32 = 2000;

#[test]
fn every_query_of_the_page_has_an_index_that_serves_it() {
    let database = TestDatabase::new();
    let plans = block_on(async {
        let board = Board::open(&database.address()).await.unwrap();
        let template = record::of_suite(&SUITES[0], 1);
        let past = |number: u32| {
            let mut record = template.clone();
            record.seed = number;
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
                || ["runs", "results", "figures", "announcements"].iter().any(|table| {
                    step.strip_prefix("SCAN ")
                        .is_some_and(|rest| rest.split(' ').next() == Some(table) && !rest.contains("INDEX"))
                });
            assert!(!reads_everything, "{query}\n{steps:#?}");
        }
        assert!(sorts(&steps) <= sorts_of_few(&query), "{query}\n{steps:#?}");
    }
}

/// How often SQLite's plan sorts what it has read. PostgreSQL goes by how many rows there are, and rather sorts the few of a
/// test than it follows an index.
fn sorts(steps: &[String]) -> usize {
    steps.iter().filter(|step| step.starts_with("USE TEMP B-TREE FOR")).count()
}

/// What a list may sort: what it looked at, which is bounded, and its page. The order of a list itself is that of an index.
fn sorts_of_few(query: &str) -> usize {
    let of_list = query.contains("AS looked") || query.contains("LIMIT 1 OFFSET");
    if !of_list {
        return usize::MAX;
    }
    if query.contains("AS page") { 2 } else { 0 }
}
