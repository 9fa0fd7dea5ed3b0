//! What is chosen, in few words, and what it costs.

use results::Precision;
use training_worker::Limit;

use super::RunOptions;
use crate::bundle::Bundle;
use crate::t;
use crate::text;
use crate::words::{language, network};

impl RunOptions {
    /// What is chosen, in few words.
    pub fn summary(&self) -> String {
        let networks = self.networks();
        match (self.workloads.is_empty(), networks.as_slice()) {
            (true, _) => {
                t!(settings_summary_suite, suite = network::suite_inside(self.suite().name), networks = networks.len())
            }
            (false, [one]) => text::workload_title(one),
            (false, several) => t!(settings_summary_chosen, networks = several.len()),
        }
    }

    /// What differs from the suite, each in few words; the networks and the back end are not among it.
    pub fn departures(&self) -> Vec<String> {
        let mut parts = Vec::new();
        parts.extend(self.batch_size.map(|size| t!(settings_batch_size, size = size.to_string())));
        parts.extend(
            self.learning_rate.map(|rate| t!(settings_learning_rate, rate = language().number(&rate.to_string()))),
        );
        parts.extend(
            self.precision.filter(|of| *of != Precision::F32).map(|of| t!(settings_precision, precision = of.name())),
        );
        parts.extend((!self.without.is_empty()).then(|| {
            let names = self.without.iter().map(|feature| feature.name().to_owned());
            let names = names.reduce(|some, other| t!(supplies_and, some = some, other = other));
            t!(settings_without, features = names.unwrap_or_default())
        }));
        parts.extend(self.limit.map(|limit| match limit {
            Limit::Epochs(epochs) => t!(common_epochs, number = u64::from(epochs)),
            Limit::Steps(steps) => t!(common_steps, number = steps),
            Limit::Seconds(seconds) => t!(settings_seconds, seconds = language().number(&seconds.to_string())),
        }));
        parts.extend(self.seed.map(|seed| t!(settings_seed, seed = seed.to_string())));
        parts
    }

    /// Why a run is shown and never ranked, where that is so.
    pub fn consequence(&self) -> Option<String> {
        let mut reasons = self.departures();
        reasons.extend((!self.backend.is_provable()).then(|| t!(settings_back_end, backend = self.backend.title())));
        reasons.extend((!self.is_whole_suite()).then(|| t!(settings_no_whole_suite).to_owned()));
        let reasons = reasons.join(", ");
        self.non_standard().then(|| t!(settings_consequence, reasons = reasons))
    }

    /// What a run costs: time at most, apart from checks and tests, and what is fetched before, of that the back end's
    /// bundle where it has one.
    pub fn cost(&self, bundle: Option<&Bundle>) -> String {
        let networks = self.networks();
        let minutes = (networks.len() as f64 * self.suite().training_seconds / 60.0).ceil();
        let time = if minutes <= 1.0 {
            t!(settings_a_minute).to_owned()
        } else {
            t!(settings_minutes, minutes = text::number(minutes, 0))
        };
        let uses = |prefix: &str| {
            let sets = networks.iter().filter_map(|name| engine::workload(name)).map(|workload| workload.data_set);
            sets.into_iter().any(|set| set.starts_with(prefix))
        };
        // As the server compresses them.
        let mut fetched: Vec<String> = [("mnist", t!(settings_digits)), ("cifar10", t!(settings_photographs))]
            .into_iter()
            .filter(|(set, _)| uses(set))
            .map(|(_, what)| what.to_owned())
            .collect();
        let of = |of: &str| Some(t!(settings_bundle, size = text::megabytes(bundle?.compressed_bytes), what = of));
        fetched.extend(self.backend.maker().fetched().and_then(of));
        let rank = match (self.backend.is_provable(), self.is_whole_suite()) {
            (false, _) => Some(t!(settings_frameworks_not_ranked)),
            (true, false) => Some(t!(settings_only_suites_ranked)),
            (true, true) => None,
        };
        let what = fetched.into_iter().reduce(|some, other| t!(supplies_and, some = some, other = other));
        let cost = match what {
            None => t!(settings_no_fetch, time = time),
            Some(what) => t!(settings_fetch, time = time, what = what),
        };
        [Some(cost.as_str()), rank].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::PageBackend;
    use crate::bundle::BurnState;

    #[test]
    fn whatever_makes_a_run_non_standard_is_named() {
        let consequence = |name, value| RunOptions::from_pairs([(name, value)]).unwrap().consequence();
        assert_eq!(RunOptions::default().consequence(), None);
        assert_eq!(consequence("precision", "f16"), None, "it has a ranking of its own");
        for (name, value, says) in [
            ("batch", "32", "batch size 32"),
            ("learning-rate", "0.05", "learning rate 0.05"),
            ("without", "f16", "no use of f16"),
            ("steps", "1", "1 step"),
            ("epochs", "3", "3 epochs"),
            ("seed", "7", "seed 7"),
            ("workload", "caffe-mnist", "not a whole suite"),
            ("backend", "jax-js-wasm", "jax-js on the processor as the back end"),
        ] {
            let sentence = consequence(name, value).unwrap();
            assert!(sentence.contains(says) && sentence.contains("never ranked"), "{sentence}");
        }
    }

    #[test]
    fn what_is_chosen_and_what_it_costs() {
        let quick = RunOptions::default();
        assert_eq!(quick.summary(), "quick suite, 2 of them");
        assert_eq!(quick.cost(None), "About a minute; fetches 11 MB of handwritten digits the first time.");
        let complete = quick.clone().with_suite(engine::suite("complete").unwrap());
        let cost_of_all = complete.cost(None);
        assert!(cost_of_all.starts_with("8 minutes") && cost_of_all.contains("and 170 MB"), "{cost_of_all}");
        let stories = quick.with_network("keras-babi-rnn", true);
        assert_eq!(stories.summary(), "3 chosen");
        let stories = stories.with_network("keras-mnist-mlp", false).with_network("caffe-mnist", false);
        assert_eq!(stories.summary(), text::workload_title("keras-babi-rnn"));
        let cost = "About a minute; makes up its stories itself. Only whole suites are ranked.";
        assert_eq!(stories.cost(None), cost);
        let burn =
            BurnState::parse(r#"{"state":"ready","folder":"burn-1","compressed_bytes":3440000,"bytes":12000000}"#);
        assert_eq!(stories.cost(burn.bundle()), cost);
        let by_burn = stories.with_backend(PageBackend::BurnFlex).cost(burn.bundle());
        assert!(by_burn.starts_with("About a minute; fetches 3.4 MB of Burn the first time."), "{by_burn}");
    }
}
