use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::doctor::circumstances::Severity::{Fine, Note, Problem, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis};
use crate::leaderboard::LeaderboardClient;

const TIMEOUT_SECONDS: f64 = 20.0;
/// Largest clock difference that whole seconds and network delay may cause.
const MAX_HARMLESS_SKEW_SECONDS: f64 = 5.0;

/// Uses the network only if an address was given.
pub(crate) fn examine_leaderboard(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let Some(address) = &circumstances.arguments.leaderboard else { return Vec::new() };
    let before = SystemTime::now();
    let answer = LeaderboardClient::new(address.clone(), TIMEOUT_SECONDS).about();
    let after = SystemTime::now();
    match answer {
        Err(error) => {
            let text = error.to_string();
            let mut letters = text.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            // The error includes advice if there is more to do.
            let finding = Diagnosis::new(Problem, "leaderboard", first.chain(letters).chain(['.']).collect::<String>())
                .with_advice("Open the address in a browser; it should show Gradmark's page.");
            vec![finding.with_details(json!({ "address": address.to_string(), "reachable": false }))]
        }
        Ok((version, time)) => {
            let mut findings = vec![judge_version(&address.to_string(), &version)];
            findings.extend(time.map(|time| judge_clock(skew_seconds(before, after, time))));
            findings
        }
    }
}

fn judge_version(address: &str, version: &str) -> Diagnosis {
    let own = env!("CARGO_PKG_VERSION");
    let sentence = format!("The leaderboard at {address} answers with version {version}.");
    let advice = "If an upload is refused because of its layout, update the older program.";
    Diagnosis::new(Fine, "leaderboard", sentence)
        .raised_if(version != own, Note, &format!("This program has version {own}."), advice)
        .with_details(json!({ "address": address, "reachable": true, "version": version }))
}

/// Returns the seconds that this machine's clock is ahead of the server's, which was read between `before` and `after`
/// in whole seconds; 0 if delay and rounding explain the difference.
fn skew_seconds(before: SystemTime, after: SystemTime, theirs: SystemTime) -> f64 {
    let further = |ours: SystemTime, theirs: SystemTime| ours.duration_since(theirs).map(|by| by.as_secs_f64()).ok();
    let latest = theirs + Duration::from_secs(1);
    further(before, latest).or_else(|| further(theirs, after).map(|seconds| -seconds)).unwrap_or(0.0)
}

fn judge_clock(skew_seconds: f64) -> Diagnosis {
    let details = json!({ "skew_seconds": skew_seconds });
    let finding = if skew_seconds.abs() > MAX_HARMLESS_SKEW_SECONDS {
        let direction = if skew_seconds > 0.0 { "ahead of" } else { "behind" };
        let sentence = format!("This machine's clock is {:.0} s {direction} the leaderboard's.", skew_seconds.abs());
        Diagnosis::new(Warning, "clock", sentence)
            .with_advice("Set it (`sudo timedatectl set-ntp true`): records contain the start of the run.")
    } else {
        Diagnosis::new(Fine, "clock", "This machine's clock agrees with the leaderboard's.")
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn clock_skew_excludes_rounding_and_network_delay() {
        let at = |seconds: f64| UNIX_EPOCH + Duration::from_secs_f64(seconds);
        let skew = |before: f64, after: f64, theirs: f64| skew_seconds(at(before), at(after), at(theirs));
        for (before, after, theirs, expected) in [
            (1000.2, 1000.4, 1000.0, 0.0),
            (1000.9, 1003.0, 1002.0, 0.0),
            (1100.0, 1100.5, 1000.0, 99.0),
            (900.0, 901.0, 1000.0, -99.0),
        ] {
            assert_eq!(skew(before, after, theirs), expected, "{before} {theirs}");
        }
        assert_eq!(judge_clock(0.0).severity, Fine);
        let behind = judge_clock(-99.0);
        assert!(behind.severity == Warning && behind.sentence.contains("99 s behind"), "{behind:?}");
    }
}
