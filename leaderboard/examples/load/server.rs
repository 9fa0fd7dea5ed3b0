//! The server on the filled data base, without limits and with a clock that can be moved.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use leaderboard::{Clock, Config, Protection};
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::http::Request;

use crate::support::database::TestDatabase;

/// The moment at which the server starts.
pub(crate) const NOW: f64 = 1.8e9;

pub(crate) struct Server {
    address: SocketAddr,
    now: Arc<Mutex<f64>>,
    /// Stops it when dropped.
    _stop: oneshot::Sender<()>,
}

/// One who asks; connections are kept.
pub(crate) struct Client {
    agent: Agent,
    address: SocketAddr,
}

impl Server {
    pub(crate) fn start(database: &TestDatabase) -> Self {
        let now = Arc::new(Mutex::new(NOW));
        let clock = Arc::clone(&now);
        let unlimited = Protection {
            announcements_per_hour: 0,
            imports_per_hour: 0,
            uploads_per_second: 0,
            reading_per_second: 0,
            open_runs: 0,
            import_bytes_per_day: 0,
            ..Protection::default()
        };
        let config = Config {
            listen: "127.0.0.1:0".to_owned(),
            database: database.address(),
            page: None,
            data: None,
            snapshots: None,
            secret_file: None,
            secret: Some("0123456789abcdef0123456789abcdef".to_owned()),
            verifiers: 0,
            run_lifetime_seconds: 6.0 * 3600.0,
            seed: None,
            connections_per_address: None,
            protection: unlimited,
            clock: Clock::from_fn(move || *clock.lock().expect("nobody panics with it")),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
            runtime.block_on(async {
                let server = leaderboard::Server::bind(config).await.expect("the server starts");
                tell.send(server.address()).expect("somebody waits");
                server.run(async { drop(stopped.await) }).await;
            });
        });
        Self { address: told.recv().expect("the server says where it is"), now, _stop: stop }
    }

    pub(crate) fn pass(&self, seconds: f64) {
        *self.now.lock().expect("nobody panics with it") += seconds;
    }

    pub(crate) fn client(&self) -> Client {
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Client { agent, address: self.address }
    }
}

impl Client {
    /// Asks, as a browser does, and reads the whole answer.
    ///
    /// # Panics
    /// At any other status than the one expected: what is measured is what works.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&[u8]>, expected: u16) -> Vec<u8> {
        let encoding = if body.is_none() { "gzip" } else { "identity" };
        self.ask(method, path, &[("accept-encoding", encoding)], body, expected)
    }

    /// Deletes a run by its secret.
    pub(crate) fn delete(&self, path: &str, secret: &str) {
        self.ask("DELETE", path, &[("authorization", &format!("Bearer {secret}"))], None, 204);
    }

    pub(crate) fn get(&self, path: &str) {
        self.send("GET", path, None, 200);
    }

    /// The answer, as it is before it is packed.
    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        self.ask("GET", path, &[("accept-encoding", "identity")], None, 200)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>, expected: u16) -> Vec<u8> {
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let request = request.header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let answer = match body {
            None => self.agent.run(request.body(()).expect("a request")),
            Some(body) => self.agent.run(request.body(body).expect("a request")),
        };
        let mut answer = answer.expect("the server answers");
        let mut read = Vec::new();
        answer.body_mut().as_reader().read_to_end(&mut read).expect("the whole answer");
        assert_eq!(answer.status().as_u16(), expected, "{method} {path}: {}", String::from_utf8_lossy(&read));
        read
    }
}
