//! Features of a database in a file: backups, restoring them, and erasing deleted runs.

use std::path::Path;

#[cfg(target_os = "linux")]
use crate::support::rehearsal::HONEST;
#[cfg(target_os = "linux")]
use crate::support::{ProcessOfRehearsals, server};
use crate::support::{ServerProcess, TestServer};
use crate::upkeep::{done, failed, ids, run, stored};

#[test]
fn backup_of_a_running_server_can_be_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("leaderboard.sqlite"), folder.path().join("monday.sqlite"));
    let server = ServerProcess::start(&database);
    let kept = stored(&server, 1);
    let database_flag = ["--database".as_ref(), database.as_os_str()];
    let backup = |to: &Path| run(&["backup"], &[&[to.as_os_str()], &database_flag[..]].concat());
    assert!(done(&backup(&copy)).contains("(1 runs)"));
    assert!(failed(&backup(&copy)).contains("is not overwritten"));
    let later = stored(&server, 2);
    assert_eq!(ids(&server).len(), 2);

    let restore = |from: &Path| run(&["restore"], &[&[from.as_os_str()], &database_flag[..]].concat());
    let said = failed(&restore(&copy));
    assert!(said.contains("in use: stop the server"), "{said}");
    assert_eq!(ids(&server).len(), 2, "nothing was replaced under a running server");

    server.kill();
    assert!(done(&restore(&copy)).contains("(1 runs)"));
    let server = ServerProcess::start(&database);
    assert_eq!(ids(&server), [kept]);
    drop(server);

    // The previous file is kept, with the killed server's log.
    let server = ServerProcess::start(folder.path().join("leaderboard.sqlite.replaced"));
    assert!(ids(&server).contains(&later));
    let said = failed(&restore(&copy));
    assert!(said.contains("leaderboard.sqlite.replaced exists"), "{said}");
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
        stored(&server, 1);
        done(&run(&["backup"], &[copy.as_ref(), "--database".as_ref(), file.as_ref()]));
        for name in [&file, &log, &index, &copy] {
            assert_eq!(metadata(name).unwrap().permissions().mode() & 0o777, 0o600, "{}", name.display());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_honest_run_is_proven_during_a_flood_of_connections() {
    let mut command = server::command_with_descriptors(128);
    command.args(["--log", "off"]);
    let server = ProcessOfRehearsals::start(command);
    let honest = server.seen_at(HONEST).on_one_connection();
    // At most as many as the server accepts and the operating system queues.
    let flood: Vec<_> = (0..150).map(|_| server.half_sent("")).collect();
    // By now the server has accepted its maximum.
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.prove_honest_run(&honest);
    drop(flood);
    stored(&server, 1);
}

#[test]
fn restores_only_a_complete_leaderboard_database() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("leaderboard.sqlite");
    let server = ServerProcess::start(&database);
    let kept = stored(&server, 1);
    drop(server);
    let (missing, text, cut) =
        (folder.path().join("missing"), folder.path().join("text"), folder.path().join("cut.sqlite"));
    std::fs::write(&text, "certainly no database  ".repeat(1000)).unwrap();
    assert!(done(&run(&["backup"], &[cut.as_ref(), "--database".as_ref(), database.as_ref()])).contains("copied"));
    let whole = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for bad in [&missing, &text, &cut] {
        let said = failed(&run(&["restore"], &[bad.as_ref(), "--database".as_ref(), database.as_ref()]));
        assert!(said.contains("is not a backup of a leaderboard"), "{said}");
    }
    let server = ServerProcess::start(&database);
    assert_eq!(ids(&server), [kept]);
}

#[test]
fn deleted_record_is_erased_from_the_database_file() {
    let mut server = TestServer::start();
    let run = server.accepted(|record| record.device.claimed_name = Some("Very Particular Device".to_owned()));
    let holds = |server: &TestServer| {
        let bytes = std::fs::read(server.database().file().unwrap()).unwrap();
        bytes.windows(22).any(|w| w == b"Very Particular Device")
    };
    server.restart();
    assert!(holds(&server), "before it is deleted, a record is in the file");
    assert_eq!(server.delete(&run.run_id, &run.deletion_secret).status, 204);
    server.restart();
    assert!(!holds(&server));
}
