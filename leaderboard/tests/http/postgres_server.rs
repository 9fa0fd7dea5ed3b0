//! PostgreSQL's outages, refusals and backups.

use std::process::Stdio;

use crate::support::*;
use crate::upkeep::ids;

#[test]
#[ignore = "needs PostgreSQL"]
fn servers_start_simultaneously_on_an_empty_database() {
    let database = TestDatabase::new();
    let servers: Vec<ServerProcess> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| ServerProcess::start(&database))).collect();
        starting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let kept = servers[0].imported(1);
    for server in &servers {
        assert_eq!(ids(server), [kept.as_str()]);
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn survives_a_postgresql_restart_without_loss() {
    let cluster = Cluster::start();
    let server = TestServer::on(TestDatabase::at(cluster.new_schema()), settings());
    let run = server.accepted(|_| {});
    let (open, record) = server.honest_run();
    let pg_ctl = |words: &[&str]| {
        let mut command = cluster.program("pg_ctl");
        command.args(words).args(["--silent", "--wait", "--pgdata", "data", "--log", "log"]);
        assert!(command.stdout(Stdio::null()).status().unwrap().success(), "{words:?}");
    };
    // Simulates a power failure of the machine.
    pg_ctl(&["stop", "--mode", "immediate"]);
    std::thread::scope(|scope| {
        // Both wait for a while, because most outages are short.
        scope.spawn(|| server.get("/healthz").assert_refused(503, "busy", ""));
        server.upload(&open.run_id, &record).assert_refused(503, "busy", "");
    });
    pg_ctl(&["start"]);
    assert_eq!(server.get("/healthz").status, 200);
    server.stored(&run.run_id);
    assert_eq!(server.upload(&open.run_id, &record).status, 201);
}

/// Ends all connections of a server, and waits for the end of each.
const END_CONNECTIONS: &str = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
                               WHERE usename = current_user AND pid <> pg_backend_pid()";

/// A trigger that raises PostgreSQL's error for a full disk, because filling a disk requires an administrator.
const FULL: &str = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                    RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$; \
                    CREATE TRIGGER full_disk BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION full_disk()";

#[test]
#[ignore = "needs PostgreSQL"]
fn upload_succeeds_after_a_full_disk_has_room_again() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    server.database().execute(FULL);
    server.upload(&started.run_id, &record).assert_refused(507, "full", "");
    assert_eq!(server.list("").total, 0);
    server.database().execute("DROP TRIGGER full_disk ON runs");
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn read_only_database_is_reported_and_readable() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let (started, record) = server.honest_run();
    let set = |value: &str| {
        // Simulates a standby server. Existing connections do not notice the change.
        server.database().execute(&format!(
            "SET transaction_read_only = off; ALTER ROLE CURRENT_USER SET default_transaction_read_only = {value}; \
             {END_CONNECTIONS}"
        ));
    };
    set("on");
    // Ended connections are made anew.
    server.stored(&run.run_id);
    let refused = server.upload(&started.run_id, &record);
    refused.assert_refused(503, "read_only", "");
    assert_eq!(refused.header("retry-after"), "60");
    set("off");
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn absent_numbers_may_be_present_in_the_next_query() {
    let server = TestServer::start();
    // Windows that are too short have no throughput. Each connection prepares the statement on its first run and keeps
    // it. So every open connection gets an absent number before the first present one.
    for factor in [0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0] {
        server.accepted(|record| record::scale_time(record, factor));
    }
    let rows = server.list("").rows;
    assert_eq!(rows.iter().filter(|row| row.summary.samples_per_second.is_none()).count(), 8, "of sixteen results");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn failed_starts_say_why_without_the_password() {
    let database = TestDatabase::new();
    let good = database.argument();
    let cases = [
        (good.replace(PASSWORD_IN_ADDRESS, "another-secret"), "password authentication failed"),
        (named(good, "missing"), "does not exist"),
        (format!("postgres://gradmark:{PASSWORD_IN_ADDRESS}@127.0.0.1:1/board"), "refused"),
        (format!("postgres://gradmark:{PASSWORD_IN_ADDRESS}@127.0.0.1:1"), "must name a user and a database"),
        (format!("postgres://gradmark:{PASSWORD}@127.0.0.1:1/board"), "percent-encoded"),
        (format!("mariadb://gradmark:{PASSWORD_IN_ADDRESS}@127.0.0.1:1/board"), "other schemes"),
    ];
    for (address, told) in cases {
        for words in [["--listen", "127.0.0.1:0"], ["remove", "0123456789abcdef"]] {
            let said = failed(&run(&words, &address));
            assert!(said.contains(told), "{said}");
            assert_silent(&said);
        }
    }

    let mut command = command();
    command.env_remove("GRADMARK_SECRET").args(["--listen", "127.0.0.1:0", "--database", database.argument()]);
    assert_says(&failed(&command.output().unwrap()), &["--secret-file"]);
}

fn assert_silent(said: &str) {
    for secret in [PASSWORD, PASSWORD_IN_ADDRESS, "another-secret"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn logs_never_contain_the_password() {
    let database = TestDatabase::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = command();
    command.args(["--log", "trace"]).stderr(std::fs::File::create(&log).unwrap());
    let server = ServerProcess::start_as(command, &database);
    server.imported(1);
    assert_eq!(ids(&server).len(), 1);
    drop(server);
    let said = std::fs::read_to_string(log).unwrap();
    assert!(said.contains("request"), "{said}");
    assert_silent(&said);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn postgresql_backup_advice_works() {
    let cluster = Cluster::shared();
    let schema = cluster.new_schema();
    let owner = schema.split(['/', ':']).nth(3).unwrap();
    // Created as in docs/HOSTING.md.
    let [database, copy] = ["monday", "tuesday"].map(|name| {
        cluster.administrate(&format!("CREATE DATABASE {name} OWNER {owner} ENCODING 'UTF8' TEMPLATE template0"));
        TestDatabase::at(named(&schema, name))
    });
    let server = ServerProcess::start(&database);
    let kept = server.imported(1);
    for (task, told) in [("backup", "pg_dump --format=custom"), ("restore", "pg_restore --clean --if-exists")] {
        let said = failed(&run(&[task, "/nowhere/monday.sqlite"], &database));
        assert!(said.contains(told), "{said}");
        assert_silent(&said);
    }
    let dump = ["--format=custom", "--file=monday.dump", database.argument()];
    done(&cluster.program("pg_dump").args(dump).output().unwrap());
    server.imported(2);
    // Into existing tables as well as an empty database.
    for _ in 0..2 {
        let words = ["--clean", "--if-exists", "--dbname", copy.argument(), "monday.dump"];
        done(&cluster.program("pg_restore").args(words).output().unwrap());
        assert_eq!(ids(&ServerProcess::start(&copy)), [kept.as_str()]);
    }
}

fn named(address: &str, name: &str) -> String {
    format!("{}/{name}", address.rsplit_once('/').unwrap().0)
}
