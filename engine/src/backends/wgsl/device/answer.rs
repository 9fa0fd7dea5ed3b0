//! Waiting for a device, but not for ever: in a page nobody can see what it waits for, and nobody can end it.

use crate::error::EngineError;

/// More than any submission takes, and more than it takes to compile any kernel.
#[cfg(target_arch = "wasm32")]
const LONGEST_WAIT_SECONDS: u32 = 120;

/// What the device answers. `when` says what it was asked.
///
/// # Errors
/// A device that did not answer in two minutes. In a terminal a wait has no limit: whoever waits can end the program.
pub(in crate::backends::wgsl) async fn answer<T>(
    when: &'static str,
    answer: impl Future<Output = T>,
) -> Result<T, EngineError> {
    #[cfg(not(target_arch = "wasm32"))]
    {
        let _ = when;
        Ok(answer.await)
    }
    #[cfg(target_arch = "wasm32")]
    {
        use futures_util::future::{Either, select};
        use gloo_timers::future::TimeoutFuture;

        let limit = TimeoutFuture::new(LONGEST_WAIT_SECONDS * 1000);
        // The answer is looked at first, so that a machine that slept meanwhile does not lose it.
        match select(std::pin::pin!(answer), limit).await {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right(_) => Err(EngineError::NoAnswer { when, seconds: LONGEST_WAIT_SECONDS }),
        }
    }
}
