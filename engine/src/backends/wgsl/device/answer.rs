//! Waiting for the driver.

#[cfg(target_arch = "wasm32")]
use crate::error::EngineError;
use crate::error::Result;

/// Timeout of a wait in browsers: longer than any submission or kernel compilation.
#[cfg(target_arch = "wasm32")]
const MAX_WAIT_SECONDS: u32 = 120;

/// Waits for the device's answer to the request that `when` names.
///
/// The wait has a timeout only in browsers, where users could neither notice nor end it.
///
/// # Errors
/// In browsers, no answer within two minutes.
pub(super) async fn answer<T>(when: &'static str, answer: impl Future<Output = T>) -> Result<T> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        let _ = when;
        Ok(answer.await)
    }
    #[cfg(target_arch = "wasm32")]
    {
        use futures_util::future::{Either, select};
        use gloo_timers::future::TimeoutFuture;

        let limit = TimeoutFuture::new(MAX_WAIT_SECONDS * 1000);
        // The answer is polled first, so that it counts even if the machine slept past the timeout.
        match select(std::pin::pin!(answer), limit).await {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right(_) => Err(EngineError::NoAnswer { when, seconds: MAX_WAIT_SECONDS }),
        }
    }
}
