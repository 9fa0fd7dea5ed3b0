//! What the leaderboard refuses, in the language of the page.

use results::api::ErrorBody;

use crate::t;
use crate::words::{Language, language};

/// A refusal by its code. In English the server says it best, with its particulars; in other languages what a visitor may
/// meet has words of its own, and the rest stays in the server's.
pub fn refusal(body: &ErrorBody) -> String {
    let own = match language() {
        Language::English => None,
        Language::German => by_code(&body.code),
    };
    let message = own.unwrap_or(&body.message);
    match &body.field {
        Some(field) => t!(refusal_at_field, message = message, code = body.code, field = field),
        None => t!(refusal_other, message = message, code = body.code),
    }
}

fn by_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknown_run" => t!(refusal_unknown_run),
        "unknown_comparison" => t!(refusal_unknown_comparison),
        "unknown_device" => t!(refusal_unknown_device),
        "busy" => t!(refusal_busy),
        "too_many_requests" => t!(refusal_too_many_requests),
        "read_only" => t!(refusal_read_only),
        "too_large" => t!(refusal_too_large),
        "already_submitted" => t!(refusal_already_submitted),
        "wrong_secret" => t!(refusal_wrong_secret),
        "bad_name" => t!(refusal_bad_name),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::speak;

    fn body(code: &str, field: Option<&str>) -> ErrorBody {
        ErrorBody { code: code.to_owned(), message: "No.".to_owned(), field: field.map(str::to_owned) }
    }

    #[test]
    fn a_refusal_has_the_servers_words_in_english_and_its_own_in_german_where_it_is_known() {
        assert_eq!(refusal(&body("busy", None)), "No. (busy)");
        assert_eq!(refusal(&body("out_of_range", Some("seed"))), "No. (out_of_range, at seed)");
        speak(Language::German);
        assert!(refusal(&body("busy", None)).starts_with("Der Server hat gerade zu viel zu tun."));
        assert_eq!(refusal(&body("out_of_range", Some("seed"))), "No. (out_of_range, bei seed)");
    }
}
