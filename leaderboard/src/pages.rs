//! The page and the data sets as static files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use tower_http::services::ServeDir;
use view::card::{Card, SIZE};

use crate::api::{RunId, visible_card};
use crate::badge::escaped;
use crate::error::ApiError;
use crate::public_url::{PublicAddress, PublicUrl};
use crate::static_files::{files, from_folder, not_found};
use crate::storage::Database;

/// Cache lifetime of files with a content hash in their name.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Cache lifetime of files that must be revalidated on each use.
pub(crate) const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");
/// Cache lifetime of files that are replaced while the server runs.
const NEVER_KEPT: HeaderValue = HeaderValue::from_static("no-store");
/// Path of the file that tells the page if the worker with Burn is available. It is replaced while Burn is being built.
const BURN: &str = "/burn.json";
/// Prefix of the folders of other frameworks (`app/hooks/src/frameworks.rs`).
const FRAMEWORKS: &str = "/framework-";
/// Policy for the worker of another framework. Its threads are workers that start from blobs.
const FRAMEWORK_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// Minimum number of hexadecimal digits of a content hash in a file name.
const HASH_DIGITS: usize = 12;

/// The served folders. Clones share them.
#[derive(Clone)]
pub(crate) struct Pages {
    /// The index of the page, and its folder.
    page: Option<(Arc<Path>, ServeDir)>,
    data: Option<PathBuf>,
}

impl Pages {
    /// Reads the page's index, so that a missing folder is an error at startup.
    pub(crate) async fn open(page: Option<PathBuf>, data: Option<PathBuf>) -> Result<Self> {
        if let Some(folder) = &data
            && let Err(cause) = tokio::fs::read_dir(folder).await
        {
            return Err(anyhow!(
                "the data folder {} cannot be read ({cause}). Fetch the data sets with `native-runner fetch-data \
                 --compressed`, or omit --data.",
                folder.display()
            ));
        }
        let Some(folder) = page else { return Ok(Self { page: None, data }) };
        let index = folder.join("index.html");
        read_index(&index).await.map_err(|cause| {
            anyhow!(
                "the page folder {} has no readable index.html ({cause}). Build the page with `cargo xtask run`, or \
                 omit --page to serve only the API.",
                folder.display()
            )
        })?;
        Ok(Self { page: Some((index.into(), files(folder))), data })
    }

    pub(crate) async fn content_security_policy(&self, path: &str) -> HeaderValue {
        if path.starts_with(FRAMEWORKS) {
            return FRAMEWORK_POLICY;
        }
        if let Some((index, _)) = &self.page
            && let Ok(index) = read_index(index).await
        {
            return index.policy;
        }
        policy_header(&[])
    }
}

/// Serves the data sets. Their names change with their content, so they are cached permanently.
pub(crate) async fn serve_data(State(pages): State<Pages>, request: Request) -> Response {
    let Some(folder) = pages.data else { return not_found() };
    from_folder(files(folder), request, FOR_EVER).await
}

/// Serves the page's files. Any other path is a view of the page and gets the index.
pub(crate) async fn serve_page(State((pages, previews)): State<(Pages, Previews)>, request: Request) -> Response {
    let Some((index, files)) = pages.page else { return not_found() };
    let path = request.uri().path().to_owned();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let headers = request.headers().clone();
    if is_read && matches!(path.as_str(), "/" | "/index.html") {
        return serve_index(&index, &previews, "/", &headers).await;
    }
    let response = from_folder(files, request, caching(&path)).await;
    if response.status() == StatusCode::NOT_FOUND && is_read && !names_a_file(&path) {
        return serve_index(&index, &previews, &path, &headers).await;
    }
    response
}

fn caching(path: &str) -> HeaderValue {
    match path {
        BURN => NEVER_KEPT,
        hashed if is_hashed(hashed) => FOR_EVER,
        _ => ASK_EACH_TIME,
    }
}

/// Serves the index with the preview tags of its path. The page itself reports unknown paths, so they get the index too.
async fn serve_index(index: &Path, previews: &Previews, path: &str, headers: &HeaderMap) -> Response {
    match read_index(index).await {
        Ok(index) => {
            let (status, html) = match run_at(path) {
                Some(Ok(RunId(id))) => previews.index_of(&id, headers, &index.html).await,
                None if is_view(path) => (StatusCode::OK, previews.index_of_page(headers, &index.html)),
                _ => (StatusCode::NOT_FOUND, index.html),
            };
            let kind = HeaderValue::from_static("text/html; charset=utf-8");
            (status, [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, ASK_EACH_TIME)], html).into_response()
        }
        Err(cause) => {
            tracing::warn!(cause = &cause as &dyn std::error::Error, "cannot read the page's index.html");
            (StatusCode::SERVICE_UNAVAILABLE, "The page is being built. Reload it in a moment.\n").into_response()
        }
    }
}

/// First words of the paths of the page's views (`app/src/route.rs`).
const VIEWS: [&str; 10] = [
    "comparisons",
    "compare",
    "devices",
    "docs",
    "file",
    "leaderboard",
    "moderation",
    "runs",
    "side-by-side",
    "tab-speedrun",
];

fn is_view(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()).is_none_or(|first| VIEWS.contains(&first))
}

fn run_at(path: &str) -> Option<Result<RunId, ApiError>> {
    let id = path.strip_prefix("/runs/")?.trim_end_matches('/');
    (!id.contains('/')).then(|| RunId::parse(id.to_owned()))
}

fn names_a_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// Returns true if a part of the path contains a content hash, as in `app-1f0c4be2a9d3e587_bg.wasm`.
fn is_hashed(path: &str) -> bool {
    path.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        word.len() >= HASH_DIGITS
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Returns the policy for a page with inline scripts of these hashes. Everything comes from this server, WebAssembly
/// may be compiled, and a worker starts from a file, not from a blob.
fn policy_header(script_hashes: &[String]) -> HeaderValue {
    let hashes: String = script_hashes.iter().map(|hash| format!(" 'sha256-{hash}'")).collect();
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; worker-src 'self'; \
         connect-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; manifest-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("base64 and the words above are visible ASCII")
}

/// Returns the SHA-256 in base64 of each inline script, as browsers compute it. This is not an HTML parser: at worst it
/// hashes something else (harmless) or misses a script, which then does not run.
fn inline_script_hashes(html: &str) -> Vec<String> {
    // Browsers convert every line ending to LF before they hash.
    let html = html.replace("\r\n", "\n").replace('\r', "\n");
    // ASCII lower case preserves byte offsets.
    let lower = html.to_ascii_lowercase();
    let mut hashes = Vec::new();
    let mut position = 0;
    while let Some(found) = lower[position..].find("<script") {
        let attributes = position + found + "<script".len();
        let Some(tag_end) = lower[attributes..].find('>').map(|i| attributes + i) else { break };
        let Some(end) = lower[tag_end..].find("</script").map(|i| tag_end + i) else { break };
        let content = &html[tag_end + 1..end];
        let mut words = lower[attributes..tag_end].split_ascii_whitespace();
        if !words.any(|word| word == "src" || word.starts_with("src=")) {
            hashes.push(STANDARD.encode(Sha256::digest(content.as_bytes())));
        }
        position = end;
    }
    hashes
}

/// The page's index.html, and the policy that allows only its own inline scripts. It is read for each answer, because the
/// page may be rebuilt while the server runs.
struct Index {
    html: Bytes,
    policy: HeaderValue,
}

async fn read_index(file: &Path) -> io::Result<Index> {
    let html = tokio::fs::read(file).await?;
    let policy = policy_header(&inline_script_hashes(&String::from_utf8_lossy(&html)));
    Ok(Index { html: html.into(), policy })
}

/// A preview shows a line or two.
const MAX_PREVIEW_CHARACTERS: usize = 300;
/// Prefixes of the tags that a run's tags replace.
const GENERAL: [&str; 2] = ["<meta property=\"og:", "<meta name=\"twitter:"];

/// Database of the runs, and the public address for their links.
#[derive(Clone)]
pub(crate) struct Previews {
    pub(crate) storage: Database,
    pub(crate) address: PublicAddress,
}

impl Previews {
    /// Returns the status of the answer and the index with the tags of a run. The status is 404 if there is no visible
    /// run. If the database fails, the index has its general tags.
    async fn index_of(&self, id: &str, headers: &HeaderMap, html: &Bytes) -> (StatusCode, Bytes) {
        let card = match visible_card(&self.storage, id).await {
            Ok(Some(card)) => card,
            Ok(None) => return (StatusCode::NOT_FOUND, html.clone()),
            Err(cause) => {
                tracing::warn!(cause = &cause as &dyn std::error::Error, "cannot create the preview of a run");
                return (StatusCode::OK, html.clone());
            }
        };
        let tags = tags(&card, id, self.address.of(headers).as_ref());
        (StatusCode::OK, with_tags(html, &tags, without_general))
    }

    /// Returns the index with its general tags and the start page's image.
    fn index_of_page(&self, headers: &HeaderMap, html: &Bytes) -> Bytes {
        let Some(address) = self.address.of(headers) else { return html.clone() };
        let tags = image_tags(&address.join("/api/v1/card.png"), "How fast does your GPU learn?");
        with_tags(html, &tags, str::to_owned)
    }
}

/// Returns tags with these contents. Names of Open Graph are properties.
fn meta_tags(tags: &[(&str, &str)]) -> String {
    let tag = |(name, content): &(&str, &str)| {
        let kind = if name.starts_with("og:") { "property" } else { "name" };
        format!("    <meta {kind}=\"{name}\" content=\"{}\" />\n", escaped(content))
    };
    tags.iter().map(tag).collect()
}

fn image_tags(address: &str, description: &str) -> String {
    let [width, height] = [SIZE.0, SIZE.1].map(|size| size.to_string());
    meta_tags(&[
        ("og:image", address),
        ("og:image:type", "image/png"),
        ("og:image:width", &width),
        ("og:image:height", &height),
        ("og:image:alt", description),
        ("twitter:card", "summary_large_image"),
    ])
}

/// Returns the tags of a run. Their addresses must be absolute, so there are none without a known host.
fn tags(card: &Card, id: &str, address: Option<&PublicUrl>) -> String {
    let title = format!("{} on Gradmark", card.title());
    let whole = card.description();
    let mut description: String = whole.chars().take(MAX_PREVIEW_CHARACTERS).collect();
    if description.len() < whole.len() {
        description.push('…');
    }
    let tags = meta_tags(&[
        ("og:type", "website"),
        ("og:site_name", "Gradmark"),
        ("og:title", &title),
        ("og:description", &description),
    ]);
    let Some(address) = address else { return tags + &meta_tags(&[("twitter:card", "summary")]) };
    let image = address.join(&format!("/api/v1/runs/{id}/card.png"));
    let url = meta_tags(&[("og:url", &address.join(&format!("/runs/{id}")))]);
    tags + &url + &image_tags(&image, &format!("{title}: {description}"))
}

/// Inserts tags at the end of the page's head, after a change of the head.
fn with_tags(html: &Bytes, tags: &str, change: fn(&str) -> String) -> Bytes {
    let tagged = str::from_utf8(html).ok().and_then(|html| {
        // ASCII lower case preserves byte offsets.
        let (head, body) = html.split_at(html.to_ascii_lowercase().find("</head")?);
        Some(format!("{}{tags}{body}", change(head)))
    });
    tagged.map_or_else(|| html.clone(), Bytes::from)
}

fn without_general(head: &str) -> String {
    let mut kept = String::with_capacity(head.len());
    let mut rest = head;
    while let Some(start) = GENERAL.iter().filter_map(|tag| rest.find(tag)).min() {
        let end = rest[start..].find('>').map_or(rest.len(), |end| start + end + 1);
        kept.push_str(&rest[..start]);
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_names_are_recognised_and_others_are_not() {
        let hashed = "/app-1f0c4be2a9d3e587.js /app-1f0c4be2a9d3e587_bg.wasm /style-0123456789abcdef.css \
                      /snippets/gloo-3d5a0cf1b2e84976/inline0.js /worker-0123456789abcdef/worker_bg.wasm \
                      /framework-tfjs-wasm-0123456789abcdef/tfjs-backend-wasm.wasm";
        let plain = "/app.js /worker/worker_bg.wasm /burn.json /frameworks.json /favicon.ico /runs/0123 /app-facade.js \
                     /deadbeef.js";
        for (paths, expected) in [(hashed, true), (plain, false)] {
            for path in paths.split(' ') {
                assert_eq!(is_hashed(path), expected, "{path}");
            }
        }
    }

    /// The CSP specification gives this hash for this script (Level 2, "Hash usage").
    #[test]
    fn the_hash_is_that_of_the_specifications_example() {
        let hashes = inline_script_hashes("<html><script>alert('Hello, world.');</script></html>");
        assert_eq!(hashes, ["qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="]);
    }

    #[test]
    fn only_inline_scripts_get_a_hash() {
        let html = "<script src=\"a.js\"></script><SCRIPT type=module>one()</SCRIPT>\r\n<script>\r\ntwo()</script>\
                    <script type=\"module\" src=b.js></script><script>";
        assert_eq!(inline_script_hashes(html).len(), 2);
        assert_eq!(inline_script_hashes(html)[1], inline_script_hashes("<script>\ntwo()</script>")[0]);
    }

    #[test]
    fn run_tags_replace_general_tags() {
        let html = "<HEAD><title>a</title><meta property=\"og:title\" content=\"b\" /><script>c</script></HEAD><body>";
        let tagged = |html: &'static str| with_tags(&Bytes::from_static(html.as_bytes()), "<meta d>", without_general);
        assert_eq!(tagged(html), "<HEAD><title>a</title><script>c</script><meta d></HEAD><body>");
        assert_eq!(tagged("<title>a page without a head</title>"), "<title>a page without a head</title>");
    }
}
