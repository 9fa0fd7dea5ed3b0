//! Actions of moderators: effects, reversal and the public log.

use std::sync::atomic::{AtomicBool, Ordering};

use results::api::{Deed, DeviceSummary, ModerationEntry, ModerationLog, Standings, StandingsPlace, StoredRun, Tier};

use crate::support::people::{ANN, BOB, accepted_by, board, in_browser, on, proven_by};
use crate::support::{TestServer, record};
use crate::upkeep::{done, failed, run};

/// Address of a single submitter.
const CAT: &str = "203.0.113.5";
const A: &str = "reported-example-gpu-a";
const B: &str = "reported-example-gpu-b";
const C: &str = "reported-example-gpu-c";

fn moderate(server: &TestServer, words: &[&str]) -> std::process::Output {
    run(&[&["moderate"], words].concat(), &["--database".as_ref(), server.database().as_ref()])
}

#[track_caller]
fn moderated(server: &TestServer, words: &[&str]) -> String {
    done(&moderate(server, words))
}

#[track_caller]
fn refused(server: &TestServer, words: &[&str]) -> String {
    failed(&moderate(server, words))
}

fn log(server: &TestServer, query: &str) -> ModerationLog {
    server.read(&format!("/api/v1/moderation{query}"))
}

fn shown(server: &TestServer, run_id: &str) -> StoredRun {
    server.read(&format!("/api/v1/runs/{run_id}"))
}

fn places(server: &TestServer) -> Vec<StandingsPlace> {
    server.get("/api/v1/standings?suite=quick").parse::<Standings>().tables.swap_remove(0).places
}

fn keys(server: &TestServer) -> Vec<String> {
    places(server).into_iter().map(|line| line.device_key).collect()
}

fn device(server: &TestServer, key: &str) -> DeviceSummary {
    server.read(&format!("/api/v1/devices/{key}"))
}

#[test]
fn restored_run_is_ranked_again() {
    let server = board();
    let (proven, checked) = (proven_by(&server, ANN, |_| {}), accepted_by(&server, BOB, |_| {}).run_id);
    let notes = shown(&server, &checked).notes;
    let said = moderated(&server, &["hide", &proven, &checked, "--reason", "A rude name"]);
    assert!(said.contains(&format!("run {proven} was proven and is hidden now")), "{said}");
    assert!(places(&server).is_empty());
    for run_id in [&proven, &checked] {
        server.get(&format!("/api/v1/runs/{run_id}")).assert_refused(404, "unknown_run", "");
    }
    let said = moderated(&server, &["restore", &checked, &proven, "--reason", "It is a place in Wales"]);
    assert!(said.contains(&format!("run {checked} was hidden and is checked now")), "{said}");
    assert_eq!((shown(&server, &checked).tier, shown(&server, &checked).notes), (Tier::Checked, notes));
    assert_eq!(shown(&server, &proven).tier, Tier::Proven);
    assert_eq!(places(&server)[0].best_run_id, proven);
}

#[test]
fn flagged_run_shows_its_reason_until_restored() {
    let server = board();
    let run_id = proven_by(&server, ANN, |record| record::diverge(&mut record.workloads[1]));
    let own = shown(&server, &run_id).notes;
    moderated(&server, &["flag", &run_id, "--reason", "Faster than its memory"]);
    let flagged = shown(&server, &run_id);
    assert_eq!(flagged.tier, Tier::Flagged);
    assert_eq!(flagged.notes[0].to_string(), "A moderator flagged this run: Faster than its memory.");
    assert_eq!(flagged.notes[1..], own);
    assert!(places(&server).is_empty());
    // After being hidden for a while, it has its earlier tier again.
    moderated(&server, &["hide", &run_id, "--reason", "Until I know"]);
    moderated(&server, &["restore", &run_id, "--reason", "An overclocked card"]);
    assert_eq!((shown(&server, &run_id).tier, shown(&server, &run_id).notes), (Tier::Proven, own));
    assert_eq!(places(&server).len(), 1);
}

#[test]
fn moderation_is_atomic_and_only_undoes_moderation() {
    let server = board();
    let (one, other) = (proven_by(&server, ANN, |_| {}), proven_by(&server, BOB, |_| {}));
    let said = refused(&server, &["hide", &one, "0123456789abcdef", "--reason", "Both"]);
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    moderated(&server, &["hide", &one, "--reason", "One"]);
    let said = refused(&server, &["restore", &one, &other, "--reason", "Both"]);
    assert!(said.contains(&format!("no moderator hid or flagged run {other}")), "{said}");
    server.get(&format!("/api/v1/runs/{one}")).assert_refused(404, "unknown_run", "");
    assert_eq!(log(&server, "").entries.iter().filter(|entry| entry.deed != Deed::SetTier).count(), 1);
}

#[test]
fn moderation_log_is_public_and_newest_first() {
    let server = board();
    assert_eq!(log(&server, "").total, 0);
    assert!(moderated(&server, &["log"]).contains("the moderation log is empty"));
    let run_id = accepted_by(&server, ANN, |_| {}).run_id;
    moderated(&server, &["flag", &run_id, "--reason", "显卡 <b>"]);
    done(&run(&["set-tier", &run_id, "proven", "--database"], &[server.database().as_ref()]));
    let words = ["set-tier", &run_id, "checked", "--reason", "Checked by hand", "--database"];
    done(&run(&words, &[server.database().as_ref()]));
    let told: Vec<_> =
        log(&server, "").entries.into_iter().map(|entry| (entry.deed, entry.tier, entry.reason)).collect();
    let reason = |reason: &str| Some(reason.to_owned());
    assert_eq!(
        told,
        [
            (Deed::SetTier, Some(Tier::Checked), reason("Checked by hand")),
            (Deed::SetTier, Some(Tier::Proven), None),
            (Deed::Flag, Some(Tier::Flagged), reason("显卡 <b>")),
        ]
    );
    let page = log(&server, "?limit=1&offset=1");
    assert_eq!((page.entries.len(), page.entries[0].tier, page.total), (1, Some(Tier::Proven), 3));
    assert!(page.entries[0].run_is_visible && page.entries[0].run_id.as_ref() == Some(&run_id));
    let printed = moderated(&server, &["log", "--limit", "2"]);
    assert_eq!(printed.lines().count(), 2);
    assert!(printed.contains(&format!("made run {run_id} proven: no reason given")), "{printed}");
    for (query, field) in [("?limit=0", "limit"), ("?limit=501", "limit"), ("?offset=10001", "offset"), ("?by=me", "")]
    {
        server.get(&format!("/api/v1/moderation{query}")).assert_refused(400, "bad_query", field);
    }
}

#[test]
fn the_log_outlives_a_run_and_holds_nothing_of_it() {
    let server = board();
    let name = "Some Other Card";
    let deleted = accepted_by(&server, ANN, |record| record.device.claimed_name = Some(name.to_owned()));
    let removed = accepted_by(&server, BOB, |record| record.device.claimed_name = Some(name.to_owned())).run_id;
    moderated(&server, &["hide", &deleted.run_id, "--reason", "It is doubtful"]);
    assert_eq!(server.delete(&deleted.run_id, &deleted.deletion_secret).status, 204);
    done(&run(&["remove", &removed, "--database"], &[server.database().as_ref()]));
    let entries = log(&server, "").entries;
    assert_eq!(entries.len(), 2, "deleting one's own run is no moderation: {entries:?}");
    let nothing_else = ModerationEntry {
        done_unix_seconds: entries[0].done_unix_seconds,
        deed: Deed::Remove,
        run_id: Some(removed),
        run_is_visible: false,
        tier: None,
        device_key: None,
        into_device_key: None,
        reason: None,
    };
    assert_eq!(entries[0], nothing_else);
    assert_eq!((entries[1].run_id.as_ref(), entries[1].run_is_visible), (Some(&deleted.run_id), false));
    assert!(!format!("{entries:?}").contains("Card"));
    assert_eq!(server.database().count("SELECT COUNT(*) FROM moderated_runs"), 0);
}

#[test]
fn merged_devices_share_one_place() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 1));
    let fast = proven_by(&server, BOB, on("Example GPU B", 3));
    accepted_by(&server, BOB, on("Example GPU B", 3));
    assert_eq!(keys(&server), [B, A]);
    let said = moderated(&server, &["merge-devices", B, A, "--reason", "The same card"]);
    assert!(said.starts_with(&format!("2 runs of {B} now count as runs of {A}")), "{said}");
    let line = places(&server).swap_remove(0);
    assert_eq!((line.device_key.as_str(), line.device_name.as_str()), (A, "Example GPU A"));
    assert_eq!((line.figure.runs, line.figure.submitters), (2, 2));
    assert_eq!(line.best_run_id, fast, "which goes by the name of the device that it was merged into");
    // Both ways of uploading.
    proven_by(&server, BOB, on("Example GPU B", 3));
    let mut imported = record::unregistered(5);
    imported.device.adapter.name = "Example GPU B".to_owned();
    assert_eq!(server.import(&imported).status, 201);
    assert_eq!((keys(&server), places(&server)[0].figure.runs), (vec![A.to_owned()], 3));
    let [of_a, of_b] = [A, B].map(|key| device(&server, key));
    assert_eq!(of_a, of_b, "both addresses lead to the same device");
    assert_eq!((of_b.device_key.as_str(), of_b.device_name.as_str()), (A, "Example GPU A"));
    assert_eq!(of_b.merged_keys, [B]);
    assert_eq!(of_b.recent.len(), 10);
    let entry = log(&server, "?limit=20").entries.into_iter().find(|entry| entry.deed == Deed::MergeDevices).unwrap();
    assert_eq!((entry.device_key.as_deref(), entry.into_device_key.as_deref()), (Some(B), Some(A)));
    assert_eq!(server.database().count("SELECT COUNT(*) FROM stale_devices"), 0);
}

#[test]
fn separated_devices_are_what_their_own_records_say() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 1));
    proven_by(&server, BOB, on("Example GPU B", 3));
    let before = places(&server);
    moderated(&server, &["merge-devices", B, A, "--reason", "The same card"]);
    // A run that arrives during the merge is also restored.
    let later = accepted_by(&server, CAT, on("Example GPU B", 3)).run_id;
    let said = moderated(&server, &["separate-devices", B, "--reason", "Two cards after all"]);
    assert!(said.contains(&format!("2 runs of {A} count as runs of {B} again")), "{said}");
    assert_eq!(places(&server), before);
    server.set_tier(&later, Tier::Proven);
    assert_eq!((keys(&server), places(&server)[0].figure.runs), (vec![B.to_owned(), A.to_owned()], 2));
    assert!(device(&server, A).merged_keys.is_empty());
    let said = refused(&server, &["separate-devices", B, "--reason", "Again"]);
    assert!(said.contains("is not merged into another device"), "{said}");
}

#[test]
fn chains_are_resolved_and_circles_are_refused() {
    let server = board();
    for name in ["Example GPU A", "Example GPU B", "Example GPU C"] {
        proven_by(&server, ANN, on(name, 1));
    }
    let merge = |from: &str, into: &str| moderate(&server, &["merge-devices", from, into, "--reason", "One card"]);
    assert!(failed(&merge(A, A)).contains("the same device"));
    assert!(failed(&merge(A, "no-such-device")).contains("no run has the device no-such-device"));
    assert!(failed(&merge("no-such-device", A)).contains("no run has the device no-such-device"));
    done(&merge(A, B));
    let said = failed(&merge(B, A));
    assert!(said.contains(&format!("{A} was merged into {B} before")) && said.contains("separate"), "{said}");
    assert!(failed(&merge(A, C)).contains(&format!("separate-devices {A}")));
    let said = failed(&merge(B, C));
    assert!(said.contains(&format!("other devices were merged into {B}: {A}")), "{said}");
    let said = done(&merge(C, A));
    assert!(said.contains(&format!("as runs of {B}")) && said.contains(&format!("{A} was merged into it")), "{said}");
    assert_eq!((keys(&server), places(&server)[0].figure.runs), (vec![B.to_owned()], 3));
    assert_eq!(device(&server, A).merged_keys, [A, C]);
}

#[test]
fn merged_claimed_name_shows_real_name_and_weaker_source() {
    let server = board();
    proven_by(&server, ANN, |_| {});
    proven_by(&server, BOB, |record| {
        in_browser(record);
        record.device.claimed_name = Some("My 9000".to_owned());
    });
    moderated(
        &server,
        &["merge-devices", "claimed-my-9000", "reported-example-gpu-9000", "--reason", "Its owner says so"],
    );
    let names: Vec<String> = places(&server).into_iter().map(|line| line.device_name).collect();
    assert_eq!(names, ["Example GPU 9000", "Example GPU 9000"], "a program and a browser");
    assert_eq!(device(&server, "claimed-my-9000").device_name, "Example GPU 9000");
}

#[test]
fn runs_submitted_during_a_merge_are_merged_too() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 1));
    accepted_by(&server, ANN, on("Example GPU B", 1));
    let records: Vec<_> = (100..400)
        .map(|seed| {
            let mut record = record::unregistered(seed);
            record.device.adapter.name = "Example GPU B".to_owned();
            record
        })
        .collect();
    let merged = AtomicBool::new(false);
    let afterwards = std::thread::scope(|scope| {
        for part in records.chunks(100) {
            let (server, merged) = (&server, &merged);
            scope.spawn(move || {
                for record in part {
                    let answer = server.import(record);
                    assert_eq!(answer.status, 201, "{}", answer.text());
                    if merged.load(Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        let said = moderated(&server, &["merge-devices", B, A, "--reason", "The same card"]);
        merged.store(true, Ordering::SeqCst);
        said
    });
    assert!(!afterwards.starts_with("1 runs"), "some came before: {afterwards}");
    assert_eq!(
        server.database().count("SELECT COUNT(*) FROM runs WHERE device_key = 'reported-example-gpu-b'"),
        0,
        "{afterwards}"
    );
}
