use std::any::Any;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::api::{self, Leaderboard};
use crate::error::ApiError;
use crate::guard::{RequestSlots, guard};
use crate::headers;
use crate::limits::{Limits, limit};
use crate::metrics::{self, Metrics};
use crate::pages::{self, Pages, Previews};
use crate::public_url::{PublicAddress, PublicUrl};
use crate::snapshots;

/// Good and quick; the files that matter are compressed when they are built.
const COMPRESSION: CompressionLevel = CompressionLevel::Precise(4);

/// A year of TLS only, for the answers of a server that is reached over TLS.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// What stands between the network and the routes.
pub(crate) struct Surroundings {
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    /// Whether clients see TLS, of which the server itself knows nothing.
    pub(crate) behind_tls: bool,
    pub(crate) public_url: Option<PublicUrl>,
}

/// The whole server as one service. From outside in: headers, metrics, guard, panics, limits, compression, routes.
///
/// A request that is refused before its body is read is answered when the guard has thrown the body away, so that its client
/// reads the answer.
pub(crate) fn router(leaderboard: Leaderboard, pages: Pages, surroundings: Surroundings) -> Router {
    let Surroundings { limits, metrics, behind_tls, public_url } = surroundings;
    let address = PublicAddress { said: public_url, behind_tls };
    let previews = Previews { storage: leaderboard.storage.clone(), address };
    let snapshots = snapshots::serve(leaderboard.snapshots.clone());
    let slots = RequestSlots::new(leaderboard.trusted_proxy_header);
    let compressed = Router::new()
        .route("/healthz", get(api::health))
        .nest("/api", api::routes())
        // A nested router does not see its own prefix with a slash.
        .route("/api/", any(async || ApiError::unknown_route()))
        .route_layer(from_fn(metrics::note_route))
        .with_state(leaderboard)
        .fallback_service(pages::page(pages.clone(), previews))
        .layer(CompressionLayer::new().quality(COMPRESSION).compress_when(uncompressed()));
    let router = Router::new()
        .nest_service("/data", pages::data(&pages))
        .nest_service("/snapshots", snapshots)
        .fallback_service(compressed)
        .layer(from_fn_with_state(limits, limit))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(slots, guard))
        .layer(from_fn_with_state(metrics, metrics::measure))
        .layer(from_fn_with_state(pages, headers::security));
    if behind_tls {
        router.layer(SetResponseHeaderLayer::overriding(header::STRICT_TRANSPORT_SECURITY, TLS_ONLY))
    } else {
        router
    }
}

/// What is not compressed as it is.
fn uncompressed() -> impl Predicate {
    DefaultPredicate::new().and(NotForContentType::const_new(api::PARQUET))
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
