//! What previews of links are told of a result: the page's index for `/runs/{id}` with the run's Open Graph tags.

use std::fmt::Write;

use axum::body::Bytes;
use axum::http::HeaderMap;

use crate::api::RunId;
use crate::card::{Card, SIZE};
use crate::markup::escaped;
use crate::public_url::{PublicAddress, PublicUrl};
use crate::storage::Storage;

/// A preview shows a line or two.
const MOST_CHARACTERS: usize = 300;
/// How a tag begins that says something of the page as a whole, and that a run says of itself.
const GENERAL: [&str; 2] = ["<meta property=\"og:", "<meta name=\"twitter:"];

/// From where runs are read, and under which address they are shown.
#[derive(Clone)]
pub(crate) struct Previews {
    pub(crate) storage: Storage,
    pub(crate) address: PublicAddress,
}

impl Previews {
    /// The index with the tags of the run at this path. Nothing where the path is not a run's, where the run is unknown or
    /// hidden, and where the data base does not answer: then the page is served as it is, and says so itself.
    pub(super) async fn index_of(&self, path: &str, headers: &HeaderMap, html: &Bytes) -> Option<String> {
        let RunId(id) = RunId::parse(path.strip_prefix("/runs/")?.to_owned()).ok()?;
        let run = match self.storage.visible_run(&id).await {
            Ok(run) => run?,
            Err(cause) => {
                tracing::warn!(cause = &cause as &dyn std::error::Error, "a run has no preview");
                return None;
            }
        };
        let tags = tags(&Card::of(&run), &id, self.address.of(headers).as_ref());
        with_tags(str::from_utf8(html).ok()?, &tags)
    }
}

/// The tags of a run. Addresses in them must be whole, so that there are none where nobody says where the server is.
fn tags(card: &Card, id: &str, address: Option<&PublicUrl>) -> String {
    let title = format!("{} on Gradmark", card.title());
    let whole = card.description();
    let mut description: String = whole.chars().take(MOST_CHARACTERS).collect();
    if description.len() < whole.len() {
        description.push('…');
    }
    let mut tags = String::new();
    let mut tag = |kind: &str, name: &str, content: &str| {
        let content = escaped(content);
        writeln!(tags, "    <meta {kind}=\"{name}\" content=\"{content}\" />").expect("a string takes everything");
    };
    tag("property", "og:type", "website");
    tag("property", "og:site_name", "Gradmark");
    tag("property", "og:title", &title);
    tag("property", "og:description", &description);
    let Some(address) = address else {
        tag("name", "twitter:card", "summary");
        return tags;
    };
    tag("property", "og:url", &address.join(&format!("/runs/{id}")));
    tag("property", "og:image", &address.join(&format!("/api/v1/runs/{id}/card.png")));
    tag("property", "og:image:type", "image/png");
    tag("property", "og:image:width", &SIZE.0.to_string());
    tag("property", "og:image:height", &SIZE.1.to_string());
    tag("property", "og:image:alt", &format!("{title}: {description}"));
    tag("name", "twitter:card", "summary_large_image");
    tags
}

/// The page with these tags at the end of its head, in place of general ones; nothing where it has no head.
fn with_tags(html: &str, tags: &str) -> Option<String> {
    // ASCII lower case keeps every byte at its place.
    let head = html.to_ascii_lowercase().find("</head")?;
    let mut page = String::with_capacity(html.len() + tags.len());
    let mut rest = &html[..head];
    while let Some(start) = GENERAL.iter().filter_map(|tag| rest.find(tag)).min() {
        let end = rest[start..].find('>').map_or(rest.len(), |end| start + end + 1);
        page.push_str(&rest[..start]);
        rest = &rest[end..];
    }
    page.push_str(rest);
    page.push_str(tags);
    page.push_str(&html[head..]);
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_at_the_end_of_the_head_in_place_of_general_ones() {
        let html = "<HEAD><title>a</title><meta property=\"og:title\" content=\"b\" /><script>c</script></HEAD><body>";
        let page = with_tags(html, "<meta d>").unwrap();
        assert_eq!(page, "<HEAD><title>a</title><script>c</script><meta d></HEAD><body>");
        assert_eq!(with_tags("<title>a page without a head</title>", "<meta d>"), None);
    }
}
