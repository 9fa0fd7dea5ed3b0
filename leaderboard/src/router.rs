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
use crate::guard::{Places, guard};
use crate::headers;
use crate::pages::{self, Pages};

/// Good and quick for both brotli and gzip; the files that matter are compressed when they are built.
const COMPRESSION: CompressionLevel = CompressionLevel::Precise(4);

/// The whole server as one service. From outside in: headers, guard, panics, compression, routes.
pub(crate) fn router(board: Leaderboard, pages: Pages) -> Router {
    let compressed = Router::new()
        .route("/healthz", get(api::health))
        .nest("/api", api::routes())
        // A nested router does not see its own prefix with a slash.
        .route("/api/", any(async || ApiError::unknown_route()))
        .with_state(board)
        .fallback_service(pages::page(pages.clone()))
        .layer(CompressionLayer::new().quality(COMPRESSION));
    Router::new()
        .nest_service("/data", pages::data(&pages))
        .fallback_service(compressed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Places::default(), guard))
        .layer(from_fn_with_state(pages, headers::security))
}

fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response {
    let said = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    tracing::error!(said, "a handler panicked");
    ApiError::failed_inside().into_response()
}
