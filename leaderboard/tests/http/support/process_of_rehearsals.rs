//! An honest run that a real process takes.

use std::ops::Deref;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use leaderboard::Protection;

use super::rehearsal::{HONEST, assert_proven, data_folder, honest, server_behind_a_proxy};
use super::{Client, ServerProcess, TestServer};

/// A server process, whose clock and seeds are its own, and on its data base a server of this process, which announces a
/// run of the rehearsals' seed in the past.
pub(crate) struct ProcessOfRehearsals {
    process: ServerProcess,
    announcer: TestServer,
}

impl Deref for ProcessOfRehearsals {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.process
    }
}

impl ProcessOfRehearsals {
    /// `command` starts the process, but for its addresses, its data sets and the proxy in front of it.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut announcer = server_behind_a_proxy(Protection::default());
        announcer.restart_with_verifiers(0);
        command.args(["--trusted-proxy-header", "x-forwarded-for", "--data"]).arg(data_folder());
        Self { process: ServerProcess::start_as(command, announcer.database()), announcer }
    }

    /// Tells the process everything of an honest run, hands its record in there, and asserts that it ends proven. `client`
    /// is one of the process. What is told all at once gets the times at which such a run tells it.
    #[track_caller]
    pub(crate) fn prove_honest_run(&self, client: &Client) {
        let run = honest();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        // A second longer ago than the run took.
        let began = now - run.record.provenance.wall_seconds - 1.0;
        self.announcer.pass(began - self.announcer.now());
        let started = self.announcer.seen_at(HONEST).begin();
        let mut times = Vec::new();
        for message in &run.told {
            message.deliver(client, &started);
            let at = began + message.at;
            times.push(format!(
                "UPDATE checkpoints SET told_unix_seconds = {at:.3}, \
                 shown_unix_seconds = CASE WHEN shown_unix_seconds IS NOT NULL THEN {at:.3} END \
                 WHERE run_id = '{}' AND workload = '{}' AND number = {}",
                started.run_id, message.workload, message.number
            ));
        }
        self.announcer.database().execute(&times.join("; "));
        let answer = client.upload(&started.run_id, &run.record_of(&started));
        assert_proven(client, &started, &answer);
    }
}
