//! What the server has for runs: the worker with Burn, other frameworks, and the data sets. Each may be missing while
//! everything else works, and Burn and data may come while the page is open.

use engine::SuiteDefinition;
use results::api::DataSetList;

use crate::backend::{Maker, PageBackend};
use crate::bundle::{Bundle, BurnState};
use crate::frameworks::FrameworksState;
use crate::t;
use crate::text;

/// What is known of it so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supplies {
    pub burn: BurnState,
    pub frameworks: FrameworksState,
    missing: Vec<MissingData>,
}

/// A data set that the server cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingData {
    name: String,
    /// A part of a sentence.
    reason: String,
}

impl Supplies {
    /// Takes what the server says of the worker with Burn.
    #[must_use]
    pub fn with_burn(self, burn: BurnState) -> Self {
        Self { burn, ..self }
    }

    /// Why nothing can be trained with this back end, to follow a subject: `is not on this server: …`.
    pub fn obstacle(&self, backend: PageBackend) -> Option<String> {
        match backend.maker() {
            Maker::Ours => None,
            Maker::Burn => self.burn.obstacle(),
            Maker::Framework(_) => self.frameworks.obstacle(backend),
        }
    }

    /// Whether nobody knows yet if the server has this back end, or it is being built: worth waiting for.
    pub fn is_coming(&self, backend: PageBackend) -> bool {
        match backend.maker() {
            Maker::Ours => false,
            Maker::Burn => matches!(self.burn, BurnState::Asking | BurnState::Building { .. }),
            Maker::Framework(_) => self.frameworks == FrameworksState::Asking,
        }
    }

    /// What has to be fetched for this back end, if anything, once it is there.
    pub fn bundle(&self, backend: PageBackend) -> Option<&Bundle> {
        match backend.maker() {
            Maker::Ours => None,
            Maker::Burn => self.burn.bundle(),
            Maker::Framework(_) => self.frameworks.bundle(backend),
        }
    }

    /// Takes what the server says of its data sets.
    #[must_use]
    pub fn with_data_sets(self, list: DataSetList) -> Self {
        let missing = |set: results::api::ServedDataSet| Some(MissingData { name: set.name, reason: set.missing? });
        Self { missing: list.data_sets.into_iter().filter_map(missing).collect(), ..self }
    }

    /// The data sets that are missing. Before the server has answered, and for data that it does not know, that is
    /// none: then a run finds out when it fetches them.
    pub fn missing_data(&self) -> &[MissingData] {
        &self.missing
    }

    /// The data set that a network needs and that is missing.
    pub fn missing_for(&self, network: &str) -> Option<&MissingData> {
        let needed = engine::workload(network)?.data_set;
        self.missing.iter().find(|data| data.name == needed)
    }

    /// Why a suite cannot be run, a sentence. Its networks that have their data would be less than the suite, under the
    /// suite's name; they can be chosen one by one.
    pub fn lacking_for_suite(&self, suite: &SuiteDefinition) -> Option<String> {
        let lacking: Vec<&MissingData> = suite.workloads.iter().filter_map(|name| self.missing_for(name)).collect();
        let titles = self.missing.iter().filter(|data| lacking.contains(data)).map(MissingData::title);
        let titles = titles.reduce(|some, other| t!(supplies_and, some = some, other = other)).unwrap_or_default();
        let (few, all) = (lacking.len(), suite.workloads.len());
        (few > 0).then(|| t!(supplies_lacking, few = few, all = all, data = titles))
    }
}

impl MissingData {
    pub fn title(&self) -> String {
        text::data_set_title(&self.name)
    }

    /// What is missing, why, and what cannot be trained without it.
    pub fn sentences(&self) -> String {
        let needed_by = engine::WORKLOADS.iter().filter(|make| make().data_set == self.name).count();
        t!(
            supplies_missing,
            data = self.title(),
            reason = self.reason,
            needed = needed_by,
            all = engine::WORKLOADS.len()
        )
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use results::api::ServedDataSet;

    use super::*;

    /// A server that has every data set but this one.
    pub(crate) fn without(name: &str) -> Supplies {
        let served = ["mnist", "cifar10"].map(|set| ServedDataSet {
            name: set.to_owned(),
            missing: (set == name).then(|| format!("{set}-train.bin is missing in its data folder")),
        });
        Supplies::default().with_data_sets(DataSetList { data_sets: served.to_vec() })
    }

    #[test]
    fn what_may_still_come_is_told_from_what_never_will() {
        let asking = Supplies::default();
        let coming = |supplies: &Supplies, backend| supplies.is_coming(backend);
        assert!(!coming(&asking, PageBackend::Wgsl), "every page has it");
        assert!(coming(&asking, PageBackend::BurnFlex) && coming(&asking, PageBackend::JaxJsWasm));
        let building = asking.clone().with_burn(BurnState::parse(r#"{"state":"building","note":"compiling"}"#));
        assert!(coming(&building, PageBackend::BurnWgpu));
        let mut missing = building.with_burn(BurnState::missing("not here"));
        missing.frameworks = FrameworksState::missing("not here");
        assert!(!coming(&missing, PageBackend::BurnWgpu) && !coming(&missing, PageBackend::JaxJsWasm));
    }

    #[test]
    fn a_network_lacks_data_exactly_where_its_own_set_is_missing() {
        let supplies = without("cifar10");
        assert_eq!(supplies.missing_for("keras-cifar10-cnn").unwrap().title(), "CIFAR-10");
        for there in ["keras-mnist-mlp", "keras-babi-rnn"] {
            assert_eq!(supplies.missing_for(there), None, "{there}");
        }
        assert!(Supplies::default().missing_data().is_empty(), "nothing is said before the server has answered");
        let complete = DataSetList { data_sets: vec![ServedDataSet { name: "cifar10".into(), missing: None }] };
        assert!(supplies.with_data_sets(complete).missing_data().is_empty(), "it came while the page was open");
    }

    #[test]
    fn what_is_missing_is_told_with_its_reason_and_what_depends_on_it() {
        assert_eq!(
            without("cifar10").missing_data()[0].sentences(),
            "CIFAR-10 is not on this server: cifar10-train.bin is missing in its data folder. 8 of the 20 networks need \
             it and cannot be trained here until then."
        );
    }

    #[test]
    fn a_suite_is_offered_only_whole() {
        let [quick, complete] = ["quick", "complete"].map(|name| engine::suite(name).unwrap());
        assert_eq!(without("cifar10").lacking_for_suite(quick), None);
        assert_eq!(
            without("cifar10").lacking_for_suite(complete).unwrap(),
            "8 of its 16 networks need data that is not on this server (CIFAR-10)."
        );
        assert!(without("mnist").lacking_for_suite(quick).unwrap().starts_with("2 of its 2 networks need data"));
    }

    /// The page must know each set that the server may call missing by a name for people.
    #[test]
    fn every_data_set_with_files_has_a_title() {
        for set in engine::DATA_SETS.iter().filter(|set| matches!(set.origin, engine::Origin::Files { .. })) {
            assert_ne!(text::data_set_title(&set.name), set.name);
        }
    }
}
