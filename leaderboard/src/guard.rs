//! What every request goes through: limits on how many run at once and for how long, and one line in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Requests that may be worked on at once; any more are told to try again later.
const REQUESTS: usize = 256;
/// Long enough for 4 MiB over a slow mobile uplink.
const TIME: Duration = Duration::from_secs(60);

/// RequestSlots for requests; cloning shares them.
#[derive(Clone)]
pub(crate) struct RequestSlots(Arc<Semaphore>);

impl Default for RequestSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(REQUESTS)))
    }
}

/// Refuses with 503 when all slots are taken and with 408 when an answer takes too long.
///
/// The log line has no address, no query and no header, so that it holds nothing about a person.
pub(crate) async fn guard(State(slots): State<RequestSlots>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = match slots.0.try_acquire() {
        Err(_) => ApiError::busy().into_response(),
        Ok(_slot) => match tokio::time::timeout(TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "The request took longer than a minute, so it was given up. Try again on a faster connection.",
            )
            .into_response(),
        },
    };
    let (status, seconds) = (response.status().as_u16(), start.elapsed().as_secs_f64());
    tracing::info!(%method, path, status, seconds, "request");
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn status_with_slots(slots: usize) -> StatusCode {
        let slots = RequestSlots(Arc::new(Semaphore::new(slots)));
        let router = Router::new().route("/", get(async || "hello")).layer(from_fn_with_state(slots, guard));
        router.oneshot(Request::new(Body::empty())).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_request_without_a_slot_is_told_to_come_back() {
        assert_eq!(status_with_slots(0).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status_with_slots(1).await, StatusCode::OK);
    }
}
