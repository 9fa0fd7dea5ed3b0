//! The address that monitoring reads from. It is a host's own, so that it needs none of the guards of the public one.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Metrics;
use crate::error::ApiError;

/// What a reader in the middle of an answer gets when the server stops.
const LAST_ANSWER: Duration = Duration::from_secs(1);
/// OpenMetrics, which Prometheus reads since its version 2.5.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A port that is taken.
pub(crate) struct MetricsListener {
    listener: TcpListener,
    address: SocketAddr,
}

/// A listener that answers, until it is told to stop.
pub(crate) struct Answering {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl MetricsListener {
    pub(crate) async fn bind(address: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn answer(self, metrics: Metrics) -> Answering {
        let (stop, stopped) = oneshot::channel();
        let routes = Router::new().route("/metrics", get(text)).with_state(metrics);
        let serving = axum::serve(self.listener, routes).with_graceful_shutdown(async {
            // It ends as well when nobody can say so any more.
            stopped.await.ok();
        });
        let task = tokio::spawn(async {
            if let Err(cause) = serving.await {
                tracing::error!(cause = &cause as &dyn std::error::Error, "metrics are no longer answered");
            }
        });
        Answering { stop, task }
    }
}

impl Answering {
    /// Closes the port. A reader that keeps its connection busy does not hold the server up.
    pub(crate) async fn stop(self) {
        let Self { stop, mut task } = self;
        // Refused only when it has ended already.
        stop.send(()).ok();
        if tokio::time::timeout(LAST_ANSWER, &mut task).await.is_err() {
            task.abort();
        }
    }
}

async fn text(State(metrics): State<Metrics>) -> Response {
    match metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
        Err(cause) => ApiError::internal(&cause).into_response(),
    }
}
