//! Two servers on one database, as behind a load balancer. Neither has private state.

use crate::support::requests::{hash, lap, proof, segment};
use crate::support::*;

/// Sends numbered requests from several threads to the two servers in turn, at the same moment.
fn at_once(servers: [&TestServer; 2], send: impl Fn(&TestServer, usize) -> HttpAnswer + Sync) -> Vec<HttpAnswer> {
    const TIMES: usize = 8;
    let ready = std::sync::Barrier::new(TIMES);
    std::thread::scope(|scope| {
        let (ready, send) = (&ready, &send);
        let sent = std::array::from_fn::<_, TIMES, _>(|number| {
            scope.spawn(move || {
                ready.wait();
                send(servers[number % 2], number)
            })
        });
        sent.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn statuses(answers: &[HttpAnswer]) -> Vec<u16> {
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    statuses
}

#[test]
fn simultaneous_uploads_to_two_servers_use_the_nonce_once() {
    let one = TestServer::start();
    let other = one.another();
    let (started, record) = one.honest_run();
    let answers = at_once([&one, &other], |server, _| server.upload(&started.run_id, &record));
    // One request stores the record. The next four count as repetitions after a lost answer, until the limit of
    // secrets.
    assert_eq!(statuses(&answers), [200, 200, 200, 200, 201, 409, 409, 409], "{answers:?}");
    assert_eq!(one.list("").total, 2);
    let secrets = answers.iter().filter(|answer| answer.status.is_success());
    let secrets: Vec<String> = secrets.map(|answer| answer.parse::<AcceptedRun>().deletion_secret).collect();
    assert_eq!(other.delete(&started.run_id, &secrets[4]).status, 204, "each of the secrets is good");

    // Of different records, exactly one wins.
    let (started, record) = one.honest_run();
    let answers = at_once([&one, &other], |server, number| {
        let mut record = record.clone();
        record.provenance.commit = format!("commit-{number}");
        server.upload(&started.run_id, &record)
    });
    let (winners, losers): (Vec<_>, Vec<_>) = (0..).zip(&answers).partition(|(_, answer)| answer.status == 201);
    assert_eq!(winners.len(), 1);
    losers.iter().for_each(|(_, answer)| drop(answer.assert_refused(409, "already_submitted", "")));
    let won = format!("commit-{}", winners[0].0);
    assert_eq!(one.stored(&started.run_id).record.provenance.commit, won);
}

#[test]
fn concurrent_requests_to_two_servers_count_once() {
    let one = TestServer::start();
    let other = one.another();
    let run = one.begin();
    let commit = |number, steps, ends_lap| RunCall::Commit(segment(number, steps, &hash(steps[1]), ends_lap));
    for call in [lap(0, &hash(0)), commit(0, [0, 5], false), commit(1, [5, 9], true), proof(9, None, None)] {
        let answers = at_once([&one, &other], |server, _| call.send(server, &run));
        // A client that was slightly too late tries again.
        let (taken, late): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert!(late.iter().all(|answer| answer.status == 503), "{late:?}");
        assert!(!taken.is_empty() && taken.iter().all(|answer| answer.body == taken[0].body), "{taken:?}");
    }
    assert_eq!(one.database().count("SELECT COUNT(*) FROM segments"), 2);

    let record = record::unregistered(3);
    let answers = at_once([&one, &other], |server, _| server.import(&record));
    assert_eq!(statuses(&answers), [201, 409, 409, 409, 409, 409, 409, 409], "{answers:?}");
    let stored: AcceptedRun = answers.iter().find(|answer| answer.status == 201).unwrap().parse();
    for refused in answers.iter().filter(|answer| answer.status == 409) {
        assert_says(&refused.assert_refused(409, "already_submitted", ""), &[&stored.run_id]);
    }
    let answers = at_once([&one, &other], |server, _| server.delete(&stored.run_id, &stored.deletion_secret));
    assert_eq!(statuses(&answers), [204, 404, 404, 404, 404, 404, 404, 404], "{answers:?}");

    let runs: Vec<_> = (0..8).map(|_| one.honest_run()).collect();
    let answers = at_once([&one, &other], |server, number| {
        server.begin();
        let (started, record) = &runs[number];
        server.upload(&started.run_id, record)
    });
    assert_eq!(statuses(&answers), [201; 8], "{answers:?}");
    assert_eq!(other.list("").total, 16, "the import is deleted");
}
