//! What `-v` adds on standard error.

use crate::support::Runner;

const LINE: &str = "--backend reference --batch-size 4 --steps 1 --seed 1 --json -";

#[test]
fn nothing_is_logged_unless_asked_and_every_v_logs_more() {
    let lines = |asked: &str| {
        let finished = Runner::new(&format!("{LINE} {asked}")).tiny().run().expect_status(0);
        let record: serde_json::Value = serde_json::from_str(&finished.stdout).expect("the record alone");
        assert_eq!(record["seed"], 1);
        let logged = finished.stderr.lines().filter(|line| line.contains("native_runner")).map(str::to_owned);
        logged.collect::<Vec<_>>()
    };
    assert_eq!(lines(""), Vec::<String>::new());
    let (some, more) = (lines("-v"), lines("-vv"));
    for part in ["opening reference", "data: files in", "workload=\"tiny\"", "finished"] {
        assert!(some.iter().any(|line| line.contains(part) && line.contains("INFO")), "{part} is missing in {some:?}");
    }
    assert!(
        more.len() > some.len() && more.iter().any(|line| line.contains("DEBUG") && line.contains("window")),
        "{more:?}"
    );
}

#[test]
fn subcommands_log_as_well_and_the_words_of_an_error_stay() {
    let finished =
        Runner::new("trace --workload keras-mnist-mlp --backend reference --seed 1 --batch-size 4 --steps 1 -v");
    finished.run().expect_status(0).expect_errors(&["opening reference"]);
    let finished =
        Runner::new("trace --verbose --workload abacus --backend reference --seed 1 --batch-size 4 --steps 1");
    finished.run().expect_status(2).expect_errors(&["error:", "abacus"]);
}
