use results::InputMode;

use super::{Finding, Kind, Rule, figures, interval, kind_of, subject};
use crate::difference::{Verdict, speed};
use crate::gathered::Gathered;
use crate::group::{Field, Group};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Input",
    method: "Groups whose batches come from the host are compared with the one that differs from them in nothing but that its \
             data set lies on the device. The share of the step that waits for input is that of the timed seconds in which the \
             device had nothing to do because its next batch was not there; without prefetch it is all that gathering and \
             uploading took.",
    find,
};

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    let of = |name: &str| {
        let groups = gathered.of_workload(name);
        let streamed = groups.iter().filter(|group| group.setup.input != InputMode::Resident);
        streamed.filter_map(|group| of_group(gathered, &groups, group)).collect::<Vec<_>>()
    };
    gathered.workloads().into_iter().flat_map(of).collect()
}

fn of_group(gathered: &Gathered<'_>, groups: &[&Group<'_>], streamed: &Group<'_>) -> Option<Finding> {
    let waiting = text::percent(streamed.input_share()?);
    let mode = streamed.setup.input.text();
    let is_resident = |group: &&&Group<'_>| group.setup.input == InputMode::Resident;
    let beside =
        groups.iter().filter(is_resident).find(|group| group.setup.equals_but(&streamed.setup, &[Field::Input]));
    let ratio = beside.and_then(|resident| Some((resident, speed(resident, streamed)?)));
    let compared = ratio.as_ref().map(|(_, ratio)| {
        let likely = if ratio.verdict == Verdict::Tied { ", which chance explains as well" } else { "" };
        format!(
            ", training is {} times as fast as with the data set resident ({}){likely}",
            text::times(ratio.value),
            interval(ratio)
        )
    });
    let text = format!(
        "{}: with input {mode}{}; {waiting} of the step waits for input.",
        subject(gathered, streamed, &[Field::Input]),
        compared.unwrap_or_default(),
    );
    let shown = beside.into_iter().copied().chain([streamed]);
    Some(Finding {
        kind: ratio.map_or(Kind::Figure, |(_, ratio)| kind_of(ratio.verdict)),
        text,
        numbers: shown.map(|group| figures(group.setup.input.text(), group)).collect(),
        rule: RULE.title,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    fn made(mode: InputMode, rate: f64) -> Made {
        Made::new("caffe-mnist").input(mode).rate(rate)
    }

    #[test]
    fn what_is_streamed_is_held_beside_what_lies_on_the_device() {
        let records = [made(InputMode::Resident, 1e4), made(InputMode::Stream, 0.8e4)].map(Made::record);
        let found = found(&RULE, records.to_vec());
        let parts = [
            "with input streamed without prefetch, training is 0.80 times as fast as with the data set resident",
            "; 10.00 % of the step waits for input.",
        ];
        expect(&found[0], Kind::Difference, &parts);
        assert_eq!((found.len(), found[0].numbers.len()), (1, 2));
    }

    #[test]
    fn alone_it_has_its_figure_and_nothing_that_it_is_compared_with() {
        let found = found(&RULE, vec![made(InputMode::Prefetch, 1e4).record()]);
        expect(&found[0], Kind::Figure, &["with input streamed with prefetch; 10.00 % of the step waits"]);
    }
}
