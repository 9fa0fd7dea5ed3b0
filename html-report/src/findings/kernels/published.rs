//! Kernels beside what DeepBench published of the same sizes.

use results::kernels::Entry;
use results::statistics::median;

use crate::findings::{Finding, Kind, Rule};
use crate::gathered::Gathered;
use crate::kernels::{OnDevice, rate, suites, title};
use crate::published_kernels::{PublishedKernel, beside};
use crate::text;

pub(in crate::findings) const RULE: Rule = Rule {
    title: "Published kernels",
    method: "Entries with figures whose size and pass are in the tables of DeepBench's page stand beside those. They were \
             measured on other hardware, of 2015 to 2017, and with the makers' libraries, each on the fastest device for it, \
             so a ratio says nothing about kernels alone.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let suites = suites(&gathered.kernels);
    let of_device = |device: &OnDevice<'_>| {
        let entries: Vec<&Entry> = suites.iter().flat_map(|suite| device.entries(*suite)).collect();
        let both = |entry: &Entry| Some((title(entry), rate(entry)?, beside(entry)?));
        let both: Vec<(String, f64, &PublishedKernel)> = entries.into_iter().filter_map(both).collect();
        of_all(device, &both)
    };
    gathered.kernels.iter().filter_map(of_device).collect()
}

fn of_all(device: &OnDevice<'_>, both: &[(String, f64, &PublishedKernel)]) -> Option<Finding> {
    let ratios: Vec<f64> = both.iter().map(|(_, rate, row)| rate / row.flops_per_second()).collect();
    let text = format!(
        "{}: of the sizes that DeepBench's page shows, {} was measured here, at {} times the published rate in the median. It was \
         published of other hardware, with the makers' libraries.",
        device.name,
        text::counted_entries(both.len()),
        significant(median(&ratios)?),
    );
    let text = if both.len() == 1 { text } else { text.replace(" was measured here", " were measured here") };
    let number = |(title, rate, row): &(String, f64, &PublishedKernel)| {
        let (here, there) = (text::flops(*rate), text::flops(row.flops_per_second()));
        format!("{title}: {here} here, {there} on {} ({}: {})", row.hardware, row.citation(), row.operation)
    };
    let numbers = both.iter().map(number).collect();
    Some(Finding { kind: Kind::Published, text, numbers, rule: RULE.title })
}

/// Two digits, however small.
fn significant(ratio: f64) -> String {
    if ratio >= 0.1 {
        return text::times(ratio);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of digits")]
    let decimals = (1.0 - ratio.log10().floor()).clamp(2.0, 12.0) as usize;
    format!("{ratio:.decimals$}")
}

#[cfg(test)]
mod tests {
    use results::kernels::Pass;

    use super::*;
    use crate::findings::testing::{expect, found_in};
    use crate::testing::{input_of_kernels, kernels};

    #[test]
    fn sizes_that_were_published_stand_beside_their_figure() {
        let entries = [("1760 × 128 × 1760", Pass::Forward, Some(0.0793)), ("8 × 8 × 8", Pass::Forward, Some(0.5))];
        let found = found_in(&RULE, &input_of_kernels(vec![kernels("A", &entries)]));
        expect(&found[0], Kind::Published, &["1 entry was measured here, at 0.010 times the published rate"]);
        let number = &found[0].numbers[0];
        assert!(number.contains("79.30 GFLOP/s here, 7.930 TFLOP/s on NVIDIA GTX 1080 Ti"), "{number}");
        assert!(found_in(&RULE, &input_of_kernels(vec![kernels("A", &entries[1..])])).is_empty());
        assert_eq!([0.5, 0.0123, 0.000_456].map(significant), ["0.50", "0.012", "0.00046"]);
    }
}
