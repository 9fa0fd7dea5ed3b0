use results::RunRecord;

use crate::support::{Runner, one_line};

#[test]
fn a_number_of_threads_is_used_and_recorded() {
    let line = "--backend burn-flex --threads 1 --workload keras-mnist-mlp --steps 2 --batch-size 16 --seed 1 --json -";
    let finished = Runner::new(line).run().expect_status(0);
    let record: RunRecord = serde_json::from_str(&finished.stdout).unwrap();
    let name = record.device.adapter.name.strip_suffix(" (Burn, 1 thread)").expect("the name says the threads");
    // Not every processor has a name, and only Linux tells it in a file.
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let brand = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    match brand.map(|(_, brand)| one_line(brand)).filter(|brand| !brand.is_empty()) {
        Some(brand) => assert_eq!(name, brand),
        None => assert!(!name.is_empty()),
    }
    let settings = &record.workloads[0].settings.variants;
    assert!(settings.contains(&"threads: 1".to_owned()), "{settings:?}");
}

#[test]
fn threads_are_refused_where_nothing_would_compute_with_them() {
    let cases = [
        ("--backend reference --threads 2", ["number of threads", "burn-flex"]),
        ("--backend burn-flex --threads 0", ["--threads", "1..=1024"]),
        ("steps --backend reference --threads 2", ["number of threads", "burn-flex"]),
        (
            "trace --backend reference --threads 2 --workload keras-mnist-mlp --seed 1 --batch-size 1 --steps 1",
            ["number of threads", "burn-flex"],
        ),
    ];
    for (line, parts) in cases {
        Runner::new(line).run().expect_status(2).expect_errors(&parts);
    }
}
