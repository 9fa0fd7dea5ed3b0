//! The same kernels on several devices.

use results::kernels::{Entry, Suite};
use results::statistics::median;

use super::sign_test;
use crate::findings::{Finding, Rule};
use crate::gathered::Gathered;
use crate::kernels::{OnDevice, pairs, rate, share, suites};
use crate::text;

pub(in crate::findings) const RULE: Rule = Rule {
    title: "Kernels on several devices",
    method: "Each device is held to the first one, in entries that have figures on both: the medians of the ratios of their rates \
             and of their shares of their own peaks, and in how many entries the rate is higher. The sign test decides whether \
             that is more than chance explains.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let Some((first, others)) = gathered.kernels.split_first() else { return Vec::new() };
    let suites = suites(&gathered.kernels);
    let all = suites.into_iter().flat_map(|suite| others.iter().map(move |other| (suite, other)));
    all.filter_map(|(suite, other)| of_two(suite, first, other)).collect()
}

fn of_two(suite: Suite, first: &OnDevice<'_>, other: &OnDevice<'_>) -> Option<Finding> {
    let is_pair = |one: &Entry, of: &Entry| (&one.size, one.pass) == (&of.size, of.pass);
    let pairs = pairs(&other.entries(suite), &first.entries(suite), is_pair);
    let ratios = |figure: fn(&Entry) -> Option<f64>| -> Vec<f64> {
        pairs.iter().filter_map(|(one, of)| Some(figure(one)? / figure(of)?)).collect()
    };
    let (rates, shares) = (ratios(rate), ratios(share));
    let (more, less) = (rates.iter().filter(|of| **of > 1.0).count(), rates.iter().filter(|of| **of < 1.0).count());
    let of_shares =
        median(&shares).map(|ratio| format!(", and {} times the share of its own peak", text::times(ratio)));
    let text = format!(
        "{}: {} reaches {} times the rate of {} in the median of {}{}; it is faster in {more} and slower in {less} (sign test, \
         {}).",
        suite.title(),
        other.name,
        text::times(median(&rates)?),
        first.name,
        text::counted_entries(rates.len()),
        of_shares.unwrap_or_default(),
        sign_test::text(more, less),
    );
    let by_pass = |(one, of): &(&Entry, &Entry)| {
        let flops = |entry: &Entry| rate(entry).map(text::flops).unwrap_or_default();
        format!("{}, {}: {}, {}", one.size, one.pass.title(), flops(one), flops(of))
    };
    let numbers = pairs.iter().map(by_pass).collect();
    Some(Finding { kind: sign_test::verdict(more, less), text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use results::kernels::Pass;

    use super::*;
    use crate::findings::Kind;
    use crate::findings::testing::{expect, found_in};
    use crate::testing::{input_of_kernels, kernels};

    #[test]
    fn devices_are_compared_in_what_both_measured() {
        let sizes = ["1 × 1 × 1", "2 × 2 × 2", "3 × 3 × 3", "4 × 4 × 4", "5 × 5 × 5", "6 × 6 × 6"];
        let of = |share| sizes.map(|size| (size, Pass::Forward, Some(share)));
        let mut all = vec![kernels("A", &of(0.5)), kernels("B", &of(0.25))];
        all[0]
            .record
            .report
            .entries
            .extend(kernels("A", &[("7 × 7 × 7", Pass::Forward, Some(0.1))]).record.report.entries);
        let found = found_in(&RULE, &input_of_kernels(all));
        let parts = [
            "B reaches 0.50 times the rate of A in the median of 6 entries",
            "0.50 times the share of its own peak",
            "slower in 6",
        ];
        expect(&found[0], Kind::Difference, &parts);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn one_device_is_compared_with_nothing() {
        let input = input_of_kernels(vec![kernels("A", &[("1 × 1 × 1", Pass::Forward, Some(0.5))])]);
        assert!(found_in(&RULE, &input).is_empty());
    }
}
