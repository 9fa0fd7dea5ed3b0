//! What is chosen, in few words, and what it costs.

use results::Precision;
use training_worker::Limit;

use super::RunOptions;
use crate::bundle::Bundle;
use crate::t;
use crate::text;
use crate::words::{language, network};

/// Bytes of images on the GPU, of the sets whose size matters. The engine's own list would make the page larger.
const DATA_BYTES: [(&str, u64); 2] = [("mnist", 70_000 * 784), ("cifar10", 60_000 * 3072)];

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

    /// Whatever decides how long a network takes, to compare runs by.
    pub fn pace(&self) -> String {
        let elsewhere = ["suite", "workload", "seed", "seeds", "compare", "autostart", "backend"];
        let pairs = self.pairs().into_iter().filter(|(name, _)| !elsewhere.contains(name));
        let backend = [("backend", self.backend.name().to_owned())].into_iter();
        backend.chain(pairs).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    /// Bytes that the GPU is asked for, of the network that needs most, as far as its layers say; nothing where the
    /// processor computes.
    pub fn memory_bytes(&self) -> Option<u64> {
        let networks = self.networks();
        let of = |name: &String| {
            let workload = engine::workload(name)?;
            let of_network = workload.bytes_of_network(self.batch_size.unwrap_or(workload.batch_size)).ok()?;
            let data = DATA_BYTES.iter().find(|(set, _)| *set == workload.data_set);
            Some(of_network + data.map_or(0, |(_, bytes)| *bytes))
        };
        networks.iter().filter_map(of).max().filter(|_| self.backend.uses_webgpu())
    }

    /// What a run costs: how long it took in this browser the last time, or else time at most, apart from checks and tests;
    /// what is fetched before, of that the back end's bundle where it has one; and memory.
    pub fn cost(&self, bundle: Option<&Bundle>, last_seconds: Option<f64>) -> String {
        let networks = self.networks();
        let minutes = (networks.len() as f64 * self.suite().training_seconds / 60.0).ceil();
        let time = if let Some(seconds) = last_seconds {
            t!(settings_last_time, time = text::about(seconds))
        } else if minutes <= 1.0 {
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
        let memory = self.memory_bytes().map(|bytes| t!(settings_memory, size = text::rounded_size(bytes)));
        [Some(cost.as_str()), memory.as_deref(), rank].into_iter().flatten().collect::<Vec<_>>().join(" ")
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
    fn runs_of_one_pace_differ_in_seed_and_networks_only() {
        let pace =
            |query: &[(&'static str, &'static str)]| RunOptions::from_pairs(query.iter().copied()).unwrap().pace();
        assert_eq!(pace(&[("workload", "caffe-mnist"), ("seed", "7"), ("suite", "complete")]), pace(&[]));
        for other in
            [("batch", "8"), ("steps", "3"), ("precision", "f16"), ("backend", "burn-wgpu"), ("without", "f16")]
        {
            assert_ne!(pace(&[other]), pace(&[]), "{other:?}");
        }
    }

    #[test]
    fn memory_is_that_of_the_layers_and_the_data() {
        for make in engine::WORKLOADS {
            let workload = make();
            let options = RunOptions { workloads: vec![workload.name.to_owned()], ..RunOptions::default() };
            let whole = workload.bytes_of_layers(workload.batch_size).unwrap();
            let generated = engine::data_set(workload.data_set).unwrap().origin.is_always_generated();
            // Stories are small, and generated images are no network's of a suite.
            let difference = whole - options.memory_bytes().unwrap();
            assert!(generated || difference < 10_000_000, "{}: {difference} bytes are missing", workload.name);
        }
        assert_eq!(RunOptions::default().with_backend(PageBackend::BurnFlex).memory_bytes(), None);
    }

    #[test]
    fn what_is_chosen_and_what_it_costs() {
        let quick = RunOptions::default();
        assert_eq!(quick.summary(), "quick suite, 2 of them");
        let cost = "About a minute; fetches 11 MB of handwritten digits the first time. Takes about 80 MB of the GPU's memory.";
        assert_eq!(quick.cost(None, None), cost);
        let cost = quick.cost(None, Some(71.0));
        assert!(cost.starts_with("About 75 s, as the last time in this browser; fetches 11 MB"), "{cost}");
        let complete = quick.clone().with_suite(engine::suite("complete").unwrap());
        let cost_of_all = complete.cost(None, None);
        assert!(cost_of_all.starts_with("8 minutes") && cost_of_all.contains("and 170 MB"), "{cost_of_all}");
        let stories = quick.with_network("keras-babi-rnn", true);
        assert_eq!(stories.summary(), "3 chosen");
        let stories = stories.with_network("keras-mnist-mlp", false).with_network("caffe-mnist", false);
        assert_eq!(stories.summary(), text::workload_title("keras-babi-rnn"));
        let cost = stories.cost(None, None);
        assert!(cost.starts_with("About a minute; makes up its stories itself. Takes about "), "{cost}");
        assert!(cost.ends_with(" MB of the GPU's memory. Only whole suites are ranked."), "{cost}");
        let burn =
            BurnState::parse(r#"{"state":"ready","folder":"burn-1","compressed_bytes":3440000,"bytes":12000000}"#);
        assert_eq!(stories.cost(burn.bundle(), None), cost);
        let by_burn = stories.with_backend(PageBackend::BurnFlex).cost(burn.bundle(), None);
        assert!(by_burn.starts_with("About a minute; fetches 3.4 MB of Burn the first time. Only"), "{by_burn}");
    }
}
