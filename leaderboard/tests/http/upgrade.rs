//! A data base that an older version wrote goes on under this one. `upgrade/a79f2f2.sql` is what the server of that commit
//! left: four runs that were announced and handed in, one that was imported, and one that was only announced.

use results::api::{RunList, Standings, StoredRun, Tier};

use crate::restoring::{exported, import, import_into};
use crate::support::server::BEGINNING;
use crate::support::{TestDatabase, TestServer};
use crate::upkeep::{done, failed, run};

const OLDER: &str = include_str!("upgrade/a79f2f2.sql");
const FIRST: &str = "f06610ac876ea74d";
/// What the older server gave for the first run.
const ITS_SECRET: &str = "943dfe8696722deb75aeef4fc6d9f5d1d6f06f3f462ddceba7a4cf3a0d6471cd";
const ONLY_ANNOUNCED: &str = "e5239ac4fa7316e4";
const ITS_NONCE: &str = "ab33a0b4176c180937c30c5f9ee76400789bc5c1cd4ce534612890d4359a5bcf";

fn older() -> TestDatabase {
    let database = TestDatabase::new();
    std::fs::File::create(database.file().unwrap()).unwrap();
    database.execute(OLDER);
    database
}

#[test]
fn every_run_of_an_older_version_is_listed_shown_and_exported() {
    let server = TestServer::on(older());
    let list: RunList = server.get("/api/v1/runs").parse();
    assert_eq!((list.total, list.rows.len()), (10, 10));
    assert_eq!(list.rows.iter().filter(|row| row.tier == Tier::Unverified).count(), 2, "the imported one");
    assert!(list.rows.iter().all(|row| !row.ranked), "nobody verified any of them");
    let named = list.rows.iter().find(|row| row.claimed_name.is_some()).unwrap();
    assert_eq!(named.claimed_name.as_deref(), Some("my \\\"measured\\\":true, 显卡"), "as it was typed");
    let fastest: RunList = server.get("/api/v1/runs?workload=caffe-mnist&backend=burn-wgpu").parse();
    assert_eq!(fastest.total, 1);
    let found = |query: &str| server.get(&format!("/api/v1/runs?{query}")).parse::<RunList>();
    let totals = ["tier=unverified", "tier=checked", "suite=quick", "suite=quick&tier=proven"];
    assert_eq!(totals.map(|query| found(query).total), [2, 8, 10, 0], "filters know them as well");
    let accurate = found("workload=caffe-mnist&sort=accuracy").rows;
    assert_eq!(accurate.len(), 5);
    assert!(
        accurate.is_sorted_by(|a, b| a.summary.accuracy >= b.summary.accuracy) && accurate[0].summary.accuracy > None
    );
    for row in list.rows {
        let shown: StoredRun = server.get(&format!("/api/v1/runs/{}", row.run_id)).parse();
        assert_eq!((shown.tier, shown.record.workloads.len()), (row.tier, 2));
        assert!(shown.submitted_unix_seconds >= BEGINNING && !shown.being_verified);
    }
    assert_eq!(server.get("/api/v1/export?format=jsonl").text().lines().count(), 5);
}

#[test]
fn a_host_may_rank_a_run_of_an_older_version_and_its_owner_delete_it() {
    let server = TestServer::on(older());
    server.set_tier(FIRST, Tier::Proven);
    let standings: Standings = server.get("/api/v1/standings?suite=quick").parse();
    assert_eq!(standings.tables.iter().map(|table| table.places.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(server.delete(FIRST, ITS_SECRET).status, 204);
    let standings: Standings = server.get("/api/v1/standings?suite=quick").parse();
    assert!(standings.tables.iter().all(|table| table.places.is_empty()));
}

#[test]
fn an_older_versions_runs_are_known_when_their_export_comes_back_and_a_deleted_one_stays_away() {
    let server = TestServer::on(older());
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    let said = import(&file, &["--trust"], server.database());
    assert!(said.contains("imported 0 runs") && said.contains("; 5 were there already"), "{said}");
    assert_eq!(server.delete(FIRST, ITS_SECRET).status, 204);
    let said = failed(&import_into(&file, &["--trust"], server.database()));
    assert!(said.contains("; 4 were there already; 1 lines") && said.contains(": deleted: "), "{said}");
    assert_eq!(server.get("/api/v1/export?format=jsonl").text().lines().count(), 4);
}

#[test]
fn a_run_that_was_announced_to_an_older_version_is_told_why_it_comes_too_late() {
    let server = TestServer::on(older());
    let record: StoredRun = server.get(&format!("/api/v1/runs/{FIRST}")).parse();
    let mut record = record.record;
    record.run_id = Some(ONLY_ANNOUNCED.to_owned());
    record.nonce = Some(ITS_NONCE.to_owned());
    // Nonces follow from a secret now, which the older server did not have.
    server.upload(ONLY_ANNOUNCED, &record).assert_refused(403, "wrong_nonce", "nonce");
}

#[test]
fn tables_can_be_brought_up_to_date_before_a_server_does() {
    let database = older();
    let said = done(&run(&["migrate"], &["--database".as_ref(), database.as_ref()]));
    assert!(said.contains("0003_windows") && said.contains("0012_fingerprints"), "{said}");
    let said = done(&run(&["migrate"], &["--database".as_ref(), database.as_ref()]));
    assert!(said.contains("up to date already"), "{said}");
}
