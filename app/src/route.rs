//! What the page shows at which path.

/// Where back ends are compared.
pub const COMPARE: &str = "/compare";

/// Where stored results, or devices, are beside each other.
pub const SIDE_BY_SIDE: &str = "/side-by-side";

/// Where result files are shown.
pub const FILE: &str = "/file";

/// Where the documents are listed; each has its page below.
pub const DOCUMENTS: &str = "/docs";

/// The views of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Start,
    /// Back ends side by side on this device.
    Compare,
    /// Two to four stored results, or devices, beside each other; which ones stands in the query.
    SideBySide,
    /// Results in files from somebody's disk.
    File,
    /// The page of one stored result.
    Result {
        run_id: String,
    },
    /// The page of one device.
    Device {
        /// As it stands in the address, with what is not ASCII encoded, and as requests have to write it.
        key: String,
    },
    /// A comparison of back ends that somebody shared.
    Comparison {
        id: String,
    },
    /// Deletes one; the secret is in the fragment.
    DeleteComparison {
        id: String,
    },
    /// What moderators did.
    Moderation,
    /// All documents.
    Documents,
    /// One of them, if there is one of this name.
    Document {
        name: String,
    },
    /// Deletes a result; the secret is in the fragment, which browsers keep to themselves.
    Delete {
        run_id: String,
    },
    Unknown,
}

/// The view for a path such as `/runs/3f9a/delete`.
pub fn route(path: &str) -> Route {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [] | ["index.html"] => Route::Start,
        ["runs", id] if is_id(id) => Route::Result { run_id: id.to_owned() },
        ["devices", key] if is_key(key) => Route::Device { key: key.to_owned() },
        ["compare"] => Route::Compare,
        ["file"] => Route::File,
        ["side-by-side"] => Route::SideBySide,
        ["comparisons", id] if is_id(id) => Route::Comparison { id: id.to_owned() },
        ["comparisons", id, "delete"] if is_id(id) => Route::DeleteComparison { id: id.to_owned() },
        ["moderation"] => Route::Moderation,
        ["docs"] => Route::Documents,
        ["docs", name] if is_id(name) => Route::Document { name: name.to_owned() },
        ["runs", id, "delete"] if is_id(id) => Route::Delete { run_id: id.to_owned() },
        _ => Route::Unknown,
    }
}

/// The id of a result in what somebody typed or pasted: the id itself, or a link to its page.
pub fn run_in(text: &str) -> Option<String> {
    let text = text.trim();
    let id = text.split_once("/runs/").map_or(text, |(_, rest)| rest);
    let id = id.split(['/', '?', '#']).next().unwrap_or_default();
    (!id.is_empty() && is_id(id)).then(|| id.to_owned())
}

/// The key of a device in a link to its page, or as it is.
pub fn device_in(text: &str) -> Option<String> {
    let text = text.trim();
    let key = text.split_once("/devices/").map_or(text, |(_, rest)| rest);
    let key = key.split(['/', '?', '#']).next().unwrap_or_default();
    (!key.is_empty() && is_key(key)).then(|| key.to_owned())
}

/// Ids go into addresses of requests, so nothing that has a meaning there is let through.
fn is_id(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Whether this is a device's key: letters and digits of any script, and hyphens. What is not ASCII is encoded in UTF-8,
/// whose bytes all begin with a digit from 8 on; so no encoded slash passes.
fn is_key(text: &str) -> bool {
    let mut parts = text.split('%');
    let plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let encoded = |part: &str| match part.as_bytes() {
        [high, low, ..] => {
            high.is_ascii_hexdigit() && !matches!(high, b'0'..=b'7') && low.is_ascii_hexdigit() && plain(&part[2..])
        }
        _ => false,
    };
    parts.next().is_some_and(plain) && parts.all(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permalink_and_its_deletion_link_lead_to_their_views() {
        let run_id = "Ab3-_9".to_owned();
        assert_eq!(route("/"), Route::Start);
        assert_eq!(route("/runs/Ab3-_9"), Route::Result { run_id: run_id.clone() });
        assert_eq!(route("/runs/Ab3-_9/"), Route::Result { run_id: run_id.clone() });
        assert_eq!(route("/runs/Ab3-_9/delete"), Route::Delete { run_id });
    }

    #[test]
    fn a_device_has_a_page_under_its_key_in_whatever_script() {
        let device = |key: &str| Route::Device { key: key.to_owned() };
        assert_eq!(route("/devices/reported-example-gpu-9000"), device("reported-example-gpu-9000"));
        assert_eq!(route("/devices/claimed-%E7%8C%AB-1/"), device("claimed-%E7%8C%AB-1"));
        for path in ["/devices", "/devices/a/b", "/devices/a%2Fb", "/devices/a%", "/devices/a%é", "/devices/..%2e"] {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn what_moderators_did_and_comparisons_have_pages() {
        assert_eq!(route("/moderation"), Route::Moderation);
        assert_eq!(route("/moderation/log"), Route::Unknown);
        assert_eq!((route(COMPARE), route("/compare/")), (Route::Compare, Route::Compare));
        let id = "Ab3-_9".to_owned();
        assert_eq!(route("/comparisons/Ab3-_9"), Route::Comparison { id: id.clone() });
        assert_eq!(route("/comparisons/Ab3-_9/delete"), Route::DeleteComparison { id });
    }

    #[test]
    fn documents_have_pages() {
        assert_eq!(route(DOCUMENTS), Route::Documents);
        assert_eq!(route("/docs/open-data/"), Route::Document { name: "open-data".to_owned() });
        assert_eq!(route("/docs/a/b"), Route::Unknown);
    }

    #[test]
    fn a_result_or_a_device_is_found_in_what_was_pasted() {
        let id = Some("Ab3-_9".to_owned());
        for text in ["Ab3-_9", " https://example.org/runs/Ab3-_9 ", "/runs/Ab3-_9/delete#x", "http://h/runs/Ab3-_9?a=b"]
        {
            assert_eq!(run_in(text), id, "{text}");
        }
        for text in ["", "https://example.org/", "a b", "/runs/", "/runs/a%2Fb"] {
            assert_eq!(run_in(text), None, "{text}");
        }
        assert_eq!(device_in("http://h/devices/claimed-%E7%8C%AB-1/"), Some("claimed-%E7%8C%AB-1".to_owned()));
        assert_eq!(device_in("http://h/devices/a%2Fb"), None);
    }

    #[test]
    fn anything_else_is_unknown() {
        for path in ["/runs", "/runs/a/b", "/runs/a%2Fb", "/about", "/runs/a/delete/now"] {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }
}
