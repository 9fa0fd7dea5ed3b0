use std::any::Any;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::api::{self, Leaderboard};
use crate::error::ApiError;
use crate::guard::{RequestSlots, guard};
use crate::headers;
use crate::pages::{self, Pages};

/// Good and quick; the files that matter are compressed when they are built.
const COMPRESSION: CompressionLevel = CompressionLevel::Precise(4);

/// The whole server as one service. From outside in: headers, guard, panics, compression, routes.
pub(crate) fn router(leaderboard: Leaderboard, pages: Pages) -> Router {
    let compressed = Router::new()
        .route("/healthz", get(api::health))
        .nest("/api", api::routes())
        // A nested router does not see its own prefix with a slash.
        .route("/api/", any(async || ApiError::unknown_route()))
        .with_state(leaderboard)
        .fallback_service(pages::page(pages.clone()))
        .layer(CompressionLayer::new().quality(COMPRESSION));
    Router::new()
        .nest_service("/data", pages::data(&pages))
        .fallback_service(compressed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(RequestSlots::default(), guard))
        .layer(from_fn_with_state(pages, headers::security))
}

fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response {
    let said = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    tracing::error!(said, "a handler panicked");
    ApiError::failed_inside().into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;
    use axum::http::StatusCode;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_and_tells_nothing() {
        let handler = async || -> &'static str { panic!("the password is 1234") };
        let router: Router = Router::new().route("/", get(handler)).layer(CatchPanicLayer::custom(panicked));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("\"internal\"") && !text.contains("1234"), "{text}");
    }
}
