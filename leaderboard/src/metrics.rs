//! Metrics of the server in the text format of Prometheus, without ids and addresses.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use http_body_util::BodyExt;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use tokio::net::TcpListener;

use crate::counted_event::CountedEvent;
use crate::error::ApiError;
use crate::storage::StorageError;

/// Upper bounds of the histogram buckets, from a list in memory to a request that times out.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0, 60.0];

/// Template of the route with `{id}` for an id, method and class of the status.
type RequestLabels = [(&'static str, String); 3];
type RouteLabels = [(&'static str, String); 2];
type Label = [(&'static str, &'static str); 1];

/// The metrics of one server. Clones share them.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    requests_in_progress: Gauge,
    pub(crate) open_connections: Gauge,
    refused: Family<Label, Counter>,
    announcements: Counter,
    accepted_runs: Family<Label, Counter>,
    verified_runs: Family<Label, Counter>,
    database_errors: Family<Label, Counter>,
    received_bytes: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("gradmark");
        let to = &mut registry;
        let request_seconds = Family::new_with_constructor((|| Histogram::new(SECONDS)) as fn() -> Histogram);
        let help = "Time from the head of a request to the start of its response";
        to.register_with_unit("http_request", help, Unit::Seconds, request_seconds.clone());
        let received_bytes = Counter::default();
        to.register_with_unit("received", "Bytes of request bodies", Unit::Bytes, received_bytes.clone());
        let database_errors: Family<Label, Counter> =
            registered(to, "database_errors", "Number of requests that failed in the database, by reason");
        // Monitoring detects an increase only of an existing counter.
        for reason in StorageError::REASONS {
            drop(database_errors.get_or_create(&[("reason", reason)]));
        }
        let in_progress = "Number of requests being received or processed";
        Self {
            requests: registered(to, "http_requests", "Number of answered requests"),
            request_seconds,
            requests_in_progress: registered(to, "http_requests_in_progress", in_progress),
            open_connections: registered(to, "open_connections", "Number of open connections"),
            refused: registered(to, "refused", "Number of requests and connections refused by a limit"),
            announcements: registered(to, "announcements", "Number of announced runs"),
            accepted_runs: registered(to, "accepted_runs", "Number of accepted runs, by initial tier"),
            verified_runs: registered(to, "verified_runs", "Number of runs with recomputed parts, by resulting tier"),
            database_errors,
            received_bytes,
            registry: Arc::new(registry),
        }
    }
}

fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

impl Metrics {
    pub(crate) fn count(&self, event: CountedEvent) {
        let (family, label) = match event {
            CountedEvent::Announced => {
                self.announcements.inc();
                return;
            }
            CountedEvent::Accepted(tier) => (&self.accepted_runs, ("tier", tier.name())),
            CountedEvent::Verified(tier) => (&self.verified_runs, ("tier", tier.name())),
            CountedEvent::Refused(limit) => (&self.refused, ("limit", limit)),
            CountedEvent::DatabaseFailed(reason) => (&self.database_errors, ("reason", reason)),
        };
        family.get_or_create(&[label]).inc();
    }

    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry).map(|()| text)
    }
}

pub(crate) struct InProgress(Gauge);

impl InProgress {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Content type of OpenMetrics, which Prometheus reads since version 2.5.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn answer(listener: TcpListener, metrics: Metrics) {
    let routes = Router::new().route("/metrics", get(text)).with_state(metrics);
    if let Err(cause) = axum::serve(listener, routes).await {
        tracing::error!(cause = &cause as &dyn std::error::Error, "the metrics server stopped");
    }
}

async fn text(State(metrics): State<Metrics>) -> Response {
    match metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
        Err(cause) => ApiError::internal(&cause).into_response(),
    }
}

/// The name of the matched route. The route sets it before the handler runs, so that it is known even after a panic.
#[derive(Clone, Default)]
pub(crate) struct RouteName(Arc<OnceLock<MatchedPath>>);

fn kind(path: &str) -> &'static str {
    let is_kind = |kind: &&str| path.split('/').nth(1) == kind.strip_prefix('/');
    ["/api", "/data", "/snapshots"].into_iter().find(is_kind).unwrap_or("/page")
}

/// Returns the name of a known method. Clients can invent others, which must not become labels.
fn name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
    known.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

pub(crate) async fn measure(State(metrics): State<Metrics>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let _in_progress = InProgress::new(&metrics.requests_in_progress);
    let route = RouteName::default();
    request.extensions_mut().insert(route.clone());
    let (method, kind) = (name(request.method()), kind(request.uri().path()));
    let received = metrics.received_bytes.clone();
    let request = request.map(|body| {
        Body::new(body.map_frame(move |frame| {
            received.inc_by(frame.data_ref().map_or(0, |data| data.len() as u64));
            frame
        }))
    });
    let response = next.run(request).await;
    // The template of the route, or the kind without a route. Arbitrary paths must not become labels.
    let route = ("route", route.0.get().map_or(kind, MatchedPath::as_str).to_owned());
    let method = ("method", method.to_owned());
    let status = ("status", format!("{}xx", response.status().as_u16() / 100));
    metrics.requests.get_or_create(&[route.clone(), method.clone(), status]).inc();
    metrics.request_seconds.get_or_create(&[route, method]).observe(start.elapsed().as_secs_f64());
    if let Some(event) = CountedEvent::of(&response) {
        metrics.count(event);
    }
    response
}

pub(crate) async fn note_route(
    path: MatchedPath,
    Extension(name): Extension<RouteName>,
    request: Request,
    next: Next,
) -> Response {
    name.0.get_or_init(|| path);
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use results::api::Tier;

    use super::*;

    #[test]
    fn counts_what_no_answer_shows() {
        let metrics = Metrics::default();
        for event in [
            CountedEvent::Verified(Tier::Proven),
            CountedEvent::Verified(Tier::Proven),
            CountedEvent::DatabaseFailed("full"),
        ] {
            metrics.count(event);
        }
        let text = metrics.text().unwrap();
        for line in [
            "gradmark_verified_runs_total{tier=\"proven\"} 2",
            "gradmark_database_errors_total{reason=\"full\"} 1",
            "gradmark_database_errors_total{reason=\"busy\"} 0",
        ] {
            assert!(text.lines().any(|written| written == line), "{line} in {text}");
        }
    }
}
