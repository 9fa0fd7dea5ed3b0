//! The server without a network, for tests that send it very many requests. No part of the interface.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use http_body_util::BodyExt;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::api::{ExportPlaces, Leaderboard};
use crate::card::Cards;
use crate::data_sets::DataFolder;
use crate::limits::{Budgets, Limits, Peer};
use crate::metrics::Metrics;
use crate::pages::Pages;
use crate::proof::Key;
use crate::router::{Surroundings, router};
use crate::snapshots::Snapshots;
use crate::storage::Storage;
use crate::verification::Verifiers;
use crate::{Clock, DatabaseAddress, Protection};

/// The whole router on a database of its own, without limits that would stop whoever asks thousands of times.
pub struct InProcess {
    router: Router,
}

/// What was answered: the status, and the body as text.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub text: String,
}

impl InProcess {
    /// # Errors
    /// A file that cannot be made, as a sentence.
    pub async fn open(database: &DatabaseAddress, clock: Clock) -> Result<Self, String> {
        let storage = Storage::open(database).await.map_err(|error| error.to_string())?;
        let pages = Pages::open(None, None).await.map_err(|error| error.to_string())?;
        let budgets = Budgets { open_runs: None, import_bytes_per_day: None, weights_bytes: None };
        let data = DataFolder::new(None);
        let key = Key::load(Some(&"fuzzed".repeat(8)), None).map_err(|error| error.to_string())?;
        // Nothing is computed again: no thread is started that would.
        let (verifiers, seed) = (Verifiers::default(), None);
        let exports = ExportPlaces::default();
        let snapshots = Snapshots::open(None, clock.clone()).map_err(|error| error.to_string())?;
        let leaderboard = Leaderboard {
            storage,
            clock,
            key,
            verifiers,
            data,
            run_lifetime_seconds: 1e9,
            seed,
            budgets,
            exports,
            cards: Cards::default(),
            snapshots,
            trusted_proxy_header: None,
        };
        let limits = Limits::new(&Protection::default());
        let surroundings = Surroundings { limits, metrics: Metrics::default(), behind_tls: false, public_url: None };
        Ok(Self { router: router(leaderboard, pages, surroundings) })
    }

    /// Sends JSON, or what is said to be, as somebody on this machine would.
    ///
    /// # Errors
    /// A request that HTTP itself forbids, or an answer that breaks off.
    pub async fn send(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Answered, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .map_err(|error| error.to_string())?;
        request.extensions_mut().insert(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let Ok(response) = self.router.clone().oneshot(request).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
        Ok(Answered { status, text: String::from_utf8_lossy(&body.to_bytes()).into_owned() })
    }
}

/// Imports bytes as a record, for a fuzzer that knows nothing else; the server is made for the first ones.
///
/// # Panics
/// Whatever fails inside the server, which is what the fuzzer looks for.
pub fn import(bytes: &[u8]) {
    static SERVER: OnceLock<(Runtime, InProcess)> = OnceLock::new();
    let (runtime, server) = SERVER.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let file = std::env::temp_dir().join(format!("gradmark-fuzzing-{}.sqlite", std::process::id()));
        let server =
            runtime.block_on(InProcess::open(&DatabaseAddress::File(file), Clock::system())).expect("a data base");
        (runtime, server)
    });
    let answered = runtime.block_on(server.send("POST", "/api/v1/runs/import", bytes.to_vec())).expect("an answer");
    assert!(answered.status < 500, "{answered:?}");
}
