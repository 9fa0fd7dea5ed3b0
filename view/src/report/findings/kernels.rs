//! Findings about kernels without a network: shares of the peak, passes, devices, and published rates.

use results::kernels::{Entry, KernelSuite, KernelSummary, Pass};
use results::statistics::median;

use crate::report::findings::{Finding, FindingRule, Kind};
use crate::report::kernels::{OnDevice, PublishedKernel, filter_pass, pairs, published, rate, share, suites, title};
use crate::text;

pub(super) const PEAK: FindingRule = FindingRule {
    title: "Kernels and the peak",
    find: |gathered| {
        let suites = gathered.kernels.iter().flat_map(|device| device.suites().map(move |suite| (device, suite)));
        suites.filter_map(|(device, suite)| describe_suite(device, suite)).collect()
    },
};

fn describe_suite(device: &OnDevice<'_>, suite: KernelSuite) -> Option<Finding> {
    let entries = device.entries(suite);
    let summary = KernelSummary::of(entries.iter().copied());
    let by_share =
        |one: &&&Entry, other: &&&Entry| share(one).partial_cmp(&share(other)).unwrap_or(std::cmp::Ordering::Equal);
    let measured = || entries.iter().filter(|entry| share(entry).is_some());
    let (Some(lowest), Some(highest)) = (measured().min_by(by_share), measured().max_by(by_share)) else {
        let count = text::counted_entries(entries.len());
        let (suite, device) = (suite.title(), &device.name);
        let text = format!("{suite} on {device}: none of {count} has results; their table lists the reasons.");
        return Some(Finding::new(Kind::Figure, text, []));
    };
    let left_out = match summary.entries - summary.measured {
        0 => String::new(),
        count => format!(" {} of {} have no results.", count, text::counted_entries(summary.entries)),
    };
    let said = |entry: &Entry| format!("{} ({})", share(entry).map(text::percent).unwrap_or_default(), title(entry));
    let text = format!(
        "{} on {}: the median of {} reaches {} of the measured peak of arithmetic, from {} to {}.{left_out}",
        suite.title(),
        device.name,
        text::counted_entries(summary.measured),
        text::percent(summary.peak_share?),
        said(lowest),
        said(highest),
    );
    let pass_line = |pass: Pass| {
        let of = KernelSummary::of(filter_pass(&entries, pass));
        let median = text::percent(of.peak_share?);
        Some(format!("{}: median {median} over {} of {}", pass.title(), of.measured, text::counted_entries(of.entries)))
    };
    Some(Finding::new(Kind::Figure, text, Pass::ALL.into_iter().filter_map(pass_line)))
}

pub(super) const PASSES: FindingRule = FindingRule {
    title: "Passes of kernels",
    find: |gathered| {
        let of_device = |device: &OnDevice<'_>| {
            let suites =
                device.suites().flat_map(|suite| [Pass::WeightGradient, Pass::InputGradient].map(|pass| (suite, pass)));
            suites.filter_map(|(suite, pass)| compare_gradient(device, suite, pass)).collect::<Vec<_>>()
        };
        gathered.kernels.iter().flat_map(of_device).collect()
    },
};

fn compare_gradient(device: &OnDevice<'_>, suite: KernelSuite, pass: Pass) -> Option<Finding> {
    let entries = device.entries(suite);
    let pairs =
        pairs(&filter_pass(&entries, pass), &filter_pass(&entries, Pass::Forward), |one, other| one.size == other.size);
    let ratio = |(gradient, forward): &(&Entry, &Entry)| Some(share(gradient)? / share(forward)?);
    let ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
    let middle = median(&ratios)?;
    let test = SignTest::of(&ratios);
    let text = format!(
        "{} on {}: the {} reaches {} times the forward pass's share of the peak (median of {}), more than it in {} and \
         less in {} (sign test, {}).",
        suite.title(),
        device.name,
        pass.title(),
        text::times(middle),
        text::counted(ratios.len(), "size"),
        test.more,
        test.less,
        test.text(),
    );
    let number = |(gradient, forward): &(&Entry, &Entry)| {
        let percent = |of: &Entry| share(of).map(text::percent).unwrap_or_default();
        format!("{}: {}, forward {}", gradient.size, percent(gradient), percent(forward))
    };
    Some(Finding::new(test.kind(), text, pairs.iter().map(number)))
}

pub(super) const DEVICES: FindingRule = FindingRule {
    title: "Kernels on several devices",
    find: |gathered| {
        let Some((first, others)) = gathered.kernels.split_first() else { return Vec::new() };
        let suites = suites(&gathered.kernels);
        let all = suites.into_iter().flat_map(|suite| others.iter().map(move |other| (suite, other)));
        all.filter_map(|(suite, other)| compare_two(suite, first, other)).collect()
    },
};

fn compare_two(suite: KernelSuite, first: &OnDevice<'_>, other: &OnDevice<'_>) -> Option<Finding> {
    let is_pair = |one: &Entry, of: &Entry| (&one.size, one.pass) == (&of.size, of.pass);
    let pairs = pairs(&other.entries(suite), &first.entries(suite), is_pair);
    let ratios = |figure: fn(&Entry) -> Option<f64>| -> Vec<f64> {
        pairs.iter().filter_map(|(one, of)| Some(figure(one)? / figure(of)?)).collect()
    };
    let (rates, shares) = (ratios(rate), ratios(share));
    let test = SignTest::of(&rates);
    let of_shares = median(&shares).map(|ratio| format!(", and {} times its share of the peak", text::times(ratio)));
    let text = format!(
        "{}: {} reaches {} times the rate of {}{} (median of {}); it is faster in {} and slower in {} (sign test, {}).",
        suite.title(),
        other.name,
        text::times(median(&rates)?),
        first.name,
        of_shares.unwrap_or_default(),
        text::counted_entries(rates.len()),
        test.more,
        test.less,
        test.text(),
    );
    let by_pass = |(one, of): &(&Entry, &Entry)| {
        let flops = |entry: &Entry| rate(entry).map(text::flops).unwrap_or_default();
        format!("{}, {}: {}, {}", one.size, one.pass.title(), flops(one), flops(of))
    };
    Some(Finding::new(test.kind(), text, pairs.iter().map(by_pass)))
}

pub(super) const PUBLISHED: FindingRule = FindingRule {
    title: "Published kernels",
    find: |gathered| {
        let suites = suites(&gathered.kernels);
        let of_device = |device: &OnDevice<'_>| {
            let entries: Vec<&Entry> = suites.iter().flat_map(|suite| device.entries(*suite)).collect();
            let both = |entry: &Entry| Some((title(entry), rate(entry)?, published(entry)?));
            let both: Vec<(String, f64, &PublishedKernel)> = entries.into_iter().filter_map(both).collect();
            describe_published(device, &both)
        };
        gathered.kernels.iter().filter_map(of_device).collect()
    },
};

fn describe_published(device: &OnDevice<'_>, both: &[(String, f64, &PublishedKernel)]) -> Option<Finding> {
    let ratios: Vec<f64> = both.iter().map(|(_, rate, row)| rate / row.flops_per_second()).collect();
    let text = format!(
        "{}: of DeepBench's published sizes, {} was measured here, at {} times the published rate (median). The \
         published rates are from other hardware, with the vendors' libraries.",
        device.name,
        text::counted_entries(both.len()),
        significant(median(&ratios)?),
    );
    let text = if both.len() == 1 { text } else { text.replace(" was measured here", " were measured here") };
    let number = |(title, rate, row): &(String, f64, &PublishedKernel)| {
        let (here, there) = (text::flops(*rate), text::flops(row.flops_per_second()));
        format!("{title}: {here} here, {there} on {} ({}: {})", row.hardware, row.citation, row.operation)
    };
    Some(Finding::new(Kind::Published, text, both.iter().map(number)))
}

/// Formats a ratio with two significant digits.
fn significant(ratio: f64) -> String {
    if ratio >= 0.1 {
        return text::times(ratio);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of digits")]
    let decimals = (1.0 - ratio.log10().floor()).clamp(2.0, 12.0) as usize;
    format!("{ratio:.decimals$}")
}

/// Sign test of ratios (Dixon and Mood, "The statistical sign test", Journal of the American Statistical Association 41,
/// 1946).
#[derive(Clone, Copy)]
struct SignTest {
    /// Ratios above 1.
    more: usize,
    /// Ratios below 1.
    less: usize,
}

impl SignTest {
    /// Probability below which the sides count as different.
    const LEVEL: f64 = 0.05;

    fn of(ratios: &[f64]) -> Self {
        let count = |is_counted: fn(&&f64) -> bool| ratios.iter().filter(is_counted).count();
        Self { more: count(|ratio| **ratio > 1.0), less: count(|ratio| **ratio < 1.0) }
    }

    /// Returns the probability that a fair coin divides this number of throws at least as unequally; 1 without throws.
    fn probability(self) -> f64 {
        let throws = self.more + self.less;
        let mut term = 0.5_f64.powi(i32::try_from(throws).unwrap_or(i32::MAX));
        let mut tail = 0.0;
        for count in 0..=self.more.min(self.less) {
            tail += term;
            term *= (throws - count) as f64 / (count + 1) as f64;
        }
        (2.0 * tail).min(1.0)
    }

    /// Returns a difference or a tie, or a plain number if there are too few throws for any difference.
    fn kind(self) -> Kind {
        let extreme = Self { more: self.more + self.less, less: 0 };
        if self.probability() < Self::LEVEL {
            Kind::Difference
        } else if extreme.probability() < Self::LEVEL {
            Kind::Tie
        } else {
            Kind::Figure
        }
    }

    fn text(self) -> String {
        let probability = self.probability();
        if probability < 0.001 { "p < 0.001".to_owned() } else { format!("p = {probability:.3}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{expect, found_in, input_of_kernels, kernels};

    const SIZES: [&str; 6] = ["1 × 1 × 1", "2 × 2 × 2", "3 × 3 × 3", "4 × 4 × 4", "5 × 5 × 5", "6 × 6 × 6"];

    #[test]
    fn median_and_extremes_are_named_with_entries() {
        let entries = [
            ("8 × 8 × 8", Pass::Forward, Some(0.5)),
            ("8 × 8 × 8", Pass::WeightGradient, Some(0.125)),
            ("8 × 8 × 8", Pass::InputGradient, Some(0.25)),
            ("9 × 9 × 9", Pass::Forward, None),
        ];
        let found = found_in(&PEAK, &input_of_kernels(vec![kernels("A GPU", &entries)]));
        let parts = [
            "Matrix products on A GPU: the median of 3 entries reaches 25.00 % of the measured peak",
            "from 12.50 % (8 × 8 × 8, weight gradient) to 50.00 % (8 × 8 × 8, forward).",
            "1 of 4 entries have no results.",
        ];
        expect(&found, Kind::Figure, &parts);
        assert_eq!(found[0].numbers[0], "forward: median 50.00 % over 1 of 2 entries");
        let input = input_of_kernels(vec![kernels("A GPU", &[("9 × 9 × 9", Pass::Forward, None)])]);
        expect(&found_in(&PEAK, &input), Kind::Figure, &["none of 1 entry has results"]);
    }

    #[test]
    fn slower_gradients_are_a_difference() {
        let of = |pass, share| SIZES.map(|size| (size, pass, Some(share)));
        let entries = [of(Pass::Forward, 0.5), of(Pass::WeightGradient, 0.25)].concat();
        let found = found_in(&PASSES, &input_of_kernels(vec![kernels("A", &entries)]));
        let parts = [
            "the weight gradient reaches 0.50 times",
            "(median of 6 sizes)",
            "more than it in 0 and less in 6",
            "p = 0.031",
        ];
        expect(&found, Kind::Difference, &parts);
        assert_eq!((found.len(), found[0].numbers.len()), (1, 6));
        let few = found_in(&PASSES, &input_of_kernels(vec![kernels("A", &[entries[0], entries[6]])]));
        expect(&few, Kind::Figure, &["(median of 1 size),", "p = 1.000"]);
    }

    #[test]
    fn devices_are_compared_in_common_entries() {
        let of = |share| SIZES.map(|size| (size, Pass::Forward, Some(share)));
        let mut all = vec![kernels("A", &of(0.5)), kernels("B", &of(0.25))];
        let other = kernels("A", &[("7 × 7 × 7", Pass::Forward, Some(0.1))]);
        all[0].report.entries.extend(other.report.entries);
        let found = found_in(&DEVICES, &input_of_kernels(all));
        let parts = [
            "B reaches 0.50 times the rate of A, and",
            "0.50 times its share of the peak (median of 6 entries)",
            "slower in 6",
        ];
        expect(&found, Kind::Difference, &parts);
        assert_eq!(found.len(), 1);
        let alone = input_of_kernels(vec![kernels("A", &[("1 × 1 × 1", Pass::Forward, Some(0.5))])]);
        assert!(found_in(&DEVICES, &alone).is_empty());
    }

    #[test]
    fn published_sizes_are_compared() {
        let entries = [("1760 × 128 × 1760", Pass::Forward, Some(0.0793)), ("8 × 8 × 8", Pass::Forward, Some(0.5))];
        let found = found_in(&PUBLISHED, &input_of_kernels(vec![kernels("A", &entries)]));
        expect(&found, Kind::Published, &["1 entry was measured here, at 0.010 times the published rate"]);
        let number = &found[0].numbers[0];
        assert!(number.contains("79.30 GFLOP/s here, 7.930 TFLOP/s on NVIDIA GTX 1080 Ti"), "{number}");
        assert!(found_in(&PUBLISHED, &input_of_kernels(vec![kernels("A", &entries[1..])])).is_empty());
        assert_eq!([0.5, 0.0123, 0.000_456].map(significant), ["0.50", "0.012", "0.00046"]);
    }

    #[test]
    fn sign_test_is_the_one_of_a_fair_coin() {
        for (more, less, expected) in [(5, 0, 0.0625), (6, 0, 0.03125), (9, 1, 22.0 / 1024.0), (3, 3, 1.0), (0, 0, 1.0)]
        {
            let probability = SignTest { more, less }.probability();
            assert!((probability - expected).abs() < 1e-12, "{more} and {less}");
            assert_eq!(probability, SignTest { more: less, less: more }.probability());
        }
        let kinds = [(5, 0), (6, 0), (5, 1)].map(|(more, less)| SignTest { more, less }.kind());
        assert_eq!(kinds, [Kind::Figure, Kind::Difference, Kind::Tie]);
        assert_eq!(SignTest { more: 40, less: 0 }.text(), "p < 0.001");
    }
}
