//! Search for results or devices to compare with, by the words in their names.

use std::collections::BTreeSet;

use results::api::{RunRow, Standings};

use crate::text;

/// Maximum number of selected candidates, in addition to the first result or device.
pub const MAX_CHOSEN: usize = 3;
const MAX_SHOWN: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Id of the result, or key of the device.
    pub id: String,
    pub name: String,
    /// Description that distinguishes it from others of the same name.
    pub about: String,
}

pub fn of_runs(rows: &[RunRow]) -> Vec<Candidate> {
    let candidate = |row: &RunRow| {
        let speed = row.summary.samples_per_second.map(|rate| text::rate(rate) + &text::rate_unit());
        let about = [Some(row.backend.clone()), Some(row.client.clone()), speed];
        Candidate {
            id: row.run_id.clone(),
            name: text::device_name(&row.adapter, row.claimed_name.as_deref()),
            about: about.into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    };
    each_once(rows.iter().map(candidate))
}

pub fn of_devices<'a>(tables: impl IntoIterator<Item = &'a Standings>) -> Vec<Candidate> {
    let places = tables.into_iter().flat_map(|of| of.tables.iter().flat_map(|table| &table.places));
    each_once(places.map(|place| Candidate {
        id: place.device_key.clone(),
        name: text::named_device(&place.device_name),
        about: String::new(),
    }))
}

fn each_once(all: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    all.filter(|candidate| seen.insert(candidate.id.clone())).collect()
}

/// Returns the selected candidates, and those with every typed word. The list does not shift when one is selected.
pub fn found<'a>(all: &'a [Candidate], own: &str, chosen: &'a [Candidate], typed: &str) -> Vec<&'a Candidate> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let fits = |candidate: &&Candidate| {
        let text = format!("{} {}", candidate.name, candidate.about).to_lowercase();
        candidate.id != own && words.iter().all(|word| text.contains(word))
    };
    let fitting: Vec<&Candidate> = all.iter().filter(fits).take(MAX_SHOWN).collect();
    let others: Vec<&Candidate> = chosen.iter().filter(|candidate| !fitting.contains(candidate)).collect();
    others.into_iter().chain(fitting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, name: &str, about: &str) -> Candidate {
        Candidate { id: id.to_owned(), name: name.to_owned(), about: about.to_owned() }
    }

    fn ids(all: &[Candidate], own: &str, chosen: &[Candidate], typed: &str) -> Vec<String> {
        found(all, own, chosen, typed).iter().map(|candidate| candidate.id.clone()).collect()
    }

    #[test]
    fn finds_candidates_by_every_typed_word() {
        let all = [
            candidate("a", "NVIDIA GeForce RTX 4090", "wgsl"),
            candidate("b", "NVIDIA GeForce RTX 4090", "burn-wgpu"),
            candidate("c", "Apple M2", "wgsl"),
        ];
        assert_eq!(ids(&all, "", &[], "4090 nvidia"), ["a", "b"]);
        assert_eq!(ids(&all, "", &[], "WGSL"), ["a", "c"]);
        assert_eq!(ids(&all, "a", &[], ""), ["b", "c"], "nothing is compared with itself");
        assert_eq!(ids(&all, "", &[], "8800"), [""; 0]);
        let many = each_once((0..40).map(|number| candidate(&format!("{}", number % 20), "GPU", "")));
        assert_eq!((many.len(), found(&many, "", &[], "gpu").len()), (20, MAX_SHOWN));
    }

    #[test]
    fn selected_candidates_stay_listed() {
        let all = [candidate("a", "Apple M2", ""), candidate("b", "Apple M3", "")];
        assert_eq!(ids(&all, "", &all[1..], "M2"), ["b", "a"]);
        assert_eq!(ids(&all, "", &all[1..], "M3"), ["b"], "and are there once");
        assert_eq!(ids(&all, "", &all[1..], ""), ["a", "b"], "and do not move");
    }
}
