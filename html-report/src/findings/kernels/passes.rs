//! Which pass of a layer comes nearer to the peak.

use results::kernels::{Entry, Pass, Suite};
use results::statistics::median;

use super::sign_test;
use crate::findings::{Finding, Rule};
use crate::gathered::Gathered;
use crate::kernels::{OnDevice, of_pass, pairs, share};
use crate::text;

pub(in crate::findings) const RULE: Rule = Rule {
    title: "Passes of kernels",
    method: "Each gradient is held to the forward pass of the same size, where both have figures: the median over the sizes of \
             the ratio of their shares of the peak, and in how many sizes the share is larger. The sign test decides whether \
             that is more than chance explains.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of_device = |device: &OnDevice<'_>| {
        let suites =
            device.suites().flat_map(|suite| [Pass::WeightGradient, Pass::InputGradient].map(|pass| (suite, pass)));
        suites.filter_map(|(suite, pass)| of_gradient(device, suite, pass)).collect::<Vec<_>>()
    };
    gathered.kernels.iter().flat_map(of_device).collect()
}

fn of_gradient(device: &OnDevice<'_>, suite: Suite, pass: Pass) -> Option<Finding> {
    let entries = device.entries(suite);
    let pairs = pairs(&of_pass(&entries, pass), &of_pass(&entries, Pass::Forward), |one, other| one.size == other.size);
    let ratio = |(gradient, forward): &(&Entry, &Entry)| Some(share(gradient)? / share(forward)?);
    let ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
    let middle = median(&ratios)?;
    let (more, less) = (ratios.iter().filter(|of| **of > 1.0).count(), ratios.iter().filter(|of| **of < 1.0).count());
    let text = format!(
        "{} on {}: the {} reaches {} times the forward pass's share of the peak in the median of {}, more than it in {more} and \
         less in {less} (sign test, {}).",
        suite.title(),
        device.name,
        pass.title(),
        text::times(middle),
        text::counted(ratios.len(), "size"),
        sign_test::text(more, less),
    );
    let number = |(gradient, forward): &(&Entry, &Entry)| {
        let percent = |of: &Entry| share(of).map(text::percent).unwrap_or_default();
        format!("{}: {}, forward {}", gradient.size, percent(gradient), percent(forward))
    };
    let numbers = pairs.iter().map(number).collect();
    Some(Finding { kind: sign_test::verdict(more, less), text, numbers, rule: RULE.title })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Kind;
    use crate::findings::testing::{expect, found_in};
    use crate::testing::{input_of_kernels, kernels};

    #[test]
    fn a_gradient_that_is_slower_in_every_size_is_a_difference() {
        let sizes = ["1 × 1 × 1", "2 × 2 × 2", "3 × 3 × 3", "4 × 4 × 4", "5 × 5 × 5", "6 × 6 × 6"];
        let of = |pass, share| sizes.map(|size| (size, pass, Some(share)));
        let entries = [of(Pass::Forward, 0.5), of(Pass::WeightGradient, 0.25)].concat();
        let found = found_in(&RULE, &input_of_kernels(vec![kernels("A", &entries)]));
        let parts = [
            "the weight gradient reaches 0.50 times",
            "in the median of 6 sizes",
            "more than it in 0 and less in 6",
            "p = 0.031",
        ];
        expect(&found[0], Kind::Difference, &parts);
        assert_eq!((found.len(), found[0].numbers.len()), (1, 6));
        let few = found_in(&RULE, &input_of_kernels(vec![kernels("A", &[entries[0], entries[6]])]));
        expect(&few[0], Kind::Figure, &["in the median of 1 size,", "p = 1.000"]);
    }
}
