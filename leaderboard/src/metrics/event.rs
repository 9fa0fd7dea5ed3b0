use axum::response::Response;
use results::api::Tier;

/// What an answer cannot be seen to mean from outside. It travels with the answer to where it is counted, so that what
/// answers knows no metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Announced,
    Accepted(Tier),
    /// After parts of it were computed again.
    Verified(Tier),
    /// By the limit of this name.
    Refused(&'static str),
    /// For a reason of this name, which is one of [`StorageError::REASONS`](crate::storage::StorageError::REASONS).
    DatabaseFailed(&'static str),
}

impl Event {
    pub(crate) fn travels_with(self, response: &mut Response) {
        response.extensions_mut().insert(self);
    }

    pub(super) fn of(response: &Response) -> Option<Self> {
        response.extensions().get().copied()
    }
}
