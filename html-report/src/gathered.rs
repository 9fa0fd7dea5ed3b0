//! The runs of an input as rules and sections look at them.

use crate::group::{Field, Group};
use crate::input::Input;
use crate::kernels::OnDevice;
use crate::run::Run;

/// Groups of runs, with what they were made from.
pub(crate) struct Gathered<'a> {
    pub(crate) input: &'a Input,
    /// In the order in which they first appear.
    pub(crate) groups: Vec<Group<'a>>,
    /// Kernels by themselves, by what computed them.
    pub(crate) kernels: Vec<OnDevice<'a>>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn of(input: &'a Input) -> Self {
        let records = input.entries.iter().filter_map(|entry| Some((entry.place.as_str(), entry.record.as_ref()?)));
        let runs = records.flat_map(|(place, record)| Run::all_of(place, record));
        Self { input, groups: Group::of_all(runs), kernels: OnDevice::of_all(&input.kernels) }
    }

    /// The names of the workloads, in the order in which they first appear.
    pub(crate) fn workloads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for group in &self.groups {
            if !names.contains(&group.setup.workload.as_str()) {
                names.push(&group.setup.workload);
            }
        }
        names
    }

    pub(crate) fn of_workload(&self, name: &str) -> Vec<&Group<'a>> {
        self.groups.iter().filter(|group| group.setup.workload == name).collect()
    }

    pub(crate) fn runs(&self) -> impl Iterator<Item = &Run<'a>> {
        self.groups.iter().flat_map(|group| &group.runs)
    }

    /// The groups of a workload that have figures, in sets that are alike in everything but these fields; only sets of
    /// several.
    pub(crate) fn alike_but(&self, workload: &str, fields: &[Field]) -> Vec<Vec<&Group<'a>>> {
        let mut sets: Vec<Vec<&Group<'a>>> = Vec::new();
        for group in self.of_workload(workload).into_iter().filter(|group| group.is_completed()) {
            match sets.iter_mut().find(|set| set[0].setup.equals_but(&group.setup, fields)) {
                Some(set) => set.push(group),
                None => sets.push(vec![group]),
            }
        }
        sets.retain(|set| set.len() > 1);
        sets
    }
}
