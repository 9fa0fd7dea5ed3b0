//! The content security policy, which lets the page run its own code and nothing else.

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The policy for a page with inline scripts of these hashes.
///
/// Everything comes from this server, and WebAssembly may be compiled. A worker starts from a file
/// (its loader), not from a blob.
pub(super) fn header(script_hashes: &[String]) -> HeaderValue {
    let hashes: String = script_hashes.iter().map(|hash| format!(" 'sha256-{hash}'")).collect();
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; worker-src 'self'; \
         connect-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; manifest-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("base64 and the words above are visible ASCII")
}

/// The policy for the worker of another framework, which goes by that of its own script. Such frameworks share their work
/// among threads, each a worker that starts from a blob.
pub(super) fn of_a_framework() -> HeaderValue {
    HeaderValue::from_static(
        "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
}

/// SHA-256 in base64 of each inline script of `html`, as a browser computes it.
///
/// This reads the index.html that Trunk writes and is no HTML parser. At worst it hashes something that is no
/// script (harmless) or misses one (which then does not run, and the browser's console says so).
pub(super) fn inline_script_hashes(html: &str) -> Vec<String> {
    // A browser turns every line end into LF before it hashes.
    let html = html.replace("\r\n", "\n").replace('\r', "\n");
    // ASCII lower case keeps every byte at its place.
    let lower = html.to_ascii_lowercase();
    let mut hashes = Vec::new();
    let mut position = 0;
    while let Some(found) = lower[position..].find("<script") {
        let attributes = position + found + "<script".len();
        let Some(tag_end) = lower[attributes..].find('>').map(|i| attributes + i) else { break };
        let Some(end) = lower[tag_end..].find("</script").map(|i| tag_end + i) else { break };
        let content = &html[tag_end + 1..end];
        if !has_source(&lower[attributes..tag_end]) {
            hashes.push(STANDARD.encode(Sha256::digest(content.as_bytes())));
        }
        position = end;
    }
    hashes
}

fn has_source(attributes: &str) -> bool {
    attributes.split_ascii_whitespace().any(|attribute| attribute == "src" || attribute.starts_with("src="))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash is the one that the CSP specification gives for this very script (Level 2, "Hash usage").
    #[test]
    fn the_hash_is_that_of_the_specifications_example() {
        let hashes = inline_script_hashes("<html><script>alert('Hello, world.');</script></html>");
        assert_eq!(hashes, ["qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="]);
    }

    #[test]
    fn scripts_with_a_source_need_no_hash_and_all_others_get_one() {
        let html = "<script src=\"a.js\"></script><SCRIPT type=module>one()</SCRIPT>\r\n<script>\r\ntwo()</script>\
                    <script type=\"module\" src=b.js></script><script>";
        assert_eq!(inline_script_hashes(html).len(), 2);
        assert_eq!(inline_script_hashes(html)[1], inline_script_hashes("<script>\ntwo()</script>")[0]);
    }

    #[test]
    fn the_policy_lists_the_hashes_and_allows_no_other_inline_code() {
        let policy = header(&["abc=".to_owned()]);
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval' 'sha256-abc=';"), "{policy}");
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
    }
}
