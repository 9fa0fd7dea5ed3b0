use std::any::Any;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::Protection;
use crate::api::Leaderboard;
use crate::error::ApiError;
use crate::limits::{RateLimits, limit};
use crate::metrics::Metrics;
use crate::pages::{Pages, Previews};
use crate::public_url::PublicAddress;
use crate::receiving::{RequestSlots, guard};
use crate::{api, embed, etag, metrics, pages, snapshots};

/// A fast compression level. Large files are compressed when they are built.
const COMPRESSION: CompressionLevel = CompressionLevel::Precise(4);

/// HSTS of one year, for servers behind TLS.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Returns the server as one service. From outside in: headers, metrics, guard, panics, limits, compression, routes. A
/// request that is refused before its body is read is answered after the guard has dropped the body.
pub(crate) fn router(leaderboard: Leaderboard, pages: Pages, limits: RateLimits, metrics: Metrics) -> Router {
    let Protection { trusted_proxy_header, behind_tls, public_url, .. } = leaderboard.protection.clone();
    let address = PublicAddress { said: public_url, behind_tls };
    let previews = Previews { storage: leaderboard.storage.clone(), address };
    let page = Router::new().fallback(pages::serve_page).with_state((pages.clone(), previews));
    let data = Router::new().fallback(pages::serve_data).with_state(pages.clone());
    let snapshots = Router::new().fallback(snapshots::serve).with_state(leaderboard.snapshots.clone());
    let slots = RequestSlots::new(trusted_proxy_header);
    let compressible = DefaultPredicate::new().and(NotForContentType::const_new(api::PARQUET));
    let compressed = Router::new()
        .route("/healthz", get(api::health))
        .route("/embed/runs/{id}", get(embed::show).layer(from_fn(etag::tag)))
        .nest("/api", api::routes())
        // A nested router does not see its own prefix with a slash.
        .route("/api/", any(async || ApiError::unknown_route()))
        .route_layer(from_fn(metrics::note_route))
        .with_state(leaderboard)
        .fallback_service(page)
        .layer(CompressionLayer::new().quality(COMPRESSION).compress_when(compressible));
    let router = Router::new()
        .nest_service("/data", data)
        .nest_service("/snapshots", snapshots)
        .fallback_service(compressed)
        .layer(from_fn_with_state(limits, limit))
        .layer(CatchPanicLayer::custom(panic_response))
        .layer(from_fn_with_state(slots, guard))
        .layer(from_fn_with_state(metrics, metrics::measure))
        .layer(from_fn_with_state(pages, security));
    if behind_tls {
        router.layer(SetResponseHeaderLayer::overriding(header::STRICT_TRANSPORT_SECURITY, TLS_ONLY))
    } else {
        router
    }
}

fn panic_response(cause: Box<dyn Any + Send + 'static>) -> Response {
    let said = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    tracing::error!(said, "a handler panicked");
    ApiError::failed_inside().into_response()
}

/// Security headers. Isolation (COOP, COEP) gives the page its fine clock; the rest disables unused features.
const FIXED: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("permissions-policy"),
        "screen-wake-lock=(self), accelerometer=(), browsing-topics=(), camera=(), display-capture=(), \
         geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
    ),
];

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Adds the security headers, the content security policy of the page, and the API's openness. Any site may read
/// results (`GET`). No other site may write: a preflight finds no permission, and a body that needs none is not JSON.
pub(crate) async fn security(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let results = api || request.uri().path().starts_with("/snapshots/");
    let path = request.uri().path().to_owned();
    let open = results && matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = next.run(request).await;
    let policy = pages.content_security_policy(&path).await;
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Only an embed has another policy: any site may frame it, even an isolated one.
    let is_embed = headers.contains_key(header::CONTENT_SECURITY_POLICY);
    if is_embed {
        headers.remove(header::X_FRAME_OPTIONS);
    } else {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let readers = if open || is_embed { "cross-origin" } else { "same-origin" };
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static(readers));
    if api {
        // Lists change, so cached answers must be revalidated each time. The answer to an upload contains a secret.
        let caching = if headers.contains_key(header::ETAG) { "no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    if open {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_and_tells_nothing() {
        let handler = async || -> &'static str { panic!("the password is 1234") };
        let router: Router = Router::new().route("/", get(handler)).layer(CatchPanicLayer::custom(panic_response));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("\"internal\"") && !text.contains("1234"), "{text}");
    }
}
