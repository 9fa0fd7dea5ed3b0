//! Both test programs run every test that is not about one kind of data base.

use std::collections::BTreeSet;

const SQLITE: &str = include_str!("main.rs");
const POSTGRES: &str = include_str!("postgres.rs");
/// What only one of the two has.
const APART: [&str; 4] = ["postgres_server", "programs", "sqlite_file", "upgrade"];

fn modules(program: &str) -> BTreeSet<String> {
    program.lines().filter_map(|line| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())).collect()
}

#[test]
fn every_test_is_run_on_both_data_bases() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let expected: BTreeSet<String> = files
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| !["main", "postgres"].contains(&name.as_str()))
        .collect();
    let (on_sqlite, on_postgres) = (modules(SQLITE), modules(POSTGRES));
    assert_eq!(on_sqlite.union(&on_postgres).cloned().collect::<BTreeSet<_>>(), expected);
    let apart: Vec<String> = on_sqlite.symmetric_difference(&on_postgres).cloned().collect();
    assert_eq!(apart, APART);
}
