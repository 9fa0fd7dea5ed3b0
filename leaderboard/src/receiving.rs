//! Slots and bodies of requests. A request releases its slot while its body arrives, so that slow bodies do not delay
//! other requests.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::client_address::{Peer, ProxyHeader, counted_address};
use crate::error::{ApiError, Result};
use crate::limits::{ClientPlaces, Most, Taken};

/// Number of bytes over a body's limit that are received and dropped, so that the client reads the refusal.
const THROWN_AWAY: usize = 16 << 20;
/// Memory for all bodies being received or processed.
const MEMORY: usize = 256 << 20;
const PIECE: usize = 4 << 10;
/// Maximum number of pieces for the bodies of one address, and of a /24 or /48.
const MAX_PIECES_PER_CLIENT: Most = Most { of_network: MEMORY / PIECE / 4, of_prefix: MEMORY / PIECE / 2 };

/// Initial time for a body. Received bytes at the slowest speed extend it up to the maximum, enough for a very slow
/// mobile uplink.
const START_TIME: Duration = Duration::from_secs(10);
const MIN_BYTES_PER_SECOND: f64 = 4096.0;
const MAX_TIME: Duration = Duration::from_secs(120);

/// Slowest transfer of a state's body, in bytes per second; states have tens of megabytes.
const MIN_STATE_BYTES_PER_SECOND: f64 = 30_000.0;

fn memory() -> ClientPlaces {
    ClientPlaces::new(MEMORY / PIECE, MAX_PIECES_PER_CLIENT)
}

/// A request's body until a handler takes it, and the request's resources until it is answered.
pub(crate) struct Intake {
    slots: Arc<Semaphore>,
    memory: ClientPlaces,
    /// The address whose share of the memory the body takes; `None` for this machine.
    address: Option<IpAddr>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    body: Option<Body>,
    slot: Option<OwnedSemaphorePermit>,
    memory: Vec<Taken>,
}

impl Intake {
    fn new(slots: Arc<Semaphore>, memory: ClientPlaces, address: Option<IpAddr>, body: Body) -> Self {
        Self { slots, memory, address, held: Mutex::new(Held { body: Some(body), ..Held::default() }) }
    }

    fn take_slot(&self) -> Result<()> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_taken| ApiError::busy())?;
        self.lock_held().slot = Some(slot);
        Ok(())
    }

    /// Receives the whole body. A second call returns an empty one.
    pub(crate) async fn receive(&self, limit: usize) -> Result<Bytes> {
        let Some(body) = self.give_up_slot() else { return Ok(Bytes::new()) };
        let (bytes, memory) = receive_in(body, limit, &self.memory, self.address, START_TIME).await?;
        self.lock_held().memory = memory;
        self.take_slot()?;
        Ok(bytes)
    }

    /// Discards a body that no handler has taken.
    async fn discard(&self) {
        if let Some(body) = self.give_up_slot() {
            // Errors of a discarded body do not matter.
            receive_in(body, 0, &self.memory, None, START_TIME).await.ok();
        }
    }

    fn give_up_slot(&self) -> Option<Body> {
        let mut held = self.lock_held();
        let body = held.body.take();
        if body.is_some() {
            held.slot = None;
        }
        body
    }

    fn lock_held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a body, and the memory that it holds until that is dropped.
async fn receive_in(
    mut body: Body,
    limit: usize,
    memory: &ClientPlaces,
    address: Option<IpAddr>,
    start_time: Duration,
) -> Result<(Bytes, Vec<Taken>)> {
    let start = Instant::now();
    let mut bytes = Vec::new();
    let mut held = Vec::new();
    let mut received = 0;
    loop {
        let seconds = |speed| Duration::from_secs_f64(received as f64 / speed);
        let patient = MAX_TIME.min(start_time + seconds(MIN_BYTES_PER_SECOND));
        let deadline = start + patient.max(seconds(MIN_STATE_BYTES_PER_SECOND));
        let frame = timeout_at(deadline, body.frame()).await.map_err(|_elapsed| {
            let message = "The body arrived too slowly. Try again on a faster connection.";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
        })?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_error| ApiError::broken_body())?.into_data() else { continue };
        received += data.len();
        if received <= limit {
            let pieces = received.div_ceil(PIECE) - bytes.len().div_ceil(PIECE);
            if pieces > 0 {
                held.push(memory.take(pieces, address).ok_or_else(ApiError::busy)?);
            }
            bytes.extend_from_slice(&data);
        } else if received > limit + THROWN_AWAY {
            break;
        }
    }
    if received > limit {
        let message = format!("The body exceeds the limit of {} KiB.", limit >> 10);
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
    }
    Ok((bytes.into(), held))
}

/// Maximum number of requests in progress. Others are refused with 503.
const REQUESTS: usize = 256;
/// Timeout of a request: up to two minutes for its body, and a minute of work.
const TIME: Duration = Duration::from_secs(180);

/// Slots for requests, and memory for their bodies. Clones share them.
#[derive(Clone)]
pub(crate) struct RequestSlots {
    slots: Arc<Semaphore>,
    memory: ClientPlaces,
    trusted: Option<ProxyHeader>,
}

impl RequestSlots {
    pub(crate) fn new(trusted: Option<ProxyHeader>) -> Self {
        Self { slots: Arc::new(Semaphore::new(REQUESTS)), memory: memory(), trusted }
    }

    /// Handles the request in a slot. Its body goes to the handler that takes it, or is discarded.
    async fn answer(&self, mut request: Request, next: Next) -> Result<Response> {
        let peer = request.extensions().get::<Peer>();
        let address = peer.and_then(|&Peer(peer)| counted_address(peer, request.headers(), self.trusted));
        let body = std::mem::replace(request.body_mut(), Body::empty());
        let intake = Arc::new(Intake::new(Arc::clone(&self.slots), self.memory.clone(), address, body));
        intake.take_slot()?;
        request.extensions_mut().insert(Arc::clone(&intake));
        let response = tokio::time::timeout(TIME, next.run(request)).await.map_err(|_elapsed| {
            let message = "The request took longer than three minutes. Try again later.";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
        })?;
        intake.discard().await;
        Ok(response)
    }
}

/// Answers busy and slow requests, and logs a line without address, query and header.
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
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body_util::Full;

    use super::*;

    fn body(bytes: usize) -> Body {
        Body::new(Full::new(Bytes::from(vec![0; bytes])))
    }

    fn silent() -> Body {
        Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())
    }

    fn code<T>(received: Result<T>) -> Option<String> {
        received.err().map(|error| error.code().to_owned())
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_given_up() {
        let short = Duration::from_millis(20);
        assert_eq!(code(receive_in(silent(), 5, &memory(), None, short).await).as_deref(), Some("too_slow"));
        assert_eq!(code(receive_in(body(5), 5, &memory(), None, short).await), None);
    }

    #[tokio::test]
    async fn memory_is_shared_and_comes_back() {
        let memory = ClientPlaces::new(2, MAX_PIECES_PER_CLIENT);
        let receive = |bytes| receive_in(body(bytes), MEMORY, &memory, None, START_TIME);
        let first = receive(PIECE + 1).await.unwrap();
        assert_eq!(code(receive(1).await).as_deref(), Some("busy"));
        drop(first);
        assert_eq!(code(receive(1).await), None);
    }

    #[tokio::test]
    async fn a_request_has_a_slot_except_while_its_body_arrives() {
        let slots = Arc::new(Semaphore::new(1));
        let intake = |body| Intake::new(Arc::clone(&slots), memory(), None, body);
        let (slow, first, second) = (intake(silent()), intake(body(5)), intake(body(5)));
        slow.take_slot().unwrap();
        assert_eq!(code(first.take_slot()).as_deref(), Some("busy"));
        tokio::select! {
            biased;
            _ = slow.receive(5) => panic!("the body does not end"),
            taken = async { first.take_slot() } => taken.unwrap(),
        }
        assert_eq!(first.receive(5).await.unwrap().len(), 5);
        assert_eq!(code(second.receive(5).await).as_deref(), Some("busy"), "the first has it again");
    }
}
