use results::api::ErrorBody;

/// What a leaderboard, or whatever is in its place, did instead of what it was asked to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum LeaderboardError {
    #[error("the leaderboard at {leaderboard} cannot be reached ({reason}); is it running, and is the address right?")]
    Unreachable { leaderboard: String, reason: String },
    #[error(
        "the leaderboard at {leaderboard} did not answer within {seconds} s; try again later, or give it longer with --upload-timeout"
    )]
    TimedOut { leaderboard: String, seconds: f64 },
    #[error("{leaderboard} sends its visitors on to {to}; give the leaderboard's own address")]
    Redirected { leaderboard: String, to: String },
    #[error("the leaderboard refused: {message} ({details})")]
    Refused { message: String, details: String, status: u16 },
    #[error("the leaderboard at {leaderboard} failed with status {status}; this is not your fault: try again later")]
    Broken { leaderboard: String, status: u16 },
    #[error(
        "the leaderboard at {leaderboard} serves no {file} as it was published: fetch from another, or make it with \
         `cargo xtask data` in a checkout of Gradmark"
    )]
    NoData { leaderboard: String, file: String },
    #[error("{leaderboard} refuses the record as too large")]
    TooLarge { leaderboard: String },
    #[error("{leaderboard} does not answer like a Gradmark leaderboard: it sent {found}; is the address right?")]
    NotALeaderboard { leaderboard: String, found: String },
}

impl LeaderboardError {
    pub(super) fn refused(body: &ErrorBody, status: u16) -> Self {
        let code = clean(&body.code);
        let details = match &body.field {
            Some(field) => format!("{code} in {}, status {status}", clean(field)),
            None => format!("{code}, status {status}"),
        };
        Self::Refused { message: clean(body.message.trim_end_matches('.')), details, status }
    }

    /// Returns true if repeating the call may succeed, because it was lost or the server had a temporary problem.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Broken { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 408,
            Self::Redirected { .. } | Self::NoData { .. } | Self::TooLarge { .. } | Self::NotALeaderboard { .. } => {
                false
            }
        }
    }
}

/// Text from elsewhere as it may be shown in a terminal: no control characters, and not endless.
pub(crate) fn clean(text: &str) -> String {
    const LONGEST: usize = 500;
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = visible.take(LONGEST + 1).collect();
    if shown.chars().count() > LONGEST {
        shown.pop();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_code_field_and_status() {
        let body = ErrorBody {
            code: "out_of_range".to_owned(),
            message: "The batch size must be at least 1.".to_owned(),
            field: Some("workloads[0].settings.batch_size".to_owned()),
        };
        assert_eq!(
            LeaderboardError::refused(&body, 422).to_string(),
            "the leaderboard refused: The batch size must be at least 1 \
             (out_of_range in workloads[0].settings.batch_size, status 422)"
        );
    }

    #[test]
    fn a_server_cannot_send_commands_to_the_terminal() {
        assert_eq!(clean("\u{1b}[2Jgone\n"), " [2Jgone ");
        assert_eq!(clean(&"a".repeat(10_000)).chars().count(), 501);
    }
}
