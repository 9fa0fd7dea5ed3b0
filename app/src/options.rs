//! Options of a run, selected on the page or, for engineers and tests, set in its URL:
//! `?suite=complete` or `?workload=keras-mnist-mlp&seconds=5&batch=32&backend=burn-wgpu`.

use std::num::NonZero;
use std::str::FromStr;

use engine::{AdapterChoice, SuiteDefinition};
use results::{Departure, FailureCause, Feature, Length, Positive, Precision, RunSpec, SeedSource};

use crate::backend::PageBackend;
use crate::forecast::ForecastLimits;
use crate::own_runs::OwnRuns;
use crate::supplies::{Bundle, Supplies};
use crate::words::remarks::{departure, failure_of_workload};
use crate::{t, text};

/// URL parameter for the language, on every page.
pub const LANGUAGE: &str = "language";

/// Options of a run. The default is a standard run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Name of the suite; `None` for the first one.
    pub suite: Option<&'static str>,
    /// Workloads to run; empty for all of the suite.
    pub workloads: Vec<String>,
    pub batch_size: Option<u32>,
    pub length: Option<Length>,
    pub precision: Option<Precision>,
    /// Features that our kernels do not use although the device has them.
    pub without: Vec<Feature>,
    pub backend: PageBackend,
    /// Compared backends; empty for [`PageBackend::COMPARED`].
    pub compared: Vec<PageBackend>,
    /// Number of seeds for each compared backend; `None` for one.
    pub seeds: Option<u32>,
    /// Fixed seed. Such a run is not registered, and never ranked.
    pub seed: Option<u32>,
    pub learning_rate: Option<f64>,
    pub autostart: bool,
}

impl RunOptions {
    pub const NAMES: [&str; 14] = [
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
        "seed",
        "learning-rate",
        "autostart",
    ];

    /// Parses decoded pairs of name and value. Unknown names are ignored; [`RunOptions::unknown`] finds them.
    ///
    /// # Errors
    /// A sentence that names the wrong setting and its possible values.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, impl AsRef<str>)>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut seen = Vec::new();
        for (name, value) in pairs {
            if Self::NAMES.contains(&name) && seen.contains(&name) {
                return Err(t!(settings_once, names = name));
            }
            seen.push(name);
            options.read(name, value.as_ref())?;
        }
        Ok(options)
    }

    /// Reads the settings that can be parsed, and ignores the others. The run does not start automatically.
    pub fn from_right_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, impl AsRef<str>)>) -> Self {
        let options = pairs.into_iter().fold(Self::default(), |before, (name, value)| {
            let mut options = before.clone();
            if options.read(name, value.as_ref()).is_ok() { options } else { before }
        });
        Self { autostart: false, ..options }
    }

    fn read(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "suite" => {
                let known: Vec<_> = engine::SUITES.iter().map(|suite| suite.name).collect();
                self.suite = Some(one_of(name, &known, value)?);
            }
            "workload" => {
                let known: Vec<_> = engine::WORKLOADS.iter().map(|make| make().name).collect();
                self.workloads = several_of(name, &known, value)?.into_iter().map(str::to_owned).collect();
            }
            "batch" => self.batch_size = Some(whole(name, value, 1, u32::MAX)?),
            "epochs" => self.length_once(Length::Epochs(positive(name, value)?))?,
            "steps" => self.length_once(Length::Steps(positive(name, value)?.into()))?,
            "seconds" => {
                let expected = t!(settings_positive_up_to, most = MAX_SECONDS.to_string());
                let fits = |seconds: &Positive| seconds.get() <= f64::from(MAX_SECONDS);
                self.length_once(Length::Seconds(number(name, value, &expected, fits)?))?;
            }
            // wgpu cannot request matrix units from a browser (docs/BROWSERS.md).
            "precision" if value == Precision::F16Matrix.name() => return Err(t!(settings_no_matrices).to_owned()),
            "precision" => {
                let known = [Precision::F16, Precision::F32].map(Precision::name);
                self.precision = Precision::named(one_of(name, &known, value)?);
            }
            "without" => {
                let chosen = several_of(name, &Feature::ALL.map(Feature::name), value)?;
                self.without = chosen.into_iter().filter_map(Feature::named).collect();
            }
            "backend" => {
                let chosen = one_of(name, &PageBackend::ALL.map(PageBackend::name), value)?;
                self.backend = PageBackend::named(chosen).unwrap_or_default();
            }
            "compare" => {
                let known = PageBackend::ALL.map(PageBackend::name);
                let chosen = several_of(name, &known, value)?;
                self.compared = PageBackend::ALL.into_iter().filter(|of| chosen.contains(&of.name())).collect();
                if self.compared.len() < 2 {
                    return Err(wrong(name, &t!(settings_two_of, known = known.join(", ")), value));
                }
            }
            "seeds" => self.seeds = Some(whole(name, value, 1, MAX_SEEDS)?),
            "seed" => self.seed = Some(whole(name, value, 0, u32::MAX)?),
            "learning-rate" => {
                let fits = |rate: &f64| *rate > 0.0 && rate.is_finite();
                self.learning_rate = Some(number(name, value, t!(settings_positive), fits)?);
            }
            "autostart" => self.autostart = matches!(one_of(name, &["1", "0", "true", "false"], value)?, "1" | "true"),
            _ => {}
        }
        Ok(())
    }

    /// Differences from a standard run, as names and values that [`RunOptions::from_pairs`] reads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let names = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(","));
        let length = self.length.map(|length| match length {
            Length::Epochs(epochs) => ("epochs", epochs.to_string()),
            Length::Steps(steps) => ("steps", steps.to_string()),
            Length::Seconds(seconds) => ("seconds", seconds.to_string()),
        });
        let backend = Some(self.backend).filter(|backend| *backend != PageBackend::default());
        let parts = [
            ("suite", self.suite.filter(|name| *name != engine::SUITES[0].name).map(str::to_owned)),
            ("workload", names(self.workloads.iter().map(String::as_str).collect())),
            ("batch", self.batch_size.map(|size| size.to_string())),
            ("precision", self.precision.map(|precision| precision.name().to_owned())),
            ("without", names(self.without.iter().map(|feature| feature.name()).collect())),
            ("backend", backend.map(|backend| backend.name().to_owned())),
            ("compare", names(self.compared.iter().map(|backend| backend.name()).collect())),
            ("seeds", self.seeds.map(|seeds| seeds.to_string())),
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("learning-rate", self.learning_rate.map(|rate| rate.to_string())),
            ("autostart", self.autostart.then(|| "1".to_owned())),
        ];
        parts.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(length).collect()
    }

    /// Returns the pairs as a URL query with its question mark; empty for a standard run. They need no encoding.
    pub fn query(&self) -> String {
        let pairs: Vec<String> = self.pairs().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// Returns the unknown names in a URL query.
    pub fn unknown(query: &str) -> Vec<&str> {
        let names = query.trim_start_matches('?').split('&').filter_map(|pair| pair.split('=').next());
        names.filter(|name| !name.is_empty() && *name != LANGUAGE && !Self::NAMES.contains(name)).collect()
    }

    /// Changes a setting, as in the URL. Empty text removes it.
    ///
    /// # Errors
    /// A sentence that names the wrong setting and its possible values.
    pub fn with_setting(self, name: &str, value: &str) -> Result<Self, String> {
        let mut changed = self;
        match name {
            "batch" => changed.batch_size = None,
            "epochs" | "steps" | "seconds" => changed.length = None,
            "precision" => changed.precision = None,
            "seed" => changed.seed = None,
            "learning-rate" => changed.learning_rate = None,
            _ => {}
        }
        let value = value.trim();
        if !value.is_empty() {
            changed.read(name, value)?;
        }
        Ok(changed)
    }

    pub fn spec(&self, random_seed: impl FnOnce() -> u32) -> RunSpec {
        RunSpec {
            suite: self.suite().name.to_owned(),
            workloads: self.trained(),
            backend: self.backend.name().to_owned(),
            adapter: AdapterChoice::Browser.to_string(),
            precision: self.precision.unwrap_or_default(),
            seed: self.seed.unwrap_or_else(random_seed),
            seed_source: if self.seed.is_some() { SeedSource::Chosen } else { SeedSource::Random },
            length: self.length,
            batch_size: self.batch_size,
            learning_rate: self.learning_rate,
            without: self.without.clone(),
            ..RunSpec::default()
        }
    }

    pub fn suite(&self) -> &'static SuiteDefinition {
        self.suite.and_then(engine::suite).unwrap_or(&engine::SUITES[0])
    }

    pub fn networks(&self) -> Vec<String> {
        if self.workloads.is_empty() {
            self.suite().workloads.iter().map(|&name| name.to_owned()).collect()
        } else {
            self.workloads.clone()
        }
    }

    /// Backends of a comparison, in training order: the selected ones, or by default the [`PageBackend::COMPARED`] ones
    /// that can train here, or all that can if there are too few.
    pub fn contenders(&self, can_train: impl Fn(PageBackend) -> bool) -> Vec<PageBackend> {
        if !self.compared.is_empty() {
            return self.compared.clone();
        }
        let usual: Vec<_> = PageBackend::COMPARED.into_iter().filter(|backend| can_train(*backend)).collect();
        let all = || PageBackend::ALL.into_iter().filter(|backend| can_train(*backend)).collect();
        if usual.len() > 1 { usual } else { all() }
    }

    pub fn with_contender(self, backend: PageBackend, chosen: bool, before: &[PageBackend]) -> Self {
        let is_in = |other: &PageBackend| if *other == backend { chosen } else { before.contains(other) };
        Self { compared: PageBackend::ALL.into_iter().filter(is_in).collect(), ..self }
    }

    /// Seeds of a comparison: `first` and the ones after it.
    pub fn seeds_from(&self, first: u32) -> Vec<u32> {
        (0..self.seeds.unwrap_or(1)).map(|place| first.wrapping_add(place)).collect()
    }

    /// Selected networks that the backend cannot train as defined, with the reasons.
    pub fn left_out(&self) -> Vec<(String, String)> {
        let left_out = |name: String| {
            let reason = self.backend.unsupported(&engine::workload(&name)?)?;
            Some((name, failure_of_workload(FailureCause::Unsupported, &reason)))
        };
        self.networks().into_iter().filter_map(left_out).collect()
    }

    pub fn left_out_sentences(&self) -> Vec<String> {
        let (backend, mut left_out) = (self.backend.title(), self.left_out());
        let mut sentences = Vec::new();
        while let Some((_, reason)) = left_out.first().cloned() {
            let same = left_out.extract_if(.., |(_, other)| *other == reason);
            let titles: Vec<_> = same.map(|(name, _)| text::workload_title(&name)).collect();
            sentences.push(t!(backend_cannot_train, backend, workload = titles.join("; "), reason));
        }
        sentences
    }

    /// Names of the workloads to train; empty for all of the suite.
    pub fn trained(&self) -> Vec<String> {
        let left_out = self.left_out();
        // A framework's program refuses the others itself, so that they are in the record with its reasons.
        if left_out.is_empty() || !self.backend.is_provable() {
            return self.workloads.clone();
        }
        self.networks().into_iter().filter(|name| left_out.iter().all(|(other, _)| other != name)).collect()
    }

    /// Returns the reason the server's supplies do not suffice for this run, if so.
    pub fn obstacle(&self, supplies: &Supplies) -> Option<String> {
        let backend = self.backend.title();
        let of_backend = supplies.obstacle(self.backend).map(|why| t!(backend_obstacle, backend, why));
        of_backend.or_else(|| self.lacking_data(supplies)).or_else(|| {
            let left_out = self.left_out();
            let (name, reason) = left_out.first().filter(|_| left_out.len() == self.networks().len())?;
            Some(t!(backend_cannot_train, backend, workload = text::workload_title(name), reason))
        })
    }

    /// Returns the reason no backend can train the networks, if data is missing.
    pub fn lacking_data(&self, supplies: &Supplies) -> Option<String> {
        let lacking = |name: &String| Some((name.clone(), text::data_set_title(&supplies.missing_for(name)?.name)));
        let (name, data) = self.networks().iter().find_map(lacking)?;
        // A suite without some of its networks would be a different suite.
        let of_suite = || t!(network_suite_sentence, suite = text::suite_inside(self.suite().name));
        let who = if self.workloads.is_empty() { of_suite() } else { text::workload_title(&name) };
        Some(t!(supplies_needs, who, data))
    }

    pub fn with_backend(self, backend: PageBackend) -> Self {
        Self { backend, ..self }
    }

    pub fn with_suite(self, suite: &'static SuiteDefinition) -> Self {
        Self { suite: Some(suite.name), workloads: Vec::new(), ..self }
    }

    /// Adds or removes a network, but not the last one. Exactly the networks of a suite become that suite.
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

    fn length_once(&mut self, length: Length) -> Result<(), String> {
        if self.length.replace(length).is_some() {
            return Err(t!(settings_once, names = "epochs/steps/seconds"));
        }
        Ok(())
    }
}

/// Limits of a run on the page. Larger values would keep a tab busy for hours.
const MAX_SEEDS: u32 = 10;
const MAX_SECONDS: u32 = 3600;

fn wrong(name: &str, expected: &str, value: &str) -> String {
    t!(settings_wrong, name, expected, value)
}

fn one_of(name: &str, known: &[&'static str], value: &str) -> Result<&'static str, String> {
    let found = known.iter().find(|known| **known == value.trim());
    found.copied().ok_or_else(|| wrong(name, &t!(settings_one_of, known = known.join(", ")), value))
}

fn several_of(name: &str, known: &[&'static str], value: &str) -> Result<Vec<&'static str>, String> {
    value.split(',').filter(|value| !value.trim().is_empty()).map(|value| one_of(name, known, value)).collect()
}

fn number<T: FromStr>(name: &str, value: &str, expected: &str, fits: impl Fn(&T) -> bool) -> Result<T, String> {
    value.parse().ok().filter(fits).ok_or_else(|| wrong(name, expected, value))
}

fn whole(name: &str, value: &str, least: u32, most: u32) -> Result<u32, String> {
    let expected = t!(settings_whole_number, least = least.to_string(), most = most.to_string());
    number(name, value, &expected, |number| (least..=most).contains(number))
}

fn positive(name: &str, value: &str) -> Result<NonZero<u32>, String> {
    Ok(NonZero::new(whole(name, value, 1, u32::MAX)?).unwrap_or(NonZero::<u32>::MIN))
}

impl RunOptions {
    pub fn summary(&self) -> String {
        let networks = self.networks();
        match networks.as_slice() {
            all if self.workloads.is_empty() => format!("{} ({})", text::suite_title(self.suite().name), all.len()),
            [one] => text::workload_title(one),
            several => several.len().to_string(),
        }
    }

    /// Differences from the suite, excluding networks and backend.
    pub fn departures(&self) -> Vec<String> {
        let batch_size = self.batch_size.map(|size| Departure::BatchSize { size });
        let rate = self.learning_rate.map(|rate| Departure::LearningRate { rate });
        let precision = self.precision.filter(|of| *of != Precision::F32);
        let precision = precision.map(|precision| Departure::Precision { precision });
        let without = self.without.iter().map(|&feature| Departure::Without { feature });
        let length = self.length.map(|length| Departure::Length { length });
        let of_suite = [batch_size, rate, precision].into_iter().flatten().chain(without).chain(length);
        let seed = self.seed.map(|seed| t!(settings_seed, seed = seed.to_string()));
        of_suite.map(|of| departure(&of)).chain(seed).collect()
    }

    /// Returns the reason the run is never ranked, if so. Runs in f16 are ranked.
    pub fn consequence(&self) -> Option<String> {
        let mut reasons = Self { precision: None, ..self.clone() }.departures();
        reasons.extend((!self.backend.is_provable()).then(|| self.backend.title().to_owned()));
        let (suite, networks) = (self.suite().workloads, self.networks());
        let same = suite.len() == networks.len() && suite.iter().all(|name| networks.iter().any(|other| other == name));
        let is_part = !same || !self.left_out().is_empty();
        reasons.extend(is_part.then(|| t!(settings_no_whole_suite).to_owned()));
        (!reasons.is_empty()).then(|| t!(settings_consequence, reasons = reasons.join(", ")))
    }

    /// Limits of each network's training, for the prediction of its time.
    pub fn limits(&self) -> ForecastLimits {
        let suite = self.suite();
        match self.length {
            Some(Length::Seconds(seconds)) => ForecastLimits { seconds: seconds.get(), ..ForecastLimits::NONE },
            Some(Length::Epochs(epochs)) => ForecastLimits { epochs: f64::from(epochs.get()), ..ForecastLimits::NONE },
            Some(Length::Steps(steps)) => ForecastLimits { steps: steps.get() as f64, ..ForecastLimits::NONE },
            None => {
                let (seconds, epochs) = (suite.training_seconds, f64::from(suite.epochs));
                ForecastLimits { seconds, epochs, ..ForecastLimits::NONE }
            }
        }
    }

    /// Settings that determine how long a network takes, as a key for comparing runs.
    pub fn pace(&self) -> String {
        let elsewhere = ["suite", "workload", "seed", "seeds", "compare", "autostart", "backend"];
        let pairs = self.pairs().into_iter().filter(|(name, _)| !elsewhere.contains(name));
        let backend = [("backend", self.backend.name().to_owned())].into_iter();
        backend.chain(pairs).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    /// Cost of a run: its last duration here, or else the maximum without checks and tests; new downloads; and memory.
    pub fn cost(&self, bundle: Option<&Bundle>, runs: &OwnRuns) -> String {
        let networks = self.networks();
        let minutes = (networks.len() as f64 * self.suite().training_seconds / 60.0).ceil();
        let time = if let Some(seconds) = runs.seconds(&networks, &self.pace()) {
            t!(settings_last_time, time = text::about(seconds))
        } else if minutes <= 1.0 {
            t!(settings_a_minute).to_owned()
        } else {
            t!(settings_minutes, minutes = text::number(minutes, 0))
        };
        let sets = || networks.iter().filter_map(|name| engine::workload(name)).map(|workload| workload.data_set);
        let uses = |prefix: &str| sets().any(|set| set.starts_with(prefix));
        // Size as compressed by the server.
        let mut fetched: Vec<String> = [("mnist", "11 MB"), ("cifar10", "170 MB"), ("moby-dick", "0.5 MB")]
            .into_iter()
            .filter(|(set, _)| uses(set) && !runs.has_fetched(set))
            .map(|(set, size)| format!("{size} ({})", text::data_set_title(set)))
            .collect();
        let of = |of: &str| Some(format!("{} ({of})", text::megabytes(bundle?.compressed_bytes)));
        fetched.extend(self.backend.maker().fetched().and_then(of));
        let what = fetched.join(" + ");
        let cost = if what.is_empty() { format!("{time}.") } else { t!(settings_fetch, time, what) };
        // GPU memory of the largest network and its data, estimated from its layers.
        let bytes = |name: &String| {
            let workload = engine::workload(name)?;
            workload.bytes_of_layers(self.batch_size.unwrap_or(workload.batch_size)).ok()
        };
        let largest = networks.iter().filter_map(bytes).max().filter(|_| self.backend.uses_webgpu());
        let Some(megabytes) = largest.map(|bytes| bytes as f64 / 1e6) else { return cost };
        let step = if megabytes < 100.0 { 10.0 } else { 100.0 };
        let size = text::number((megabytes / step).ceil() * step, 0) + " MB";
        format!("{cost} {}", t!(settings_memory, size))
    }
}

#[cfg(test)]
mod tests {
    use results::environment::distinct;

    use super::*;
    use crate::{own_runs, supplies};

    fn read(query: &str) -> Result<RunOptions, String> {
        RunOptions::from_pairs(query.split('&').filter_map(|pair| pair.split_once('=')))
    }

    fn options(query: &str) -> RunOptions {
        read(query).unwrap()
    }

    #[test]
    fn options_survive_round_trip_through_url() {
        let usual = RunOptions::default();
        assert_eq!((options("utm_source=somewhere"), usual.query()), (usual, String::new()));
        let text = "workload=keras-mnist-mlp,caffe-mnist&batch=32&precision=f16&without=subgroups,f16&backend=burn-flex\
                    &compare=wgsl,tfjs-webgpu&seeds=3&seed=7&learning-rate=0.05&autostart=1&seconds=2.5";
        let read = RunOptions {
            suite: None,
            workloads: vec!["keras-mnist-mlp".to_owned(), "caffe-mnist".to_owned()],
            batch_size: Some(32),
            length: Positive::new(2.5).map(Length::Seconds),
            precision: Some(Precision::F16),
            without: vec![Feature::Subgroups, Feature::F16],
            backend: PageBackend::BurnFlex,
            compared: vec![PageBackend::Wgsl, PageBackend::TfjsWebgpu],
            seeds: Some(3),
            seed: Some(7),
            learning_rate: Some(0.05),
            autostart: true,
        };
        assert_eq!((options(text), read.query()), (read, format!("?{text}")));
        assert_eq!(options("suite=complete&epochs=2").query(), "?suite=complete&epochs=2");
        assert_eq!(options("steps=40").length, NonZero::new(40).map(Length::Steps));
        assert_eq!(options("without=subgroups, f16"), options("without=subgroups,f16"));
        assert_eq!(RunOptions::unknown("?suite=quick&sede=1&leaderboard&language=de&"), ["sede", "leaderboard"]);
        assert_eq!(RunOptions::unknown(""), [""; 0]);
    }

    #[test]
    fn invalid_setting_error_lists_possible_values() {
        for (query, says) in [
            ("batch=32&batch=32", "batch can be given only once"),
            ("batch=0", "batch must be a whole number"),
            ("seconds=inf", "seconds must be a number above 0"),
            ("precision=f64", "precision must be one of f16, f32"),
            ("precision=f16-matrix", "native-runner"),
            ("without=subgroups,wings", "without must be one of subgroups, f16"),
            ("backend=burn-cuda", "wgsl, burn-wgpu, burn-flex"),
            ("workload=resnet", "keras-mnist-mlp, "),
            ("workload=resnet", ", caffe-mnist"),
            ("suite=huge", "quick, complete"),
            ("compare=wgsl", "two or more of wgsl, burn-wgpu, burn-flex"),
            ("compare=wgsl,wgsl", "two or more of"),
            ("compare=wgsl,burn-cuda", "is “burn-cuda”"),
            ("seeds=0", "from 1 to 10"),
            ("seeds=11", "from 1 to 10"),
        ] {
            let sentence = read(query).unwrap_err();
            assert!(sentence.contains(says), "{query}: {sentence}");
        }
        assert!(read("steps=1&seconds=1").is_err());
        for name in RunOptions::NAMES {
            assert!(RunOptions::from_pairs([(name, "no such thing")]).is_err(), "{name} is ignored");
        }
    }

    #[test]
    fn changes_and_removes_settings_as_in_url() {
        let changed = |options: RunOptions, name, value| options.with_setting(name, value).unwrap();
        let batch = changed(RunOptions::default(), "batch", " 64 ");
        assert_eq!(batch.batch_size, Some(64));
        let shorter = changed(changed(batch, "seconds", "5"), "seconds", "9");
        assert_eq!(shorter.length, Positive::new(9.0).map(Length::Seconds));
        assert_eq!(changed(changed(shorter, "seconds", ""), "batch", ""), RunOptions::default());
        let sentence = RunOptions::default().with_setting("batch", "-1").unwrap_err();
        assert!(sentence.contains("batch must be a whole number"), "{sentence}");
    }

    #[test]
    fn lists_every_departure_from_suite() {
        for standard in
            ["", "precision=f16", "precision=f32", "autostart=1", "backend=burn-flex", "compare=wgsl,burn-flex"]
        {
            assert_eq!(options(standard).consequence(), None, "{standard}");
        }
        for (query, says) in [
            ("batch=32", "batch size 32"),
            ("learning-rate=0.05", "learning rate 0.05"),
            ("without=f16", "without f16"),
            ("steps=1", "1 step"),
            ("epochs=3", "3 epochs"),
            ("seed=7", "seed 7"),
            ("workload=caffe-mnist", "not a whole suite"),
            ("backend=jax-js-wasm", "jax-js on the processor"),
        ] {
            let sentence = options(query).consequence().unwrap();
            assert!(sentence.contains(says) && sentence.contains("never ranked"), "{sentence}");
        }
    }

    #[test]
    fn right_settings_survive_wrong_ones() {
        let pairs = [("workload", "foo"), ("steps", "-1"), ("batch", "32"), ("autostart", "1"), ("seconds", "5")];
        assert_eq!(RunOptions::from_right_pairs(pairs).query(), "?batch=32&seconds=5");
        assert_eq!(RunOptions::from_right_pairs([("workload", "foo")]), RunOptions::default());
    }

    #[test]
    fn pace_ignores_only_seed_and_networks() {
        let pace = |query: &str| options(query).pace();
        assert_eq!(pace("workload=caffe-mnist&seed=7&suite=complete"), pace(""));
        for other in ["batch=8", "steps=3", "precision=f16", "backend=burn-wgpu", "without=f16"] {
            assert_ne!(pace(other), pace(""), "{other}");
        }
    }

    #[test]
    fn summarizes_selection_with_cost() {
        let quick = RunOptions::default();
        assert_eq!(quick.summary(), "Quick (2)");
        let cost = "About a minute; downloads 11 MB (MNIST) the first time. Takes about 80 MB of the GPU's memory.";
        let none = OwnRuns::default();
        assert_eq!(quick.cost(None, &none), cost);
        let last = own_runs::tests::runs_that_took(&quick.networks(), 35.5);
        let cost = quick.cost(None, &last);
        assert_eq!(cost, "About 75 s, as last time. Takes about 80 MB of the GPU's memory.");
        let cost = options("suite=complete").cost(None, &none);
        assert!(cost.starts_with("At most 8 minutes") && cost.contains(" + 170 MB (CIFAR-10)"), "{cost}");
        assert_eq!(quick.with_network("keras-babi-rnn", true).summary(), "3");
        let stories = options("workload=keras-babi-rnn");
        assert_eq!(stories.summary(), text::workload_title("keras-babi-rnn"));
        let cost = stories.cost(None, &none);
        assert!(cost.starts_with("About a minute. Takes about "), "{cost}");
        assert!(cost.ends_with(" MB of the GPU's memory."), "{cost}");
        let supplies = supplies::tests::with_burn(supplies::tests::BURN);
        let burn = supplies.bundle(PageBackend::BurnFlex);
        assert_eq!(stories.cost(burn, &none), cost);
        let by_burn = stories.with_backend(PageBackend::BurnFlex).cost(burn, &none);
        assert_eq!(by_burn, "About a minute; downloads 3.4 MB (Burn) the first time.");
    }

    #[test]
    fn burn_and_frameworks_need_their_bundles() {
        let burn = options("backend=burn-flex");
        assert_eq!(burn.trained(), Vec::<String>::new());
        let sentence = options("backend=tfjs-webgl").obstacle(&Supplies::default()).unwrap();
        assert_eq!(sentence, "TensorFlow.js on WebGL is being looked for on this server.");
        let missing = "Burn on the processor is not on this server: no space left.";
        for (file, expected) in [
            (r#"{"state":"building","note":"compiling"}"#, Some("Burn on the processor is being built: compiling.")),
            // The note ends the sentence.
            (r#"{"state":"missing","note":"no space left."}"#, Some(missing)),
            (supplies::tests::BURN, None),
        ] {
            let supplies = supplies::tests::with_burn(file);
            assert_eq!(burn.obstacle(&supplies).as_deref(), expected);
            assert_eq!(RunOptions::default().obstacle(&supplies), None, "it needs no Burn");
        }
    }

    #[test]
    fn missing_data_disables_its_suites_and_networks_only() {
        let lacking = supplies::tests::without("cifar10");
        assert_eq!(RunOptions::default().obstacle(&lacking), None, "it has handwritten digits only");
        let sentence = "The complete suite needs CIFAR-10, which is not on this server. Choose other networks.";
        assert_eq!(options("suite=complete").obstacle(&lacking).unwrap(), sentence);
        let two = options("workload=keras-mnist-mlp,theano-cifar10");
        let sentence = two.obstacle(&lacking).unwrap();
        let network = text::workload_title("theano-cifar10");
        assert!(sentence.starts_with(&format!("{network} needs CIFAR-10")), "{sentence}");
        assert_eq!(two.with_network("theano-cifar10", false).obstacle(&lacking), None);

        let lacking = supplies::tests::without("mnist");
        let sentence = RunOptions::default().obstacle(&lacking).unwrap();
        assert!(sentence.starts_with("The quick suite needs MNIST"), "{sentence}");
        assert_eq!(options("workload=keras-babi-rnn").obstacle(&lacking), None, "the page generates stories");
    }

    #[test]
    fn comparison_defaults_to_usual_backends_and_one_seed() {
        let usual = RunOptions::default();
        let all = |_: PageBackend| true;
        assert_eq!(usual.contenders(all), PageBackend::COMPARED);
        let processor = [PageBackend::BurnFlex, PageBackend::TfjsWebgl, PageBackend::TfjsWasm, PageBackend::JaxJsWasm];
        assert_eq!(usual.contenders(|backend| !backend.uses_webgpu()), processor, "without a GPU all that train");
        let without_ours = usual.clone().with_contender(PageBackend::Wgsl, false, &PageBackend::COMPARED);
        assert_eq!(without_ours.compared, PageBackend::COMPARED[1..]);
        let back = without_ours.clone().with_contender(PageBackend::Wgsl, true, &without_ours.compared);
        assert_eq!(back.compared, PageBackend::COMPARED);
        assert_eq!(usual.seeds_from(7), [7]);
        let options = options("compare=burn-flex, wgsl&seeds=3");
        assert_eq!(options.contenders(all), [PageBackend::Wgsl, PageBackend::BurnFlex]);
        assert_eq!(options.seeds_from(u32::MAX), [u32::MAX, 0, 1]);
    }

    #[test]
    fn backends_say_in_advance_what_they_cannot_train() {
        let complete = |backend| options("suite=complete").with_backend(backend);
        for backend in PageBackend::ALL.into_iter().filter(|backend| backend.is_provable()) {
            assert_eq!(complete(backend).left_out(), Vec::new(), "{backend:?}");
        }
        let on_wasm = complete(PageBackend::TfjsWasm);
        assert!(on_wasm.left_out().len() > on_wasm.networks().len() / 2, "{:?}", on_wasm.left_out());
        assert_eq!(on_wasm.trained(), Vec::<String>::new(), "its program says it for the record");
        let reasons = distinct(on_wasm.left_out().into_iter().map(|(_, reason)| reason));
        let sentences = on_wasm.left_out_sentences();
        let is_of = |(sentence, reason): (&String, &String)| sentence.ends_with(&format!(": {reason}."));
        assert!(sentences.len() == reasons.len() && sentences.iter().zip(&reasons).all(is_of), "{sentences:?}");
        let mnist = options("workload=keras-mnist-mlp,caffe-mnist,keras-mnist-cnn&backend=tfjs-wasm");
        let titles = ["keras-mnist-cnn", "caffe-mnist"].map(text::workload_title);
        let sentences = mnist.left_out_sentences();
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(titles.iter().all(|title| sentences[0].contains(title)), "{sentences:?}");
        let why = "it has no gradients of convolutions";
        let sentence = format!("TensorFlow.js on the processor cannot train {}: {why}.", titles[1]);
        assert_eq!(options("workload=caffe-mnist&backend=tfjs-wasm").left_out_sentences(), [sentence]);
    }

    #[test]
    fn selects_networks_individually_or_as_a_suite() {
        let quick = RunOptions::default();
        assert_eq!(quick.networks(), ["keras-mnist-mlp", "caffe-mnist"]);
        let three = quick.with_network("keras-babi-rnn", true);
        assert_eq!(three.networks(), ["keras-mnist-mlp", "keras-babi-rnn", "caffe-mnist"]);
        assert_eq!((three.suite().name, three.workloads.len()), ("quick", 3));
        // Selecting all networks of a suite is the same as selecting the suite.
        let two = three.with_network("keras-babi-rnn", false);
        assert!(two.workloads.is_empty() && two.suite().name == "quick", "{two:?}");
        let one = two.with_network("caffe-mnist", false);
        assert_eq!(one.networks(), ["keras-mnist-mlp"]);
        assert_eq!(one.clone().with_network("keras-mnist-mlp", false), one, "the last one stays");
        let complete = engine::suite("complete").unwrap();
        let all = one.with_suite(complete);
        assert_eq!(all.networks().len(), complete.workloads.len());
        assert_eq!(options("suite=complete"), all);
    }

    #[test]
    fn every_setting_and_backend_is_documented() {
        let document = include_str!("../../docs/AUTOMATION.md");
        let rows = document.lines().filter(|line| line.starts_with("| `"));
        let cells: Vec<_> = rows.filter_map(|row| row.split('|').nth(1)).collect();
        for name in RunOptions::NAMES {
            let is_documented = cells.iter().any(|cell| cell.contains(&format!("`{name}`")));
            assert!(is_documented, "docs/AUTOMATION.md says nothing of {name}");
        }
        for backend in PageBackend::ALL {
            assert!(document.contains(&format!("`{}`", backend.name())), "{backend:?}");
        }
    }
}
