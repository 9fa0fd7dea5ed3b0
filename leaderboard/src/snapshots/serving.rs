//! `/snapshots/NAME`: the files, as a whole or in ranges.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tower_http::services::ServeDir;

use super::Snapshots;
use crate::pages::{from_folder, is_content, not_found};

/// A file never changes under its name. It may be kept for a day only, so that a run that somebody deleted does not live
/// on in caches long after the file is gone.
const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400, immutable");

/// Only names of snapshots are looked for, whatever else is in the folder.
pub(crate) fn serve(snapshots: Snapshots) -> Router {
    Router::new().fallback(serve_file).with_state(snapshots)
}

async fn serve_file(State(snapshots): State<Snapshots>, request: Request) -> Response {
    let name = request.uri().path().trim_start_matches('/');
    let Some(file) = snapshots.file(name) else { return not_found() };
    let Some(folder) = file.parent() else { return not_found() };
    let mut response = from_folder(ServeDir::new(folder), request).await;
    if is_content(response.status()) {
        response.headers_mut().insert(header::CACHE_CONTROL, FOR_A_DAY);
    }
    response
}
