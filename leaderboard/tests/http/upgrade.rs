//! Use of a database from version 0.1.0 by this version.

use results::RunRecord;
use results::api::Tier;

use crate::support::*;
use crate::upkeep::{exported, import, import_into};

const SCHEMA: &str = include_str!("../../migrations/0001_schema.sql");
const ROWS: &str = include_str!("upgrade/0.1.0.sql");
const RECORD: &str = include_str!("../../../results/tests/all/stored/0.1.0.json");
const RUN_ID: &str = "616aaf88ee554534";
/// Secret of the run from the server of version 0.1.0.
const SECRET: &str = "5e3f80ad1b792e2e53dc82268b9dd4a3285993a1469ace277690600f82b07e25";

/// Returns the database. The checksum of its migration is from 0.1.0, so an edit of the migration is an error.
fn database_of_0_1_0() -> TestDatabase {
    let database = TestDatabase::empty();
    database.execute(SCHEMA);
    database.execute(&ROWS.replace("@record", &RECORD.trim_end().replace('\'', "''")));
    database
}

#[test]
fn a_run_of_0_1_0_is_listed_shown_exported_recognized_and_deletable() {
    let server = TestServer::on(database_of_0_1_0(), settings());
    let list = server.list("");
    assert_eq!((list.total, list.rows.len()), (2, 2));
    assert!(list.rows.iter().all(|row| row.tier == Tier::Proven && !row.ranked), "it is of a software adapter");
    let total = |query: &str| server.list(&format!("?{query}")).total;
    let queries = ["tier=proven", "suite=quick&backend=wgsl", "workload=caffe-mnist&sort=accuracy", "tier=checked"];
    assert_eq!(queries.map(total), [2, 2, 1, 0]);
    let shown = server.stored(RUN_ID);
    assert_eq!((shown.tier, shown.being_verified), (Tier::Proven, false));
    assert_eq!(shown.record, serde_json::from_str::<RunRecord>(RECORD).unwrap());
    // The server's clock limits the second one.
    let rates: Vec<f64> = shown.listed.iter().map(|listed| listed.samples_per_second.unwrap()).collect();
    assert_eq!(rates, [4359.500009951753, 585.2176628182436]);
    assert_eq!(server.get("/api/v1/export?format=jsonl").text().lines().count(), 1);

    let file = exported(&server);
    assert_says(&import(&file, &["--trust"], server.database()), &["imported 0 runs", "; 1 were there already"]);
    assert_eq!(server.delete(RUN_ID, SECRET).status, 204);
    assert_says(&failed(&import_into(&file, &["--trust"], server.database())), &["imported 0 runs", ": deleted: "]);
}

#[test]
fn the_tables_of_0_1_0_are_up_to_date() {
    assert_says(&done(&run(&["migrate"], database_of_0_1_0())), &["up to date already"]);
}
