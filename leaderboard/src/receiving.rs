//! Bodies of requests, which are received before a request gets a slot: slow ones hold up nobody but themselves.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::error::ApiError;

/// Largest body that is kept.
pub(crate) const LIMIT: usize = 4 << 20;
/// Of weights: those of the largest network are 13 MB.
pub(crate) const LIMIT_OF_WEIGHTS: usize = 16 << 20;
/// So many times as much is received and thrown away, so that a client gets to hear the refusal; a
/// connection closed in the middle of its upload would only tell it "connection reset".
const THROWN_AWAY: usize = 4;
/// All bodies that are being received or worked on have so much memory together.
const MEMORY: usize = 128 << 20;
/// Memory is given out in pieces of so many bytes.
const PIECE: usize = 4 << 10;

/// How long a body may take.
#[derive(Clone, Copy)]
struct Patience {
    /// So long …
    start: Duration,
    /// … and as much longer as what has come takes at this speed …
    slowest_bytes_per_second: f64,
    /// … up to this.
    longest: Duration,
}

/// Enough for a very slow mobile uplink.
const PATIENCE: Patience =
    Patience { start: Duration::from_secs(10), slowest_bytes_per_second: 4096.0, longest: Duration::from_secs(120) };

/// The memory for bodies; cloning shares it.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Semaphore>);

impl Default for Memory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MEMORY / PIECE)))
    }
}

/// A body, and the memory that it holds until it is dropped.
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) memory: Option<OwnedSemaphorePermit>,
}

/// Receives the whole of a body.
///
/// # Errors
/// A body that is too large, too slow or broken, and one for which there is no memory just now.
pub(crate) async fn receive(body: Body, limit: usize, memory: &Memory) -> Result<Received, ApiError> {
    receive_in(body, limit, memory, PATIENCE).await
}

async fn receive_in(mut body: Body, limit: usize, memory: &Memory, patience: Patience) -> Result<Received, ApiError> {
    let start = Instant::now();
    let mut bytes = Vec::new();
    let mut held: Option<OwnedSemaphorePermit> = None;
    let mut received = 0;
    loop {
        let seconds = received as f64 / patience.slowest_bytes_per_second;
        let deadline = start + patience.longest.min(patience.start + Duration::from_secs_f64(seconds));
        let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_elapsed| too_slow())? else { break };
        let Ok(data) = frame.map_err(|_error| ApiError::broken_body())?.into_data() else { continue };
        received += data.len();
        if received <= limit {
            let pieces = received.div_ceil(PIECE) - bytes.len().div_ceil(PIECE);
            let more = Arc::clone(&memory.0).try_acquire_many_owned(u32::try_from(pieces).unwrap_or(u32::MAX));
            let more = more.map_err(|_taken| ApiError::busy())?;
            match &mut held {
                Some(held) => held.merge(more),
                None => held = Some(more),
            }
            bytes.extend_from_slice(&data);
        } else if received > THROWN_AWAY * limit {
            break;
        }
    }
    if received > limit {
        return Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("The body is larger than {} MiB. A record of a single run is far smaller.", limit >> 20),
        ));
    }
    Ok(Received { bytes: bytes.into(), memory: held })
}

fn too_slow() -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_TIMEOUT,
        "too_slow",
        "The body came too slowly, so it was given up. Try again on a faster connection.",
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::HttpBody;
    use http_body_util::Full;
    use hyper::body::Frame;

    use super::*;

    fn body(bytes: usize) -> Body {
        Body::new(Full::new(Bytes::from(vec![0; bytes])))
    }

    /// A body of which no more comes.
    pub(crate) struct Silent;

    impl HttpBody for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    fn code(received: Result<Received, ApiError>) -> Option<String> {
        received.err().map(|error| error.code().to_owned())
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_given_up() {
        let patience = Patience { start: Duration::from_millis(20), ..PATIENCE };
        let memory = Memory::default();
        assert_eq!(code(receive_in(Body::new(Silent), LIMIT, &memory, patience).await).as_deref(), Some("too_slow"));
        assert_eq!(code(receive_in(body(5), LIMIT, &memory, patience).await), None);
    }

    #[tokio::test]
    async fn memory_is_shared_and_comes_back() {
        let memory = Memory(Arc::new(Semaphore::new(2)));
        let first = receive(body(PIECE + 1), LIMIT, &memory).await;
        assert!(first.is_ok());
        assert_eq!(code(receive(body(1), LIMIT, &memory).await).as_deref(), Some("busy"));
        drop(first);
        assert_eq!(code(receive(body(1), LIMIT, &memory).await), None);
    }
}
