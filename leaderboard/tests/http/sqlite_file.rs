//! Features of a database in a file: backups, restoring them, erasing deleted runs, and use of one from version 0.1.0.

use std::path::Path;

use crate::support::*;
use crate::upkeep::{exported, ids, import, import_into};

#[test]
fn backup_of_a_running_server_can_be_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (database, copy) = (path("leaderboard.sqlite"), path("monday.sqlite"));
    let server = ServerProcess::start(&database);
    let kept = server.imported(1);
    let backup = |to: &Path| run(&["backup", to.to_str().unwrap()], &database);
    let restore = |from: &Path| run(&["restore", from.to_str().unwrap()], &database);
    assert_says(&done(&backup(&copy)), &["(1 runs)"]);
    assert_says(&failed(&backup(&copy)), &["is not overwritten"]);
    let later = server.imported(2);
    assert_eq!(ids(&server).len(), 2);

    assert_says(&failed(&restore(&copy)), &["in use: stop the server"]);
    assert_eq!(ids(&server).len(), 2, "nothing was replaced under a running server");

    server.kill();
    // Only a complete leaderboard database is restored.
    let (text, cut) = (path("text"), path("cut.sqlite"));
    std::fs::write(&text, "certainly no database  ".repeat(1000)).unwrap();
    let whole = std::fs::read(&copy).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for bad in [&path("missing"), &text, &cut] {
        assert_says(&failed(&restore(bad)), &["is not a backup of a leaderboard"]);
    }
    assert_says(&done(&restore(&copy)), &["(1 runs)"]);
    let server = ServerProcess::start(&database);
    assert_eq!(ids(&server), [kept.as_str()]);
    drop(server);

    // The previous file is kept, with the killed server's log.
    assert!(ids(&ServerProcess::start(path("leaderboard.sqlite.replaced"))).contains(&later));
    assert_says(&failed(&restore(&copy)), &["leaderboard.sqlite.replaced exists"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_database_log_and_copies() {
    use std::fs::{File, Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    for was_there in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let [file, log, index, copy] = ["board", "board-wal", "board-shm", "copy"].map(|name| folder.path().join(name));
        if was_there {
            File::create(&file).unwrap();
            set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        }
        let server = ServerProcess::start(&file);
        server.imported(1);
        done(&run(&["backup", copy.to_str().unwrap()], &file));
        for name in [&file, &log, &index, &copy] {
            assert_eq!(metadata(name).unwrap().permissions().mode() & 0o777, 0o600, "{}", name.display());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_honest_run_is_proven_during_a_flood_of_connections() {
    let mut command = command_with_descriptors(128);
    command.args(["--log", "off"]);
    let (announcer, server) = rehearsal::announcer_and_process(command);
    let honest = TestClient::with_idle_connections(server.address, 1).seen_at(HONEST);
    honest.list("");
    // At most as many as the server accepts and the operating system queues.
    let flood: Vec<_> = (0..150).map(|_| server.half_sent("")).collect();
    // By now the server has accepted its maximum.
    std::thread::sleep(Duration::from_millis(300));
    rehearsal::prove_announced_run(&announcer, &honest);
    drop(flood);
    server.imported(1);
}

#[test]
fn deleted_record_is_erased_from_the_database_file() {
    let mut server = TestServer::start();
    let run = server.accepted(|record| record.device.claimed_name = Some("Very Particular Device".to_owned()));
    let holds = |server: &TestServer| {
        std::fs::read(server.database().file().unwrap()).unwrap().windows(22).any(|w| w == b"Very Particular Device")
    };
    server.restart();
    assert!(holds(&server), "before it is deleted, a record is in the file");
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
    server.restart();
    assert!(!holds(&server));
}

/// Tables of a database from version 0.1.0, and their rows.
const SCHEMA: &str = include_str!("../../migrations/0001_schema.sql");
const ROWS: &str = include_str!("upgrade/0.1.0.sql");
const RECORD: &str = include_str!("../../../results/tests/all/stored/0.1.0.json");
const RUN_ID: &str = "616aaf88ee554534";
/// Secret of the run from the server of version 0.1.0.
const SECRET: &str = "5e3f80ad1b792e2e53dc82268b9dd4a3285993a1469ace277690600f82b07e25";

/// Returns the database. The checksum of its migration is from 0.1.0, so an edit of the migration is an error.
fn database_of_0_1_0() -> TestDatabase {
    let database = TestDatabase::new();
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
fn the_tables_of_0_1_0_are_upgraded_once() {
    let database = database_of_0_1_0();
    assert_says(&done(&run(&["migrate"], &database)), &["0002_speedrun"]);
    assert_says(&done(&run(&["migrate"], &database)), &["up to date already"]);
    assert_eq!(database.words("SELECT form FROM runs"), ["desktop"]);
    assert_eq!(database.words("SELECT DISTINCT speedrun_class FROM results"), ["quick 1 desktop native"]);
}
