//! Headers that every answer carries, whatever route made it.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::pages::Pages;

/// Isolation (COOP, COEP) gives the page its fine clock; the rest takes away what the page does not use.
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

/// Adds the security headers, the content security policy of the page, and the API's openness.
///
/// Results are public, so any site may read them (`GET`). Nothing allows another site's script to
/// write: a preflight finds no permission, and a body that needs none is not JSON and is refused.
/// Programs other than browsers are not concerned by any of this.
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
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static(if open { "cross-origin" } else { "same-origin" }));
    if api {
        // Lists change: what may be kept must be asked about each time. The answer to an upload holds a secret.
        let caching = if headers.contains_key(header::ETAG) { "no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    if open {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}
