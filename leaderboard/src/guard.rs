//! What every request goes through: limits on how many run at once and for how long, and one line in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::receiving::{LIMIT, LIMIT_OF_WEIGHTS, Memory, Received, receive};

/// Requests that may be worked on at once; any more are told to try again later.
const REQUESTS: usize = 256;
/// More than any request takes whose body is here.
const TIME: Duration = Duration::from_secs(60);

/// Slots for requests, and memory for their bodies; cloning shares them.
#[derive(Clone)]
pub(crate) struct RequestSlots {
    slots: Arc<Semaphore>,
    memory: Memory,
}

impl Default for RequestSlots {
    fn default() -> Self {
        Self::new(REQUESTS)
    }
}

impl RequestSlots {
    fn new(slots: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), memory: Memory::default() }
    }

    /// Receives the body, which takes no slot, and then works on the request in one.
    async fn answer(&self, request: Request, next: Next) -> Result<Response, ApiError> {
        let (head, body) = request.into_parts();
        let limit = if head.uri.path().contains("/weights/") { LIMIT_OF_WEIGHTS } else { LIMIT };
        let Received { bytes, memory: _memory } = receive(body, limit, &self.memory).await?;
        let _slot = self.slots.try_acquire().map_err(|_taken| ApiError::busy())?;
        let request = Request::from_parts(head, Body::from(bytes));
        tokio::time::timeout(TIME, next.run(request)).await.map_err(|_elapsed| {
            ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "The request took longer than a minute, so it was given up. Try again later.",
            )
        })
    }
}

/// Refuses with 503 when all slots are taken and with 408 when a body or an answer takes too long.
///
/// The log line has no address, no query and no header, so that it holds nothing about a person.
pub(crate) async fn guard(State(slots): State<RequestSlots>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = slots.answer(request, next).await.unwrap_or_else(IntoResponse::into_response);
    let (status, seconds) = (response.status().as_u16(), start.elapsed().as_secs_f64());
    tracing::info!(%method, path, status, seconds, "request");
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::receiving::tests::Silent;

    async fn status_with_slots(slots: usize) -> StatusCode {
        let slots = RequestSlots::new(slots);
        let router = Router::new().route("/", get(async || "hello")).layer(from_fn_with_state(slots, guard));
        router.oneshot(Request::new(Body::empty())).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_request_without_a_slot_is_told_to_come_back() {
        assert_eq!(status_with_slots(0).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status_with_slots(1).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_body_that_is_still_coming_takes_no_slot() {
        let slots = RequestSlots::new(1);
        let router = Router::new().route("/", get(async || "hello")).layer(from_fn_with_state(slots, guard));
        let slow = router.clone().oneshot(Request::new(Body::new(Silent)));
        let quick = router.oneshot(Request::new(Body::empty()));
        tokio::select! {
            biased;
            response = slow => panic!("a body that does not end was answered with {}", response.unwrap().status()),
            response = quick => assert_eq!(response.unwrap().status(), StatusCode::OK),
        }
    }
}
