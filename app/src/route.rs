//! What the page shows at which path.

/// The views of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Start,
    /// The page of one stored result.
    Result {
        run_id: String,
    },
    /// The page of one device.
    Device {
        /// As it stands in the address, with what is not ASCII encoded, and as requests have to write it.
        key: String,
    },
    /// What moderators did.
    Moderation,
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
        ["moderation"] => Route::Moderation,
        ["runs", id, "delete"] if is_id(id) => Route::Delete { run_id: id.to_owned() },
        _ => Route::Unknown,
    }
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
    fn what_moderators_did_has_a_page() {
        assert_eq!(route("/moderation"), Route::Moderation);
        assert_eq!(route("/moderation/log"), Route::Unknown);
    }

    #[test]
    fn anything_else_is_unknown() {
        for path in ["/runs", "/runs/a/b", "/runs/a%2Fb", "/about", "/runs/a/delete/now"] {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }
}
