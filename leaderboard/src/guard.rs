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
use crate::limits::{Peer, ProxyHeader, counted};
use crate::receiving::{Intake, Memory};

/// Requests that may be worked on at once; any more are told to try again later.
const REQUESTS: usize = 256;
/// More than any request takes: up to two minutes for its body, and a minute of work.
const TIME: Duration = Duration::from_secs(180);

/// Slots for requests, and memory for their bodies; cloning shares them.
#[derive(Clone)]
pub(crate) struct RequestSlots {
    slots: Arc<Semaphore>,
    memory: Memory,
    trusted: Option<ProxyHeader>,
}

impl RequestSlots {
    pub(crate) fn new(trusted: Option<ProxyHeader>) -> Self {
        Self { slots: Arc::new(Semaphore::new(REQUESTS)), memory: Memory::default(), trusted }
    }

    /// Works on the request in a slot. Its body goes to the handler that asks for it, and is thrown away where none does.
    async fn answer(&self, mut request: Request, next: Next) -> Result<Response, ApiError> {
        let peer = request.extensions().get::<Peer>();
        let address = peer.and_then(|&Peer(peer)| counted(peer, request.headers(), self.trusted));
        let body = std::mem::replace(request.body_mut(), Body::empty());
        let intake = Arc::new(Intake::new(Arc::clone(&self.slots), self.memory.clone(), address, body));
        intake.take_slot()?;
        request.extensions_mut().insert(Arc::clone(&intake));
        let response = tokio::time::timeout(TIME, next.run(request)).await.map_err(|_elapsed| {
            ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "The request took longer than three minutes, so it was given up. Try again later.",
            )
        })?;
        intake.discard().await;
        Ok(response)
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
    use axum::Extension;
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::receiving::tests::Silent;

    async fn receive(Extension(intake): Extension<Arc<Intake>>) -> Result<&'static str, ApiError> {
        intake.receive(5).await.map(|_bytes| "hello")
    }

    fn router_with_slots(slots: usize) -> Router {
        let slots = RequestSlots { slots: Arc::new(Semaphore::new(slots)), ..RequestSlots::new(None) };
        Router::new().route("/", get(receive)).layer(from_fn_with_state(slots, guard))
    }

    async fn status_with_slots(slots: usize) -> StatusCode {
        router_with_slots(slots).oneshot(Request::new(Body::empty())).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_request_without_a_slot_is_told_to_come_back() {
        assert_eq!(status_with_slots(0).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status_with_slots(1).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_body_that_is_still_coming_takes_no_slot() {
        let router = router_with_slots(1);
        let slow = router.clone().oneshot(Request::new(Body::new(Silent)));
        let quick = router.oneshot(Request::new(Body::empty()));
        tokio::select! {
            biased;
            response = slow => panic!("a body that does not end was answered with {}", response.unwrap().status()),
            response = quick => assert_eq!(response.unwrap().status(), StatusCode::OK),
        }
    }
}
