//! The page and the data sets as static files.

mod index;
mod policy;
mod previews;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::StartError;
use index::IndexFile;
pub(crate) use previews::Previews;

/// For files whose content never changes under their name.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For files that must be asked about each time.
const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");
/// For what is replaced while the server runs. A browser's question whether its copy is still good goes by whole seconds,
/// in which the file may have changed again.
const NEVER_KEPT: HeaderValue = HeaderValue::from_static("no-store");
/// Tells the page whether the worker with Burn is there; replaced while Burn is being built.
const BURN: &str = "/burn.json";
/// How the folders of other frameworks begin, TensorFlow.js and jax-js: a name of `app/hooks/src/frameworks.rs`.
const FRAMEWORKS: &str = "/framework-";
/// A content hash in a file's name has at least this many hexadecimal digits.
const HASH_DIGITS: usize = 12;

/// The folders to serve; cloning shares them.
#[derive(Clone)]
pub(crate) struct Pages {
    index: Option<Arc<IndexFile>>,
    files: Option<ServeDir>,
    data: Option<PathBuf>,
}

impl Pages {
    /// Reads the page's index, so that a missing folder is an error when the server starts.
    pub(crate) async fn open(page: Option<PathBuf>, data: Option<PathBuf>) -> Result<Self, StartError> {
        if let Some(folder) = &data
            && let Err(cause) = tokio::fs::read_dir(folder).await
        {
            return Err(StartError::Data { folder: folder.clone(), cause });
        }
        let Some(folder) = page else { return Ok(Self { index: None, files: None, data }) };
        let index = IndexFile::new(folder.join("index.html"));
        index.read().await.map_err(|cause| StartError::Page { folder: folder.clone(), cause })?;
        Ok(Self { index: Some(Arc::new(index)), files: Some(files(folder)), data })
    }

    /// The policy that fits the index as it is on disk now, or the framework of which this is a file.
    pub(crate) async fn content_security_policy(&self, path: &str) -> HeaderValue {
        if path.starts_with(FRAMEWORKS) {
            return policy::of_a_framework();
        }
        let index = match &self.index {
            Some(index) => index.read().await.ok(),
            None => None,
        };
        index.map_or_else(|| policy::header(&[]), |index| index.policy.clone())
    }
}

/// Files of one folder, the `.br` or `.gz` beside a file in its place where the client takes it.
fn files(folder: PathBuf) -> ServeDir {
    ServeDir::new(folder).append_index_html_on_directories(false).precompressed_br().precompressed_gzip()
}

/// The data sets. Their names change when their content does, so that they are kept for ever.
pub(crate) fn data(pages: &Pages) -> Router {
    Router::new().fallback(serve_data).with_state(pages.data.clone().map(files))
}

async fn serve_data(State(files): State<Option<ServeDir>>, request: Request) -> Response {
    let Some(files) = files else { return not_found() };
    let mut response = from_folder(files, request).await;
    if is_content(response.status()) {
        response.headers_mut().insert(header::CACHE_CONTROL, FOR_EVER);
    }
    response
}

/// Files of the page; a path that names no file is one of the page's own places and gets its index.
pub(crate) fn page(pages: Pages, previews: Previews) -> Router {
    Router::new().fallback(serve_page).with_state((pages, previews))
}

async fn serve_page(State((pages, previews)): State<(Pages, Previews)>, request: Request) -> Response {
    let (Some(index), Some(files)) = (pages.index, pages.files) else { return not_found() };
    let path = request.uri().path().to_owned();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && matches!(path.as_str(), "/" | "/index.html") {
        return serve_index(&index, None).await;
    }
    let headers = request.headers().clone();
    let mut response = from_folder(files, request).await;
    if response.status() == StatusCode::NOT_FOUND && is_read && !names_a_file(&path) {
        return serve_index(&index, Some((&previews, &path, &headers))).await;
    }
    if is_content(response.status()) {
        response.headers_mut().insert(header::CACHE_CONTROL, caching(&path));
    }
    response
}

/// How long a browser may keep the file of the page at `path`.
fn caching(path: &str) -> HeaderValue {
    match path {
        BURN => NEVER_KEPT,
        hashed if is_hashed(hashed) => FOR_EVER,
        _ => ASK_EACH_TIME,
    }
}

/// The index, with what previews of links are told where the place may be a run's.
async fn serve_index(index: &IndexFile, place: Option<(&Previews, &str, &HeaderMap)>) -> Response {
    match index.read().await {
        Ok(index) => {
            let of_run = match place {
                Some((previews, path, headers)) => previews.index_of(path, headers, &index.html).await,
                None => None,
            };
            let html = of_run.map_or_else(|| index.html.clone(), Bytes::from);
            let kind = HeaderValue::from_static("text/html; charset=utf-8");
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, ASK_EACH_TIME)], html).into_response()
        }
        Err(cause) => {
            tracing::warn!(cause = &cause as &dyn std::error::Error, "the page's index.html is gone");
            let message = "The page is being built. Load it again in a moment.\n";
            (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
    }
}

/// A file of a folder, or the refusal that every missing one has.
pub(crate) async fn from_folder(files: ServeDir, request: Request) -> Response {
    if names_a_hidden_file(request.uri().path()) {
        return not_found();
    }
    let served: Result<_, Infallible> = files.oneshot(request).await;
    let response = match served {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    if response.status() == StatusCode::NOT_FOUND { not_found() } else { response }
}

pub(crate) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "Nothing is here.\n").into_response()
}

/// Whether an answer has a file, a part of it, or says that it has not changed.
pub(crate) fn is_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Notes of tools, such as the list of verified files, are not for serving.
fn names_a_hidden_file(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || part.to_ascii_lowercase().starts_with("%2e"))
}

fn names_a_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// Whether some part of the path is a hash of content, as in `app-1f0c4be2a9d3e587_bg.wasm`.
fn is_hashed(path: &str) -> bool {
    path.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        word.len() >= HASH_DIGITS
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_names_are_recognised_and_others_are_not() {
        for hashed in [
            "/app-1f0c4be2a9d3e587.js",
            "/app-1f0c4be2a9d3e587_bg.wasm",
            "/snippets/gloo-3d5a0cf1b2e84976/inline0.js",
            "/style-0123456789abcdef.css",
            "/worker-0123456789abcdef/worker_bg.wasm",
            "/framework-tfjs-wasm-0123456789abcdef/tfjs-backend-wasm.wasm",
        ] {
            assert!(is_hashed(hashed), "{hashed}");
        }
        for plain in [
            "/app.js",
            "/worker/worker_bg.wasm",
            "/burn.json",
            "/frameworks.json",
            "/favicon.ico",
            "/runs/0123",
            "/app-facade.js",
            "/deadbeef.js",
        ] {
            assert!(!is_hashed(plain), "{plain}");
        }
    }
}
