//! Requests as they are counted: around everything that answers them.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::Extension;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;

use super::{Event, InProgress, Metrics, RequestLabels, RouteLabels};

/// Where the route writes its own name on the way in, which is there even when no answer comes back from it.
#[derive(Clone, Default)]
pub(crate) struct RouteName(Arc<OnceLock<MatchedPath>>);

impl RouteName {
    /// The template of the route, or the kind of what has none: paths that anyone can think of are no labels.
    fn or_kind(&self, kind: &'static str) -> String {
        self.0.get().map_or(kind, MatchedPath::as_str).to_owned()
    }
}

/// What is at a path that has no route of its own.
fn kind(path: &str) -> &'static str {
    match path.split('/').nth(1) {
        Some("api") => "/api",
        Some("data") => "/data",
        Some("snapshots") => "/snapshots",
        _ => "/page",
    }
}

/// A method that is known, because anyone can invent others.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// Counts a request, its bytes and its time.
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
    let route = route.or_kind(kind);
    let labels = RequestLabels { route: route.clone(), method, status: class(response.status()) };
    metrics.requests.get_or_create(&labels).inc();
    metrics.request_seconds.get_or_create(&RouteLabels { route, method }).observe(start.elapsed().as_secs_f64());
    if let Some(event) = Event::of(&response) {
        metrics.count(event);
    }
    response
}

/// Tells [`measure`] which route a request found.
pub(crate) async fn note_route(
    path: MatchedPath,
    Extension(name): Extension<RouteName>,
    request: Request,
    next: Next,
) -> Response {
    name.0.get_or_init(|| path);
    next.run(request).await
}
