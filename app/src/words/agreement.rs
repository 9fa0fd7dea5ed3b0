//! Whether back ends reached the same accuracy. In English as the crate `results` says it, which a test holds this to.

use results::comparison::{Agreement, Basis, Evidence, Obstacle, Pair};

use crate::t;
use crate::text::number;

/// A verdict, as a sentence without its stop.
pub fn agreement(of: &Agreement) -> String {
    match of {
        Agreement::Agree { evidence } => nothing_found(evidence),
        Agreement::Disagree { evidence, pairs } => t!(
            agreement_disagree,
            subject = subject(evidence),
            pairs = pairs.iter().map(pair).collect::<Vec<_>>().join(", "),
            spread = spread(evidence),
            allowed = points(evidence.allowed_difference)
        ),
        Agreement::Unclear { evidence } => t!(agreement_unclear, nothing_found = nothing_found(evidence)),
        Agreement::NotCompared { obstacle } => t!(agreement_not_compared, obstacle = why_not(*obstacle)),
    }
}

fn pair(of: &Pair) -> String {
    t!(agreement_pair, higher = of.higher.to_string(), difference = points(of.difference), lower = of.lower.to_string())
}

fn why_not(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::TooFewBackEnds => t!(agreement_too_few),
        Obstacle::NoCommonSeed => t!(agreement_no_common_seed),
        Obstacle::NoCommonStep => t!(agreement_no_common_step),
    }
}

fn subject(evidence: &Evidence) -> String {
    if evidence.is_final {
        t!(agreement_final).to_owned()
    } else {
        t!(agreement_after_step, step = evidence.step.to_string())
    }
}

fn spread(evidence: &Evidence) -> String {
    match evidence.basis {
        Basis::Seeds => t!(agreement_spread_of_seeds, seeds = evidence.seeds.len()),
        Basis::TestSamples => t!(agreement_sampling_error, samples = evidence.test_samples.to_string()),
    }
}

fn nothing_found(evidence: &Evidence) -> String {
    t!(
        agreement_nothing_found,
        subject = subject(evidence),
        allowed = points(evidence.allowed_difference),
        spread = spread(evidence),
        largest = points(evidence.largest_difference)
    )
}

/// A difference of shares, in points of percent.
fn points(difference: f64) -> String {
    t!(agreement_points, number = number(difference * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use results::Precision;
    use results::comparison::Contender;

    use super::*;
    use crate::words::{Language, speak};

    fn all() -> Vec<Agreement> {
        let contender = |name: &str| Contender { backend: name.to_owned(), precision: Precision::F32 };
        let evidence = |basis: Basis, is_final: bool| Evidence {
            basis,
            seeds: vec![1, 2, 3],
            step: 1200,
            is_final,
            test_samples: 10_000,
            spread: 0.002,
            largest_difference: 0.0123,
            allowed_difference: 0.0045,
            largest_same_seed_difference: 0.001,
        };
        let pair = || Pair { higher: contender("wgsl"), lower: contender("burn-wgpu"), difference: 0.0123 };
        let obstacles = [Obstacle::TooFewBackEnds, Obstacle::NoCommonSeed, Obstacle::NoCommonStep];
        let not_compared = obstacles.map(|obstacle| Agreement::NotCompared { obstacle });
        let judged = [
            Agreement::Agree { evidence: evidence(Basis::Seeds, true) },
            Agreement::Agree { evidence: evidence(Basis::TestSamples, false) },
            Agreement::Disagree { evidence: evidence(Basis::Seeds, true), pairs: vec![pair(), pair()] },
            Agreement::Unclear { evidence: evidence(Basis::TestSamples, false) },
        ];
        judged.into_iter().chain(not_compared).collect()
    }

    #[test]
    fn every_verdict_is_in_english_as_the_results_say_it_and_otherwise_in_german() {
        for of in all() {
            assert_eq!(agreement(&of), of.to_string());
            speak(Language::German);
            assert_ne!(agreement(&of), of.to_string());
            assert!(!agreement(&of).contains("1.23 "), "{}", agreement(&of));
            speak(Language::English);
        }
    }
}
