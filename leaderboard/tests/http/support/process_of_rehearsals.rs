//! An honest run on a real server process.

use std::ops::Deref;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use leaderboard::Protection;

use super::rehearsal::{HONEST, assert_proven, data_folder, honest, server_behind_a_proxy};
use super::{Client, ServerProcess, TestServer};

/// A server process with the real clock, and a second server in this process that shares its database. The second one
/// announces runs of the rehearsal's seed in the past.
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
    /// Starts the process with `command`, adding the addresses, the data sets and the proxy's header.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut announcer = server_behind_a_proxy(Protection::default());
        announcer.restart_with_verifiers(0);
        command.args(["--trusted-proxy-header", "x-forwarded-for", "--data"]).arg(data_folder());
        Self { process: ServerProcess::start_as(command, announcer.database()), announcer }
    }

    /// Sends the checkpoints and the record of an honest run to the process through `client`, and asserts that the run is
    /// proven. The checkpoints are sent at once and then dated as in a real run.
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
