//! Files of a folder, for the page, the data sets and the snapshots.

use std::convert::Infallible;
use std::path::PathBuf;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;
use tower_http::services::ServeDir;

/// Serves files of a folder, or their `.br` or `.gz` versions if the client accepts them.
pub(crate) fn files(folder: PathBuf) -> ServeDir {
    ServeDir::new(folder).append_index_html_on_directories(false).precompressed_br().precompressed_gzip()
}

/// Returns a file of a folder with this cache lifetime, or the usual refusal if it is missing.
pub(crate) async fn from_folder(files: ServeDir, request: Request, caching: HeaderValue) -> Response {
    if names_a_hidden_file(request.uri().path()) {
        return not_found();
    }
    let Ok::<_, Infallible>(response) = files.oneshot(request).await;
    let mut response = response.map(Body::new);
    match response.status() {
        StatusCode::NOT_FOUND => return not_found(),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED => {
            response.headers_mut().insert(header::CACHE_CONTROL, caching);
        }
        _ => {}
    }
    response
}

pub(crate) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response()
}

/// Returns true for paths of tools' notes, such as the list of verified files, which are not served.
fn names_a_hidden_file(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || part.to_ascii_lowercase().starts_with("%2e"))
}
