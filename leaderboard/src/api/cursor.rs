//! Where a page of a list ended, as a word that only this server has to understand. It holds the place in the order and not
//! a number of rows, so that nothing moves when rows come in. Whoever makes one up gets another place, and no more.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use results::api::ListRuns;
use serde::{Deserialize, Serialize};

use crate::secrets::{RUN_ID_BYTES, sha256};
use crate::storage::Key;
use crate::validation::{FieldPath, Refusal};

/// Longer than any that was ever given.
const LONGEST: usize = 500;
/// Hexadecimal digits of a digest by which a query knows its cursors.
const QUERY_DIGITS: usize = 12;

/// Numbers as their bits, so that they come back as they were.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Of which query.
    q: String,
    n: u64,
    s: u64,
    r: String,
    w: String,
    /// Rows to leave out still.
    #[serde(default, skip_serializing_if = "is_zero")]
    o: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The cursor of what comes after a place.
///
/// # Errors
/// None that was ever met: text and numbers can be written as JSON.
pub(super) fn written(query: &ListRuns, key: &Key, skip: u64) -> Result<String, serde_json::Error> {
    let place = Place {
        q: digest(query)?,
        n: key.number.to_bits(),
        s: key.submitted_unix_seconds.to_bits(),
        r: key.run_id.clone(),
        w: key.workload.clone(),
        o: u32::try_from(skip).unwrap_or(u32::MAX),
    };
    Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&place)?))
}

/// The place that a cursor of this query means, and how many rows to leave out after it.
pub(super) fn read(query: &ListRuns, cursor: &str) -> Result<(Key, u64), Refusal> {
    let refusal =
        |message: &str| Refusal { code: "bad_query", message: message.to_owned(), field: "cursor".to_owned() };
    let broken = || refusal("This is no cursor of this leaderboard. Begin without one, and then take `next` as it is.");
    let place = (cursor.len() <= LONGEST).then(|| URL_SAFE_NO_PAD.decode(cursor).ok()).flatten();
    let place: Place = place.and_then(|json| serde_json::from_slice(&json).ok()).ok_or_else(broken)?;
    if digest(query).ok().as_ref() != Some(&place.q) {
        return Err(refusal(
            "This cursor belongs to another query. Ask as you did for the page that it came with, or begin without one.",
        ));
    }
    let (number, submitted_unix_seconds) = (f64::from_bits(place.n), f64::from_bits(place.s));
    let is_id = place.r.len() == 2 * RUN_ID_BYTES && place.r.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_name = FieldPath::ROOT.field("cursor").name(&place.w).is_ok();
    if !(is_id && is_name && number.is_finite() && submitted_unix_seconds.is_finite()) {
        return Err(broken());
    }
    let key = Key { number, submitted_unix_seconds, run_id: place.r, workload: place.w };
    Ok((key, u64::from(place.o)))
}

/// The same for all pages of a query, whatever their size.
fn digest(query: &ListRuns) -> Result<String, serde_json::Error> {
    let query = ListRuns { limit: None, cursor: None, offset: None, ..query.clone() };
    Ok(sha256(&serde_json::to_vec(&query)?).chars().take(QUERY_DIGITS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            number: -1234.5,
            submitted_unix_seconds: 1.8e9 + 0.1,
            run_id: "0123456789abcdef".to_owned(),
            workload: "caffe-mnist".to_owned(),
        }
    }

    fn query() -> ListRuns {
        ListRuns { workload: Some("caffe-mnist".to_owned()), ..ListRuns::default() }
    }

    fn refusal(query: &ListRuns, cursor: &str) -> String {
        read(query, cursor).unwrap_err().message
    }

    #[test]
    fn a_place_comes_back_as_it_was_whatever_the_size_of_pages() {
        let cursor = written(&query(), &key(), 7).unwrap();
        let next = ListRuns { limit: Some(3), cursor: Some(cursor.clone()), ..query() };
        assert_eq!(read(&next, &cursor).unwrap(), (key(), 7));
        assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{cursor}");
    }

    #[test]
    fn a_cursor_of_another_query_is_refused_in_words() {
        let cursor = written(&query(), &key(), 0).unwrap();
        let other = ListRuns { backend: Some("wgsl".to_owned()), ..query() };
        assert!(refusal(&other, &cursor).contains("another query"));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let forged = |key: &Key| written(&query(), key, 0).unwrap();
        for cursor in [
            String::new(),
            "????".to_owned(),
            "e30".to_owned(),
            "a".repeat(10_000),
            forged(&Key { number: f64::NAN, ..key() }),
            forged(&Key { run_id: "\0".repeat(16), ..key() }),
            forged(&Key { workload: "a\0b".to_owned(), ..key() }),
        ] {
            assert!(refusal(&query(), &cursor).contains("no cursor"), "{cursor}");
        }
    }
}
