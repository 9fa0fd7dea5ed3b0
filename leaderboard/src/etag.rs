//! Entity tags, so that unchanged answers are not sent again.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;

use crate::error::ApiError;
use crate::secrets::sha256;

/// Number of hexadecimal digits: half of the hash, enough to avoid collisions.
const DIGITS: usize = 32;

/// Adds an entity tag, the hash of the content, and answers 304 to clients that have it. The tag is weak, because it is
/// computed before compression. Answers of the API are complete in memory, so hashing does not delay them.
pub(crate) async fn tag(request: Request, next: Next) -> Response {
    // The body of an answer to HEAD is already gone here. Such an answer needs no tag.
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let known = request.headers().clone();
    let response = next.run(request).await;
    if response.status() != StatusCode::OK {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let bytes = match body.collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(cause) => return ApiError::internal(&cause).into_response(),
    };
    let name = format!("W/\"{}\"", &sha256(&bytes)[..DIGITS]);
    let same = names(&known, &name);
    head.headers.insert(header::ETAG, name.parse().expect("digits and quotes may stand in a header"));
    // Set even if the answer is too short to be compressed, because caches must not mix encodings.
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if same {
        head.status = StatusCode::NOT_MODIFIED;
        head.headers.remove(header::CONTENT_TYPE);
        head.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(head, Body::empty());
    }
    Response::from_parts(head, Body::from(bytes))
}

/// Returns true if `If-None-Match` contains this tag, by the weak comparison of RFC 9110.
fn names(headers: &HeaderMap, name: &str) -> bool {
    let strong = |name: &str| name.trim().trim_start_matches("W/").to_owned();
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|known| known.trim() == "*" || strong(known) == strong(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whether_weak_or_not_and_in_lists() {
        let fits = |line: &&'static str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(line))]);
            names(&headers, "W/\"abc\"")
        };
        let lines = ["W/\"abc\"", "\"abc\"", "\"x\", W/\"abc\"", "*", "\"ab\"", "abc", ""];
        assert_eq!(Vec::from_iter(lines.into_iter().filter(fits)), lines[..4]);
    }
}
