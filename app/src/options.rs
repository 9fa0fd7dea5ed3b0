//! The options of a run: chosen on the page, or set in its address, for engineers and tests:
//! `?suite=complete` or `?workload=keras-mnist-mlp&seconds=5&batch=32&backend=burn-wgpu`.

mod address;
mod summary;

use engine::SuiteDefinition;
use engine::backends::Feature;
use results::{FailureCause, Precision};
use training_worker::Limit;

use crate::backend::PageBackend;
use crate::filters::Filters;
use crate::supplies::Supplies;
use crate::t;
use crate::text;
use crate::words::failure;

/// Parameter of every page's address that says its language.
pub const LANGUAGE: &str = "language";

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
    /// A seed of one's own, of which the leaderboard knows nothing, so that such a run is never ranked.
    pub seed: Option<u32>,
    pub learning_rate: Option<f64>,
    /// Whether the run begins by itself, once it can.
    pub autostart: bool,
}

impl RunOptions {
    /// Names that mean something in the address.
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

    /// Reads decoded pairs of name and value. Names that mean nothing here are left alone: [`RunOptions::unknown`] finds them.
    ///
    /// # Errors
    /// A sentence that names the setting at fault and what it may be.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut seen = Vec::new();
        for (name, value) in pairs {
            if Self::NAMES.contains(&name) && seen.contains(&name) {
                return Err(t!(settings_twice, name = name));
            }
            seen.push(name);
            options.read(name, value)?;
        }
        Ok(options)
    }

    fn read(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "suite" => self.suite = Some(address::suite(value)?),
            "workload" => self.workloads = address::workloads(value)?,
            "batch" => self.batch_size = Some(address::positive(name, value)?),
            "epochs" => self.limit_once(Limit::Epochs(address::positive(name, value)?))?,
            "steps" => self.limit_once(Limit::Steps(u64::from(address::positive(name, value)?)))?,
            "seconds" => self.limit_once(Limit::Seconds(address::seconds(value)?))?,
            "precision" => self.precision = Some(address::precision(value)?),
            "without" => self.without = address::features(value)?,
            "backend" => self.backend = address::backend(value)?,
            "compare" => self.compared = address::compared(value)?,
            "seeds" => self.seeds = Some(address::seeds(value)?),
            "seed" => self.seed = Some(address::seed(value)?),
            "learning-rate" => self.learning_rate = Some(address::learning_rate(value)?),
            "autostart" => self.autostart = address::switch(name, value)?,
            _ => {}
        }
        Ok(())
    }

    /// What differs from a standard run, as names and values of an address, which [`RunOptions::from_pairs`] reads again.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let names = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(","));
        let limit = self.limit.map(|limit| match limit {
            Limit::Epochs(epochs) => ("epochs", epochs.to_string()),
            Limit::Steps(steps) => ("steps", steps.to_string()),
            Limit::Seconds(seconds) => ("seconds", seconds.to_string()),
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
        parts.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(limit).collect()
    }

    /// The same as the query of an address, with its question mark; empty for a standard run. Names and values need no
    /// encoding.
    pub fn query(&self) -> String {
        let pairs: Vec<String> = self.pairs().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// Those of these names that mean nothing to the page, such as misspelt ones.
    pub fn unknown<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let is_known = |name: &&str| {
            *name == LANGUAGE || Self::NAMES.contains(name) || Filters::names().any(|known| known == *name)
        };
        names.into_iter().filter(|name| !is_known(name)).collect()
    }

    /// The same options with one setting changed as if it stood in the address; an empty text takes it away.
    ///
    /// # Errors
    /// A sentence that names the setting at fault and what it may be.
    pub fn with_setting(self, name: &str, value: &str) -> Result<Self, String> {
        let mut changed = self;
        match name {
            "batch" => changed.batch_size = None,
            "epochs" | "steps" | "seconds" => changed.limit = None,
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

    /// The back ends of a comparison, in the order in which they train: those that were chosen, and otherwise those of
    /// [`PageBackend::COMPARED`] that can train here, or all that can where those are too few to compare.
    pub fn contenders(&self, can_train: impl Fn(PageBackend) -> bool) -> Vec<PageBackend> {
        if !self.compared.is_empty() {
            return self.compared.clone();
        }
        let usual: Vec<_> = PageBackend::COMPARED.into_iter().filter(|backend| can_train(*backend)).collect();
        if usual.len() > 1 {
            usual
        } else {
            PageBackend::ALL.into_iter().filter(|backend| can_train(*backend)).collect()
        }
    }

    /// The same options with this back end compared or not, beside those that were until now.
    #[must_use]
    pub fn with_contender(self, backend: PageBackend, chosen: bool, before: &[PageBackend]) -> Self {
        let is_in = |other: &PageBackend| if *other == backend { chosen } else { before.contains(other) };
        Self { compared: PageBackend::ALL.into_iter().filter(is_in).collect(), ..self }
    }

    /// The seeds of a comparison: `first` and those after it.
    pub fn seeds_from(&self, first: u32) -> Vec<u32> {
        (0..self.seeds.unwrap_or(1)).map(|place| first.wrapping_add(place)).collect()
    }

    /// The chosen networks that the chosen back end cannot train as they are defined, and why.
    pub fn left_out(&self) -> Vec<(String, String)> {
        let reason = |name: &String| {
            let model = engine::workload(name)?.model;
            let reason = engine::backends::unsupported(self.backend.name(), &model)?.to_string();
            Some(failure::of_workload(FailureCause::Unsupported, &reason))
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
            return Some(t!(backend_obstacle, backend = self.backend.title(), why = why));
        }
        if let Some(sentence) = self.lacking_data(supplies) {
            return Some(sentence);
        }
        let left_out = self.left_out();
        let (name, reason) = left_out.first()?;
        (left_out.len() == self.networks().len()).then(|| {
            let workload = text::workload_title(name);
            t!(backend_cannot_train, backend = self.backend.title(), workload = workload, reason = reason)
        })
    }

    /// Why the networks cannot be trained with the data that the server has, on any back end.
    pub fn lacking_data(&self, supplies: &Supplies) -> Option<String> {
        let lacking = |name: &String| Some((name.clone(), supplies.missing_for(name)?.title()));
        let (name, data) = self.networks().iter().find_map(lacking)?;
        // A suite that lost some of its networks would not be that suite any more.
        let who = if self.workloads.is_empty() { text::suite(self.suite()) } else { text::workload_title(&name) };
        Some(t!(supplies_needs, who = who, data = data))
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
            || self.seed.is_some()
            || self.learning_rate.is_some()
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
            return Err(t!(settings_one_limit).to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
