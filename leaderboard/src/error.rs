use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use results::api::ErrorBody;

use crate::limits::Kind;
use crate::metrics::Event;
use crate::storage::{StorageError, Trouble};
use crate::validation::Refusal;

/// Every refusal of the API. What went wrong inside is logged and never part of it.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    /// When it may be worth trying again.
    retry_after: Option<Duration>,
    /// What is counted.
    event: Option<Event>,
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

    /// Counts the refusal under the name of a limit.
    pub(crate) fn refused_by(mut self, limit: &'static str) -> Self {
        self.event = Some(Event::Refused(limit));
        self
    }

    pub(crate) fn unknown_run() -> Self {
        let message = "No run with this id is here. It may have been deleted, or the link may be incomplete.";
        Self::new(StatusCode::NOT_FOUND, "unknown_run", message)
    }

    pub(crate) fn unknown_route() -> Self {
        let message = "The API has nothing at this path. Its calls are listed at /api.";
        Self::new(StatusCode::NOT_FOUND, "unknown_route", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "This path does not take this method; the Allow header names those that it takes.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
    }

    pub(crate) fn broken_body() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "broken_body", "The body broke off before its end. Send it again.")
    }

    pub(crate) fn busy() -> Self {
        let message = "The leaderboard has too much to do right now. Wait a few seconds and try again.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
            .retry_after(Duration::from_secs(5))
            .refused_by("busy")
    }

    pub(crate) fn too_many_cards() -> Self {
        let message = "Too many pictures of results are being drawn right now. Wait a few seconds and try again.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
            .retry_after(Duration::from_secs(5))
            .refused_by("cards")
    }

    /// For one address that asks too often; the message does not say which.
    pub(crate) fn too_many_requests(kind: Kind, wait: Duration) -> Self {
        let what = match kind {
            Kind::Announcements => "so many runs were announced",
            Kind::Imports => "so many records were imported",
            Kind::Uploads => "so much was sent for announced runs",
            Kind::Reading => "so many requests came",
        };
        let seconds = whole_seconds(wait);
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_requests",
            format!("From your address {what} that the leaderboard asks you to wait. Try again in {seconds} s."),
        )
        .retry_after(wait)
        .refused_by(kind.name())
    }

    pub(crate) fn wrong_nonce() -> Self {
        let message = "This is not the nonce that was given to this run.";
        Self::new(StatusCode::FORBIDDEN, "wrong_nonce", message).at("nonce")
    }

    pub(crate) fn expired() -> Self {
        let message = "The time to upload this run is over. Start a new run, or import this record as unverified.";
        Self::new(StatusCode::GONE, "expired", message)
    }

    pub(crate) fn deleted() -> Self {
        let message = "This very record was here and was deleted, and what is deleted stays away. Make a new run.";
        Self::new(StatusCode::GONE, "deleted", message)
    }

    pub(crate) fn full() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "full",
            "The leaderboard has no room left, so that nothing was stored. Keep the record, and try again when its \
             host has made room.",
        )
    }

    pub(crate) fn read_only() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "read_only",
            "The leaderboard can be read but stores nothing at the moment. Keep the record, and try again later.",
        )
        .retry_after(Duration::from_secs(60))
    }

    /// Logs what happened and tells the client only that something did.
    pub(crate) fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(cause, "a request failed inside the server");
        Self::failed_inside()
    }

    /// For causes that are already logged.
    pub(crate) fn failed_inside() -> Self {
        let message = "The leaderboard failed and has logged why. Nothing was stored; try again later.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
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

/// So long that the wait is over; never none, which would be no wait.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        let cause = &error as &dyn std::error::Error;
        let refusal = match error.trouble() {
            Some(Trouble::Busy | Trouble::Unopened) => {
                tracing::warn!(cause, "the data base is too busy, or cannot be reached");
                Self::busy()
            }
            Some(Trouble::Full) => {
                tracing::error!(cause, "the disk of the data base is full: make room, nothing else is needed");
                Self::full()
            }
            Some(Trouble::ReadOnly) => {
                tracing::error!(cause, "the data base cannot be written: see who may write it, and how it is mounted");
                Self::read_only()
            }
            None => Self::internal(&error),
        };
        Self { event: Some(Event::DatabaseFailed(error.reason())), ..refusal }
    }
}

impl From<getrandom::Error> for ApiError {
    fn from(error: getrandom::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<serde_json::Error> for ApiError {
    /// A record that was read must also be writable, so this is never the client's fault.
    fn from(error: serde_json::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, refusal.code, refusal.message).at(refusal.field)
    }
}
