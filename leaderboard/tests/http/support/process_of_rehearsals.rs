//! An honest run on a real server process.

use std::ops::Deref;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use leaderboard::Protection;

use super::pretended::data_folder;
use super::rehearsal::{HONEST, assert_proven, light, server_behind_a_proxy};
use super::{ServerProcess, TestClient, TestServer};

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

    /// Sends an honest client's requests during training to the second server, whose clock is behind by their duration,
    /// and the record to the process through `client`. Asserts that the run is proven.
    #[track_caller]
    pub(crate) fn prove_honest_run(&self, client: &TestClient) {
        let run = light();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        // One second more than the duration of the run.
        let began = now - run.record.provenance.wall_seconds - 1.0;
        self.announcer.pass(began - self.announcer.now());
        let honest = self.announcer.seen_at(HONEST);
        let started = honest.begin();
        run.send_all_as(&honest, &self.announcer, &started);
        let answer = client.upload(&started.run_id, &run.record_of(&started));
        assert_proven(client, &started, answer);
    }
}
