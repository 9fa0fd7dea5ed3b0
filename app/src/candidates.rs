//! What a result, or a device, can be put beside: found by words of its name.

use std::collections::BTreeSet;

use results::api::{RunRow, Standings};

use crate::{t, text};

/// How many can stand beside the first one.
pub const MOST: usize = 3;
/// More are not shown at once.
const SHOWN: usize = 8;

/// A result or a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Of the result, or the device's key.
    pub id: String,
    pub name: String,
    /// What tells it from others of its name.
    pub about: String,
}

/// The results of a list, each once.
pub fn of_runs(rows: &[RunRow]) -> Vec<Candidate> {
    let candidate = |row: &RunRow| {
        let speed = row.summary.samples_per_second.map(|rate| t!(candidates_speed, rate = text::rate(rate)));
        let about = [Some(row.backend.clone()), Some(row.client.clone()), speed];
        Candidate {
            id: row.run_id.clone(),
            name: text::device_name(&row.adapter, row.claimed_name.as_deref()),
            about: about.into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    };
    each_once(rows.iter().map(candidate))
}

/// The devices that have a place in any of these tables, each once.
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

/// Those whose name or description has every word that was typed, in their order; before them the chosen ones that are not
/// among these, so that nothing moves when one of them is chosen.
pub fn found<'a>(all: &'a [Candidate], own: &str, chosen: &'a [Candidate], typed: &str) -> Vec<&'a Candidate> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let fits = |candidate: &&Candidate| {
        let text = format!("{} {}", candidate.name, candidate.about).to_lowercase();
        candidate.id != own && words.iter().all(|word| text.contains(word))
    };
    let fitting: Vec<&Candidate> = all.iter().filter(fits).take(SHOWN).collect();
    let others: Vec<&Candidate> = chosen.iter().filter(|candidate| !fitting.contains(candidate)).collect();
    others.into_iter().chain(fitting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, name: &str, about: &str) -> Candidate {
        Candidate { id: id.to_owned(), name: name.to_owned(), about: about.to_owned() }
    }

    fn names<'a>(found: &[&'a Candidate]) -> Vec<&'a str> {
        found.iter().map(|candidate| candidate.id.as_str()).collect()
    }

    #[test]
    fn every_typed_word_is_looked_for_in_whatever_order_and_case() {
        let all = [
            candidate("a", "NVIDIA GeForce RTX 4090", "wgsl"),
            candidate("b", "NVIDIA GeForce RTX 4090", "burn-wgpu"),
            candidate("c", "Apple M2", "wgsl"),
        ];
        assert_eq!(names(&found(&all, "", &[], "4090 nvidia")), ["a", "b"]);
        assert_eq!(names(&found(&all, "", &[], "WGSL")), ["a", "c"]);
        assert_eq!(names(&found(&all, "a", &[], "")), ["b", "c"], "nothing is compared with itself");
        assert_eq!(names(&found(&all, "", &[], "8800")), [""; 0]);
    }

    #[test]
    fn the_chosen_ones_stay_whatever_is_typed() {
        let all = [candidate("a", "Apple M2", ""), candidate("b", "Apple M3", "")];
        assert_eq!(names(&found(&all, "", &all[1..], "M2")), ["b", "a"]);
        assert_eq!(names(&found(&all, "", &all[1..], "M3")), ["b"], "and are there once");
        assert_eq!(names(&found(&all, "", &all[1..], "")), ["a", "b"], "and do not move");
    }

    #[test]
    fn a_few_of_many_are_shown_and_each_once() {
        let many = each_once((0..40).map(|number| candidate(&format!("{}", number % 20), "GPU", "")));
        assert_eq!(many.len(), 20);
        assert_eq!(found(&many, "", &[], "gpu").len(), SHOWN);
    }
}
