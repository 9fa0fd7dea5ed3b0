//! Actions of moderators: effects, reversal and the public log.

use std::sync::atomic::{AtomicBool, Ordering};

use results::api::{Deed, ModerationLog};
use serde_json::json;

use crate::standings::{device, places};
use crate::support::*;

const CAT: Who = Some("203.0.113.5");
const A: &str = "reported-example-gpu-a";
const B: &str = "reported-example-gpu-b";
const C: &str = "reported-example-gpu-c";

fn moderate(server: &TestServer, words: &[&str], reason: &str) -> Output {
    run(&[&["moderate"], words, &["--reason", reason]].concat(), server.database())
}

#[track_caller]
fn moderated(server: &TestServer, words: &[&str], reason: &str) -> String {
    done(&moderate(server, words, reason))
}

#[track_caller]
fn refused(server: &TestServer, words: &[&str], reason: &str) -> String {
    failed(&moderate(server, words, reason))
}

fn log(server: &TestServer, query: &str) -> ModerationLog {
    server.read(&format!("/api/v1/moderation{query}"))
}

fn keys(server: &TestServer) -> Vec<String> {
    places(server, "").into_iter().map(|line| line.device_key).collect()
}

#[test]
fn restored_run_is_ranked_again_and_failed_deeds_do_nothing() {
    let server = board();
    let proven = server.proven_by(ANN, |record| record::diverge(&mut record.workloads[1]));
    let checked = server.accepted_by(BOB, |_| {}).run_id;
    let notes = [&proven, &checked].map(|run_id| server.stored(run_id).notes);
    let said = moderated(&server, &["hide", &proven, &checked], "A rude name");
    assert_says(&said, &[&format!("run {proven} was proven and is hidden now")]);
    assert!(places(&server, "").is_empty());
    [&proven, &checked].into_iter().for_each(|run_id| server.assert_unknown(run_id));
    let said = moderated(&server, &["restore", &checked, &proven], "It is a place in Wales");
    assert_says(&said, &[&format!("run {checked} was hidden and is checked now")]);
    let assert_restored = || {
        for (run_id, tier, notes) in [(&proven, Tier::Proven, &notes[0]), (&checked, Tier::Checked, &notes[1])] {
            let shown = server.stored(run_id);
            assert_eq!((shown.tier, &shown.notes), (tier, notes));
        }
        assert_eq!(places(&server, "")[0].best_run_id, proven);
    };
    assert_restored();

    moderated(&server, &["flag", &proven], "Faster than its memory");
    let flagged = server.stored(&proven);
    assert_eq!(flagged.tier, Tier::Flagged);
    assert_eq!(flagged.notes[0].to_string(), "A moderator flagged this run: Faster than its memory.");
    assert_eq!(flagged.notes[1..], notes[0]);
    assert!(places(&server, "").is_empty());
    // After being hidden for a while, it has its earlier tier again.
    moderated(&server, &["hide", &proven], "Until I know");
    moderated(&server, &["restore", &proven], "An overclocked card");
    assert_restored();

    let (one, other) = (server.proven_by(ANN, on("Example GPU A", 1)), server.proven_by(BOB, on("Example GPU B", 1)));
    assert_says(&refused(&server, &["hide", &one, "0123456789abcdef"], "Both"), &["no run 0123456789abcdef"]);
    moderated(&server, &["hide", &one], "One");
    let said = refused(&server, &["restore", &one, &other], "Both");
    assert_says(&said, &[&format!("no moderator hid or flagged run {other}")]);
    server.assert_unknown(&one);
    let deeds = log(&server, "").entries.into_iter().take_while(|entry| entry.deed != Deed::SetTier);
    assert_eq!(deeds.count(), 1, "of those since both were proven");
}

#[test]
fn moderation_log_is_public_and_outlives_runs() {
    let server = board();
    assert_eq!(log(&server, "").total, 0);
    let printed = |words: &[&str]| done(&run(&[&["moderate", "log"], words].concat(), server.database()));
    assert_says(&printed(&[]), &["the moderation log is empty"]);
    let name = "Some Other Card";
    let owned = |who| server.accepted_by(who, |record| record.device.claimed_name = Some(name.to_owned()));
    let (deleted, removed) = (owned(ANN), owned(BOB).run_id);
    let run_id = deleted.run_id.as_str();
    moderated(&server, &["flag", run_id], "显卡 <b>");
    done(&run(&["set-tier", run_id, "proven"], server.database()));
    done(&run(&["set-tier", run_id, "checked", "--reason", "Checked by hand"], server.database()));
    let told: Vec<_> =
        log(&server, "").entries.into_iter().map(|entry| (entry.deed, entry.tier, entry.reason)).collect();
    let reason = |reason: &str| Some(reason.to_owned());
    let expected = [
        (Deed::SetTier, Some(Tier::Checked), reason("Checked by hand")),
        (Deed::SetTier, Some(Tier::Proven), None),
        (Deed::Flag, Some(Tier::Flagged), reason("显卡 <b>")),
    ];
    assert_eq!(told, expected);
    let page = log(&server, "?limit=1&offset=1");
    assert_eq!((page.entries.len(), page.entries[0].tier, page.total), (1, Some(Tier::Proven), 3));
    assert!(page.entries[0].run_is_visible && page.entries[0].run_id.as_deref() == Some(run_id));
    let printed = printed(&["--limit", "2"]);
    assert_eq!(printed.lines().count(), 2);
    assert!(printed.contains(&format!("made run {run_id} proven: no reason given")), "{printed}");

    moderated(&server, &["hide", run_id], "It is doubtful");
    assert_eq!(server.delete(run_id, &deleted.deletion_secret).status, 204);
    done(&run(&["remove", &removed], server.database()));
    let entries = log(&server, "").entries;
    assert_eq!(entries.len(), 5, "deleting one's own run is no moderation: {entries:?}");
    let done = entries[0].done_unix_seconds;
    let nothing_else =
        json!({ "done_unix_seconds": done, "deed": "remove", "run_id": removed, "run_is_visible": false });
    assert_eq!(json!(entries[0]), nothing_else);
    assert_eq!((entries[1].run_id.as_deref(), entries[1].run_is_visible), (Some(run_id), false));
    assert!(!format!("{entries:?}").contains("Card"));
    assert_eq!(server.database().count("SELECT COUNT(*) FROM moderated_runs"), 0);
}

/// Returns a record of device B that no leaderboard knows.
fn unregistered_b(seed: u32) -> RunRecord {
    let mut record = record::unregistered(seed);
    record.device.adapter.name = "Example GPU B".to_owned();
    record
}

#[test]
fn merged_devices_share_one_place_until_separated() {
    let server = board();
    server.proven_by(ANN, on("Example GPU A", 1));
    let fast = server.proven_by(BOB, on("Example GPU B", 3));
    server.accepted_by(BOB, on("Example GPU B", 3));
    assert_eq!(keys(&server), [B, A]);
    let ranked = || places(&server, "").into_iter().map(|place| (place.place, place.device_key, place.figure));
    let before: Vec<_> = ranked().collect();
    let said = moderated(&server, &["merge-devices", B, A], "The same card");
    assert!(said.starts_with(&format!("2 runs of {B} now count as runs of {A}")), "{said}");
    let line = places(&server, "").swap_remove(0);
    assert_eq!((line.device_key.as_str(), line.device_name.as_str()), (A, "Example GPU A"));
    assert_eq!((line.figure.runs, line.figure.submitters), (2, 2));
    assert_eq!(line.best_run_id, fast, "which goes by the name of the device that it was merged into");
    // Both ways of uploading.
    let also = server.proven_by(CAT, on("Example GPU B", 3));
    server.import(&unregistered_b(5)).with_status(201);
    assert_eq!((keys(&server), places(&server, "")[0].figure.runs), (vec![A.to_owned()], 3));
    let [of_a, of_b] = [A, B].map(|key| device(&server, key));
    assert_eq!(of_a, of_b, "both addresses lead to the same device");
    assert_eq!((of_b.device_key.as_str(), of_b.device_name.as_str()), (A, "Example GPU A"));
    assert_eq!(of_b.merged_keys, [B]);
    assert_eq!(of_b.recent.len(), 10);
    let entry = log(&server, "?limit=20").entries.into_iter().find(|entry| entry.deed == Deed::MergeDevices).unwrap();
    assert_eq!((entry.device_key.as_deref(), entry.into_device_key.as_deref()), (Some(B), Some(A)));
    assert_eq!(server.database().count("SELECT COUNT(*) FROM stale_devices"), 0);

    // Runs that arrive during the merge are also restored.
    let later = server.accepted_by(CAT, on("Example GPU B", 3)).run_id;
    server.set_tier(&also, Tier::Checked);
    let said = moderated(&server, &["separate-devices", B], "Two cards after all");
    assert_says(&said, &[&format!("5 runs of {A} count as runs of {B} again")]);
    assert_eq!(ranked().collect::<Vec<_>>(), before);
    server.set_tier(&later, Tier::Proven);
    assert_eq!((keys(&server), places(&server, "")[0].figure.runs), (vec![B.to_owned(), A.to_owned()], 2));
    assert!(device(&server, A).merged_keys.is_empty());
    assert_says(&refused(&server, &["separate-devices", B], "Again"), &["is not merged into another device"]);
}

#[test]
fn chains_are_resolved_and_circles_are_refused() {
    let server = board();
    for name in ["Example GPU A", "Example GPU B", "Example GPU C"] {
        server.proven_by(ANN, on(name, 1));
    }
    let merge = |from: &str, into: &str| moderate(&server, &["merge-devices", from, into], "One card");
    assert_says(&failed(&merge(A, A)), &["the same device"]);
    assert_says(&failed(&merge(A, "no-such-device")), &["no run has the device no-such-device"]);
    assert_says(&failed(&merge("no-such-device", A)), &["no run has the device no-such-device"]);
    done(&merge(A, B));
    assert_says(&failed(&merge(B, A)), &[&format!("{A} was merged into {B} before"), "separate"]);
    assert_says(&failed(&merge(A, C)), &[&format!("separate-devices {A}")]);
    assert_says(&failed(&merge(B, C)), &[&format!("other devices were merged into {B}: {A}")]);
    assert_says(&done(&merge(C, A)), &[&format!("as runs of {B}"), &format!("{A} was merged into it")]);
    assert_eq!((keys(&server), places(&server, "")[0].figure.runs), (vec![B.to_owned()], 3));
    assert_eq!(device(&server, A).merged_keys, [A, C]);
}

#[test]
fn merged_claimed_name_shows_real_name_and_weaker_source() {
    let server = board();
    server.proven_by(ANN, |_| {});
    server.proven_by(BOB, |record| {
        in_browser(record);
        record.device.claimed_name = Some("My 9000".to_owned());
    });
    moderated(&server, &["merge-devices", "claimed-my-9000", "reported-example-gpu-9000"], "Its owner says so");
    let names: Vec<String> = places(&server, "").into_iter().map(|line| line.device_name).collect();
    assert_eq!(names, ["Example GPU 9000", "Example GPU 9000"], "a program and a browser");
    assert_eq!(device(&server, "claimed-my-9000").device_name, "Example GPU 9000");
}

#[test]
fn runs_submitted_during_a_merge_are_merged_too() {
    let server = board();
    server.proven_by(ANN, on("Example GPU A", 1));
    server.accepted_by(ANN, on("Example GPU B", 1));
    let records: Vec<_> = (100..400).map(unregistered_b).collect();
    let merged = AtomicBool::new(false);
    let afterwards = std::thread::scope(|scope| {
        for part in records.chunks(100) {
            let (server, merged) = (&server, &merged);
            scope.spawn(move || {
                for record in part {
                    server.import(record).with_status(201);
                    if merged.load(Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        let said = moderated(&server, &["merge-devices", B, A], "The same card");
        merged.store(true, Ordering::SeqCst);
        said
    });
    assert!(!afterwards.starts_with("1 runs"), "some came before: {afterwards}");
    let left = server.database().count("SELECT COUNT(*) FROM runs WHERE device_key = 'reported-example-gpu-b'");
    assert_eq!(left, 0, "{afterwards}");
}
