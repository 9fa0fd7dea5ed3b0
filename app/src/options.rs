//! The options of a run: chosen on the page, or set in its address, for engineers and tests:
//! `?suite=complete` or `?workload=keras-mnist-mlp&seconds=5&batch=32&backend=burn-wgpu`.

mod address;
mod summary;

use engine::SuiteDefinition;
use engine::backends::Feature;
use results::Precision;
use training_worker::Limit;

use crate::backend::PageBackend;
use crate::supplies::Supplies;
use crate::text;

/// What to run and how; by default a standard run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Name of the suite; none for the first.
    pub suite: Option<&'static str>,
    /// Workloads to run; empty for all of the suite.
    pub workloads: Vec<String>,
    pub batch_size: Option<u32>,
    pub limit: Option<Limit>,
    pub precision: Option<Precision>,
    /// What our kernels do without although the device has it.
    pub without: Vec<Feature>,
    pub backend: PageBackend,
    /// What is compared; none for [`PageBackend::COMPARED`].
    pub compared: Vec<PageBackend>,
    /// From how many seeds each of those trains; none for one.
    pub seeds: Option<u32>,
}

impl RunOptions {
    /// Names that mean something in the address.
    pub const NAMES: [&str; 11] = [
        "suite",
        "workload",
        "batch",
        "epochs",
        "steps",
        "seconds",
        "precision",
        "without",
        "backend",
        "compare",
        "seeds",
    ];

    /// Reads decoded pairs of name and value. Names that mean nothing here are left alone.
    ///
    /// # Errors
    /// A sentence that names the setting at fault and what it may be.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut options = Self::default();
        for (name, value) in pairs {
            match name {
                "suite" => options.suite = Some(address::suite(value)?),
                "workload" => options.workloads = address::workloads(value)?,
                "batch" => options.batch_size = Some(address::positive(name, value)?),
                "epochs" => options.limit_once(Limit::Epochs(address::positive(name, value)?))?,
                "steps" => options.limit_once(Limit::Steps(u64::from(address::positive(name, value)?)))?,
                "seconds" => options.limit_once(Limit::Seconds(address::seconds(value)?))?,
                "precision" => options.precision = Some(address::precision(value)?),
                "without" => options.without = address::features(value)?,
                "backend" => options.backend = address::backend(value)?,
                "compare" => options.compared = address::compared(value)?,
                "seeds" => options.seeds = Some(address::seeds(value)?),
                _ => {}
            }
        }
        Ok(options)
    }

    pub fn suite(&self) -> &'static SuiteDefinition {
        self.suite.and_then(engine::suite).unwrap_or(&engine::SUITES[0])
    }

    /// Names of the networks that are chosen.
    pub fn networks(&self) -> Vec<String> {
        if self.workloads.is_empty() {
            self.suite().workloads.iter().map(|&name| name.to_owned()).collect()
        } else {
            self.workloads.clone()
        }
    }

    /// The back ends of a comparison, in the order in which they train.
    pub fn contenders(&self) -> Vec<PageBackend> {
        if self.compared.is_empty() { PageBackend::COMPARED.to_vec() } else { self.compared.clone() }
    }

    /// The seeds of a comparison: `first` and those after it.
    pub fn seeds_from(&self, first: u32) -> Vec<u32> {
        (0..self.seeds.unwrap_or(1)).map(|place| first.wrapping_add(place)).collect()
    }

    /// The chosen networks that the chosen back end cannot train as they are defined, and why.
    pub fn left_out(&self) -> Vec<(String, String)> {
        let reason = |name: &String| {
            let model = engine::workload(name)?.model;
            Some(engine::backends::unsupported(self.backend.name(), &model)?.to_string())
        };
        self.networks().into_iter().filter_map(|name| Some((name.clone(), reason(&name)?))).collect()
    }

    /// What a run is asked for: names of workloads, or nothing for all of the suite.
    pub fn trained(&self) -> Vec<String> {
        let left_out = self.left_out();
        if left_out.is_empty() {
            return self.workloads.clone();
        }
        self.networks().into_iter().filter(|name| left_out.iter().all(|(other, _)| other != name)).collect()
    }

    /// Why this cannot be run with what the server has.
    pub fn obstacle(&self, supplies: &Supplies) -> Option<String> {
        if let Some(why) = supplies.obstacle(self.backend) {
            return Some(format!("{} {why}.", self.backend.title()));
        }
        let lacking = |name: &String| Some((name.clone(), supplies.missing_for(name)?.title()));
        if let Some((name, data)) = self.networks().iter().find_map(lacking) {
            // A suite that lost some of its networks would not be that suite any more.
            let who = if self.workloads.is_empty() { text::suite(self.suite()) } else { text::workload_title(&name) };
            return Some(format!("{who} needs {data}, which is not on this server. Choose other networks."));
        }
        let left_out = self.left_out();
        let (name, reason) = left_out.first()?;
        (left_out.len() == self.networks().len())
            .then(|| format!("{} cannot train {}: {reason}.", self.backend.title(), text::workload_title(name)))
    }

    /// The same options on another back end.
    #[must_use]
    pub fn with_backend(self, backend: PageBackend) -> Self {
        Self { backend, ..self }
    }

    /// The same options for the whole of a suite.
    #[must_use]
    pub fn with_suite(self, suite: &'static SuiteDefinition) -> Self {
        Self { suite: Some(suite.name), workloads: Vec::new(), ..self }
    }

    /// The same options with this network chosen or not: the whole of a suite where one holds just these, and otherwise
    /// single networks. The last one stays.
    #[must_use]
    pub fn with_network(self, name: &str, chosen: bool) -> Self {
        let before = self.networks();
        let is_in = |other: &str| if other == name { chosen } else { before.iter().any(|known| known == other) };
        let all = engine::WORKLOADS.iter().map(|make| make().name);
        let networks: Vec<&str> = all.filter(|other| is_in(other)).collect();
        let same = |suite: &&SuiteDefinition| {
            suite.workloads.len() == networks.len() && suite.workloads.iter().all(|name| networks.contains(name))
        };
        match engine::SUITES.iter().find(same) {
            Some(suite) => self.with_suite(suite),
            None if networks.is_empty() => self,
            None => Self { workloads: networks.into_iter().map(str::to_owned).collect(), ..self },
        }
    }

    /// Whether a run with these options departs from the suite, so that it is shown and never ranked.
    pub fn non_standard(&self) -> bool {
        self.batch_size.is_some()
            || self.limit.is_some()
            || self.precision == Some(Precision::F16Matrix)
            || !self.without.is_empty()
            || !self.backend.is_provable()
            || !self.is_whole_suite()
    }

    /// Whether every network of the suite is trained, and no other.
    pub fn is_whole_suite(&self) -> bool {
        let (suite, networks) = (self.suite().workloads, self.networks());
        let same = suite.len() == networks.len() && suite.iter().all(|name| networks.iter().any(|other| other == name));
        same && self.left_out().is_empty()
    }

    fn limit_once(&mut self, limit: Limit) -> Result<(), String> {
        if self.limit.replace(limit).is_some() {
            return Err("Only one of epochs, steps and seconds can be asked for in the address.".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::BurnState;
    use crate::supplies;

    #[test]
    fn the_options_in_an_address_are_read() {
        let options =
            RunOptions::from_pairs([("workload", "keras-mnist-mlp"), ("batch", "32"), ("steps", "40")]).unwrap();
        let workloads = vec!["keras-mnist-mlp".to_owned()];
        let limit = Some(Limit::Steps(40));
        assert_eq!(options, RunOptions { workloads, batch_size: Some(32), limit, ..RunOptions::default() });
        assert!(options.non_standard());
        let half = RunOptions::from_pairs([("precision", "f16")]).unwrap();
        assert_eq!(half, RunOptions { precision: Some(Precision::F16), ..RunOptions::default() });
        assert!(!half.non_standard(), "f16 has a ranking of its own");
        assert!(!RunOptions::from_pairs([("precision", "f32")]).unwrap().non_standard());
        let less = RunOptions::from_pairs([("without", "subgroups, f16")]).unwrap();
        assert_eq!(less, RunOptions { without: vec![Feature::Subgroups, Feature::F16], ..RunOptions::default() });
        assert!(less.non_standard());
        let sentence = RunOptions::from_pairs([("without", "subgroups,wings")]).unwrap_err();
        assert!(sentence.contains("features of subgroups, f16"), "{sentence}");
    }

    #[test]
    fn an_address_without_settings_is_a_standard_run() {
        let options = RunOptions::from_pairs([("utm_source", "somewhere")]).unwrap();
        assert_eq!(options, RunOptions::default());
        assert!(!options.non_standard());
    }

    #[test]
    fn every_name_of_the_address_is_read() {
        for name in RunOptions::NAMES {
            assert!(RunOptions::from_pairs([(name, "no such thing")]).is_err(), "{name} is left alone");
        }
    }

    #[test]
    fn a_wrong_setting_is_named() {
        let message = |name, value| RunOptions::from_pairs([(name, value)]).unwrap_err();
        assert!(message("batch", "0").contains("batch must be a whole number"));
        assert!(message("seconds", "inf").contains("seconds must be above 0"));
        assert!(message("precision", "f64").contains("precision must be f16 or f32"));
        assert!(message("precision", "f16-matrix").contains("browsers do not offer matrix units"));
        assert!(message("backend", "burn-cuda").contains("wgsl, burn-wgpu, burn-flex"));
        let names = message("workload", "resnet");
        assert!(names.contains("keras-mnist-mlp, ") && names.contains(", caffe-mnist"), "{names}");
        assert!(message("suite", "huge").contains("quick, complete"));
        assert!(RunOptions::from_pairs([("steps", "1"), ("seconds", "1")]).is_err());
    }

    #[test]
    fn burn_and_frameworks_are_chosen_by_name_and_need_their_bundles() {
        let options = RunOptions::from_pairs([("backend", "burn-flex")]).unwrap();
        assert_eq!(options.backend, PageBackend::BurnFlex);
        assert!(!options.non_standard(), "a back end is no departure from a suite");
        assert_eq!(options.trained(), Vec::<String>::new());
        let framework = RunOptions::from_pairs([("backend", "tfjs-webgl")]).unwrap();
        assert!(framework.non_standard(), "nobody can prove what a framework computed");
        let sentence = framework.obstacle(&Supplies::default()).unwrap();
        assert_eq!(sentence, "TensorFlow.js on WebGL is being looked for on this server.");
        let obstacle = |text: &str| {
            let supplies = Supplies::default().with_burn(BurnState::parse(text));
            assert_eq!(options.clone().with_backend(PageBackend::Wgsl).obstacle(&supplies), None, "it needs no Burn");
            options.obstacle(&supplies)
        };
        let building = obstacle(r#"{"state":"building","note":"compiling Burn for the page"}"#).unwrap();
        assert_eq!(building, "Burn on the processor is being built: compiling Burn for the page.");
        let missing = obstacle(r#"{"state":"missing","note":"building Burn failed: no space left"}"#).unwrap();
        assert_eq!(missing, "Burn on the processor is not on this server: building Burn failed: no space left.");
        assert_eq!(obstacle(r#"{"state":"ready","folder":"burn-1","compressed_bytes":2,"bytes":3}"#), None);
    }

    #[test]
    fn a_suite_or_a_network_whose_data_is_missing_cannot_be_run_and_others_can() {
        let lacking = supplies::tests::without("cifar10");
        let quick = RunOptions::default();
        assert_eq!(quick.obstacle(&lacking), None, "it has handwritten digits only");
        let complete = quick.clone().with_suite(engine::suite("complete").unwrap());
        assert_eq!(
            complete.obstacle(&lacking).unwrap(),
            "The complete suite needs CIFAR-10, which is not on this server. Choose other networks."
        );
        let one = RunOptions::from_pairs([("workload", "keras-mnist-mlp,theano-cifar10")]).unwrap();
        let sentence = one.obstacle(&lacking).unwrap();
        assert!(
            sentence.starts_with(&format!("{} needs CIFAR-10", text::workload_title("theano-cifar10"))),
            "{sentence}"
        );
        assert_eq!(one.with_network("theano-cifar10", false).obstacle(&lacking), None);

        let lacking = supplies::tests::without("mnist");
        let sentence = quick.obstacle(&lacking).unwrap();
        assert!(sentence.starts_with("The quick suite needs MNIST"), "{sentence}");
        let stories = RunOptions::from_pairs([("workload", "keras-babi-rnn")]).unwrap();
        assert_eq!(stories.obstacle(&lacking), None, "stories are made up by the page itself");
    }

    #[test]
    fn a_comparison_is_of_our_back_ends_from_one_seed_unless_the_address_says_otherwise() {
        let usual = RunOptions::default();
        assert_eq!(usual.contenders(), PageBackend::COMPARED);
        assert_eq!(usual.seeds_from(7), [7]);
        let options = RunOptions::from_pairs([("compare", "burn-flex, wgsl"), ("seeds", "3")]).unwrap();
        assert_eq!(options.contenders(), [PageBackend::Wgsl, PageBackend::BurnFlex]);
        assert_eq!(options.seeds_from(u32::MAX), [u32::MAX, 0, 1]);
        assert!(!options.non_standard(), "a comparison is never uploaded, and the button beside it is as it was");
        for (name, value, says) in [
            ("compare", "wgsl", "two or more of wgsl, burn-wgpu, burn-flex"),
            ("compare", "wgsl,wgsl", "two or more of"),
            ("compare", "wgsl,burn-cuda", "no back end named “burn-cuda”"),
            ("seeds", "0", "from 1 to 10"),
            ("seeds", "11", "from 1 to 10"),
        ] {
            let sentence = RunOptions::from_pairs([(name, value)]).unwrap_err();
            assert!(sentence.contains(says), "{sentence}");
        }
    }

    #[test]
    fn every_network_of_the_page_is_trained_by_every_back_end() {
        let all = RunOptions::default().with_suite(engine::suite("complete").unwrap());
        for backend in PageBackend::ALL {
            assert_eq!(all.clone().with_backend(backend).left_out(), Vec::new(), "{backend:?}");
        }
    }

    #[test]
    fn networks_are_chosen_one_by_one_or_as_a_suite() {
        let options = RunOptions::default();
        assert_eq!(options.networks(), ["keras-mnist-mlp", "caffe-mnist"]);
        let three = options.with_network("keras-babi-rnn", true);
        assert_eq!(three.networks(), ["keras-mnist-mlp", "keras-babi-rnn", "caffe-mnist"]);
        assert_eq!((three.suite().name, three.workloads.len()), ("quick", 3));
        // What is a suite again counts as the suite.
        let two = three.with_network("keras-babi-rnn", false);
        assert!(two.workloads.is_empty() && two.suite().name == "quick", "{two:?}");
        let one = two.with_network("caffe-mnist", false);
        assert_eq!(one.networks(), ["keras-mnist-mlp"]);
        assert_eq!(one.clone().with_network("keras-mnist-mlp", false), one, "the last one stays");
        let all = one.with_suite(engine::suite("complete").unwrap());
        assert_eq!(all.networks().len(), engine::suite("complete").unwrap().workloads.len());
        assert_eq!(RunOptions::from_pairs([("suite", "complete")]).unwrap(), all);
    }
}
