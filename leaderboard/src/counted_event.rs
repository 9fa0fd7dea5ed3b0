use axum::response::Response;
use results::api::Tier;

/// An event that the status of an answer does not show. The answer carries it, so that handlers need no metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountedEvent {
    Announced,
    Accepted(Tier),
    Verified(Tier),
    Refused(&'static str),
    /// Name of the reason, one of [`StorageError::REASONS`](crate::storage::StorageError::REASONS).
    DatabaseFailed(&'static str),
}

impl CountedEvent {
    pub(crate) fn travels_with(self, response: &mut Response) {
        response.extensions_mut().insert(self);
    }

    pub(crate) fn of(response: &Response) -> Option<Self> {
        response.extensions().get().copied()
    }
}
