//! What is kept of why a workload failed.

use results::{FailureCause, Outcome};

fn reason(message: &str) -> String {
    let Outcome::Failed { reason, .. } = Outcome::failed(FailureCause::DeviceRefused, message) else {
        unreachable!("it failed")
    };
    reason
}

#[test]
fn a_drivers_long_message_becomes_one_plain_line() {
    assert_eq!(
        reason("Validation Error\n\nCaused by:\n  In a pass\u{202e}\u{1b}[31m"),
        "Validation Error Caused by: In a pass [31m"
    );
    assert_eq!(reason(&"显".repeat(300)), "显".repeat(300));
    assert_eq!(reason(&"显".repeat(301)), "显".repeat(299) + "…");
    assert_eq!(reason("x ".repeat(10_000).as_str()).chars().count(), Outcome::MOST_REASON_CHARACTERS);
}

#[test]
fn it_is_written_with_its_cause() {
    let written = serde_json::to_string(&Outcome::failed(FailureCause::DoesNotFit, "too large")).unwrap();
    assert_eq!(written, r#"{"kind":"failed","cause":"does_not_fit","reason":"too large"}"#);
}
