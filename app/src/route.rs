//! What the page shows at which path.

/// The views of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Start,
    /// The page of one stored result.
    Result {
        run_id: String,
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
        ["runs", id, "delete"] if is_id(id) => Route::Delete { run_id: id.to_owned() },
        _ => Route::Unknown,
    }
}

/// Ids go into addresses of requests, so nothing that has a meaning there is let through.
fn is_id(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
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
    fn anything_else_is_unknown() {
        for path in ["/runs", "/runs/a/b", "/runs/a%2Fb", "/about", "/runs/a/delete/now"] {
            assert_eq!(route(path), Route::Unknown, "{path}");
        }
    }
}
