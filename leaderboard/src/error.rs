use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use results::api::ErrorBody;

use crate::counted_event::CountedEvent;
use crate::storage::{DatabaseTrouble, StorageError};
use crate::validation::Refusal;

pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

const SHORT_WAIT: Duration = Duration::from_secs(5);

/// A refusal of the API. It never contains internal errors, which are logged.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    retry_after: Option<Duration>,
    event: Option<CountedEvent>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let body = ErrorBody { code: code.to_owned(), message: message.into(), field: None };
        Self { status, body, retry_after: None, event: None }
    }

    #[cfg(test)]
    pub(crate) fn code(&self) -> &str {
        &self.body.code
    }

    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.body.field = Some(field.into());
        self
    }

    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    pub(crate) fn refused_by(mut self, limit: &'static str) -> Self {
        self.event = Some(CountedEvent::Refused(limit));
        self
    }

    /// Refuses a request with 503 that may succeed after a wait.
    pub(crate) fn unavailable(code: &str, message: &str, wait: Duration) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(wait)
    }

    pub(crate) fn wrong_nonce() -> Self {
        Self::wrong_nonce_of_run().at("nonce")
    }

    pub(crate) fn busy() -> Self {
        let message = "The leaderboard is busy. Wait a few seconds and try again.";
        Self::unavailable("busy", message, SHORT_WAIT).refused_by("busy")
    }

    pub(crate) fn too_many_cards() -> Self {
        let message = "The leaderboard is rendering too many images right now. Wait a few seconds and try again.";
        Self::unavailable("busy", message, SHORT_WAIT).refused_by("cards")
    }

    pub(crate) fn read_only() -> Self {
        let message =
            "The leaderboard is read-only at the moment and stored nothing. Keep the record and try again later.";
        Self::unavailable("read_only", message, Duration::from_secs(60))
    }

    /// Logs an internal error. The client only learns that one occurred.
    pub(crate) fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(cause, "a request failed with an internal error");
        Self::failed_inside()
    }
}

/// Defines refusals that always have the same message.
macro_rules! refusals {
    ($($name:ident: $status:ident $code:literal, $message:literal;)+) => {
        impl ApiError {
            $(pub(crate) fn $name() -> Self {
                Self::new(StatusCode::$status, $code, $message)
            })+
        }
    };
}

refusals! {
    unknown_run: NOT_FOUND "unknown_run",
        "No run has this id. It may have been deleted, or the link may be incomplete.";
    unknown_device: NOT_FOUND "unknown_device",
        "No device with this key has a visible run. `/api/v1/standings` lists the keys.";
    unknown_comparison: NOT_FOUND "unknown_comparison",
        "No comparison has this id. It may have been deleted, or the link may be incomplete.";
    unknown_route: NOT_FOUND "unknown_route", "The API has no such path. /api lists its calls.";
    method_not_allowed: METHOD_NOT_ALLOWED "method_not_allowed",
        "This path does not accept this method. The Allow header lists the accepted ones.";
    broken_body: BAD_REQUEST "broken_body", "The body is incomplete. Send it again.";
    wrong_nonce_of_run: FORBIDDEN "wrong_nonce", "This is not the nonce of this run.";
    expired: GONE "expired",
        "The time to upload this run has expired. Start a new run, or import this record as unverified.";
    deleted: GONE "deleted",
        "This record was deleted and cannot be uploaded again. Start a new run.";
    full: INSUFFICIENT_STORAGE "full",
        "The leaderboard has no disk space left and stored nothing. Keep the record, and try again when its host has \
         freed some space.";
    failed_inside: INTERNAL_SERVER_ERROR "internal",
        "The leaderboard failed and logged the cause. Nothing was stored. Try again later.";
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        if let Some(event) = self.event {
            event.travels_with(&mut response);
        }
        response
    }
}

/// Returns the wait in whole seconds, rounded up, and at least 1.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        let cause = &error as &dyn std::error::Error;
        let refusal = match error.trouble() {
            Some(DatabaseTrouble::Busy | DatabaseTrouble::Unopened) => {
                tracing::warn!(cause, "the database is too busy or cannot be reached");
                Self::busy()
            }
            Some(DatabaseTrouble::Full) => {
                tracing::error!(cause, "the database's disk is full: free some space; no restart is needed");
                Self::full()
            }
            Some(DatabaseTrouble::ReadOnly) => {
                tracing::error!(cause, "the database is read-only: check its permissions and how its disk is mounted");
                Self::read_only()
            }
            None => Self::internal(&error),
        };
        Self { event: Some(CountedEvent::DatabaseFailed(error.reason())), ..refusal }
    }
}

impl From<getrandom::Error> for ApiError {
    fn from(error: getrandom::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<serde_json::Error> for ApiError {
    /// A record that was read can also be written, so this is never the client's fault.
    fn from(error: serde_json::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, refusal.code, refusal.message).at(refusal.field)
    }
}
