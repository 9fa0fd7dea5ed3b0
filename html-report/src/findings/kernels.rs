//! How near kernels come to the best of their device.

pub(super) mod devices;
pub(super) mod passes;
pub(super) mod published;
mod sign_test;

use results::kernels::{Entry, KernelSummary, Pass, Suite};

use super::{Finding, Kind, Rule};
use crate::gathered::Gathered;
use crate::kernels::{OnDevice, of_pass, share, title};
use crate::text::{counted_entries, percent};

pub(super) const RULE: Rule = Rule {
    title: "Kernels and the peak",
    method: "For each suite on each device: the median over all entries with figures of their share of the measured peak of \
             arithmetic, and the entries that reach the least and the most of it. Entries without figures are counted and say \
             why in their table; they have no part in the median, which is therefore that of the sizes that fit into the \
             budget.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of_device =
        |device: &OnDevice<'_>| device.suites().filter_map(|suite| of_suite(device, suite)).collect::<Vec<_>>();
    gathered.kernels.iter().flat_map(of_device).collect()
}

fn of_suite(device: &OnDevice<'_>, suite: Suite) -> Option<Finding> {
    let entries = device.entries(suite);
    let summary = KernelSummary::of(entries.iter().copied());
    let by_share =
        |one: &&&Entry, other: &&&Entry| share(one).partial_cmp(&share(other)).unwrap_or(std::cmp::Ordering::Equal);
    let measured = || entries.iter().filter(|entry| share(entry).is_some());
    let (Some(lowest), Some(highest)) = (measured().min_by(by_share), measured().max_by(by_share)) else {
        return Some(without_figures(device, suite, entries.len()));
    };
    let left_out = match summary.entries - summary.measured {
        0 => String::new(),
        count => format!(" {} of {} have no figures.", count, counted_entries(summary.entries)),
    };
    let said = |entry: &Entry| format!("{} ({})", share(entry).map(percent).unwrap_or_default(), title(entry));
    let text = format!(
        "{} on {}: the median of {} reaches {} of the measured peak of arithmetic, from {} to {}.{left_out}",
        suite.title(),
        device.name,
        counted_entries(summary.measured),
        percent(summary.peak_share?),
        said(lowest),
        said(highest),
    );
    let of_pass = |pass: Pass| {
        let of = KernelSummary::of(of_pass(&entries, pass));
        let median = percent(of.peak_share?);
        Some(format!("{}: {median} in the median of {} of {}", pass.title(), of.measured, counted_entries(of.entries)))
    };
    let numbers = Pass::ALL.into_iter().filter_map(of_pass).collect();
    Some(Finding { kind: Kind::Figure, text, numbers, rule: RULE.title })
}

fn without_figures(device: &OnDevice<'_>, suite: Suite, count: usize) -> Finding {
    let text = format!(
        "{} on {}: none of {} has figures; their table says why.",
        suite.title(),
        device.name,
        counted_entries(count)
    );
    Finding { kind: Kind::Figure, text, numbers: Vec::new(), rule: RULE.title }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found_in};
    use super::*;
    use crate::testing::{input_of_kernels, kernels};

    #[test]
    fn the_median_and_both_ends_are_told_with_their_entries() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::WeightGradient, Some(0.125)),
            ("8 × 8 × 8", Pass::InputGradient, Some(0.25)),
            ("9 × 9 × 9", Pass::Forward, None),
        ];
        let found = found_in(&RULE, &input_of_kernels(vec![kernels("A GPU", &entries)]));
        let parts = [
            "Matrix products on A GPU: the median of 3 entries reaches 25.00 % of the measured peak",
            "from 12.50 % (8 × 8 × 8, weight gradient) to 50.00 % (8 × 8 × 8, forward).",
            "1 of 4 entries have no figures.",
        ];
        expect(&found[0], Kind::Figure, &parts);
        assert_eq!(found[0].numbers[0], "forward: 50.00 % in the median of 1 of 2 entries");
    }

    #[test]
    fn a_suite_without_figures_says_so() {
        let input = input_of_kernels(vec![kernels("A GPU", &[("9 × 9 × 9", Pass::Forward, None)])]);
        expect(&found_in(&RULE, &input)[0], Kind::Figure, &["none of 1 entry has figures"]);
    }
}
