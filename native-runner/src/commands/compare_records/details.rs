//! What there is to say about one line, in words.

use results::Better;
use results::comparison::Basis;
use results::regression::{AccuracyVerdict, Change, Line, QUANTITIES, Quantity, Rules, Side, Verdict};

use crate::export::{Mark, Note};

/// A quantity that changed by less is not worth a line, however certain that is.
const WORTH_TELLING: f64 = 0.02;
/// So many kernels are named; a device that chose anew may have chosen dozens.
const MOST_VARIANTS: usize = 4;

/// Why a line has its verdict, as a part of a sentence.
pub(super) fn reason(line: &Line) -> String {
    match &line.verdict {
        Verdict::Broken { reason } => format!("the candidate could not train it, and the baseline could: {reason}"),
        Verdict::Untold { reason } => reason.clone(),
        Verdict::OnlyInBaseline => "only the baseline has it".to_owned(),
        Verdict::OnlyInCandidate => "only the candidate has it".to_owned(),
        verdict => {
            let ratio = line.throughput.map(|throughput| throughput.ratio);
            let interval = ratio.and_then(|ratio| ratio.interval);
            let interval = interval.map(|of| format!(", between {:.3} and {:.3}", of.low, of.high)).unwrap_or_default();
            let ratio =
                ratio.map(|ratio| format!("{:.3} of the baseline's throughput", ratio.value)).unwrap_or_default();
            format!("{}, {ratio}{interval}", verdict.words())
        }
    }
}

/// Everything about a line that its row does not say.
pub(super) fn notes(line: &Line, name: &str, rules: &Rules) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut add = |mark, text: String| notes.push(Note { mark, text: format!("{name}: {text}") });
    let tolerance = rules.fail_if_slower.map(percent);
    match &line.verdict {
        Verdict::Faster | Verdict::Tied => {}
        Verdict::Undecided => {
            let text = format!("{}; more runs on each side, or longer ones, would decide.", reason(line));
            add(Mark::Open, text);
        }
        verdict if verdict.fails(rules) => add(Mark::Bad, format!("{}.", reason(line))),
        Verdict::PerhapsSlower => {
            let limit = tolerance.unwrap_or_default();
            let text = format!("{}: a loss of more than {limit} can neither be shown nor excluded.", reason(line));
            add(Mark::Open, text);
        }
        Verdict::SlightlySlower => {
            let limit = tolerance.unwrap_or_default();
            add(Mark::Careful, format!("{}, within the {limit} that may be lost.", reason(line)));
        }
        Verdict::Slower | Verdict::Broken { .. } | Verdict::Untold { .. } => {
            add(Mark::Careful, format!("{}.", reason(line)))
        }
        Verdict::OnlyInBaseline | Verdict::OnlyInCandidate => add(Mark::Plain, format!("{}.", reason(line))),
    }
    for (side, whose) in [(&line.baseline, "baseline"), (&line.candidate, "candidate")] {
        for text in side.iter().flat_map(|side| about_side(side, whose)) {
            add(Mark::Careful, text);
        }
    }
    for (mark, text) in accuracy(line).into_iter().chain(target(line)) {
        add(mark, text);
    }
    for text in QUANTITIES.iter().zip(&line.changes).filter_map(|(quantity, change)| changed(quantity, change)) {
        add(Mark::Careful, text);
    }
    if let Some(text) = variants(line) {
        add(Mark::Plain, text);
    }
    notes
}

/// What makes the figures of a side less than they could be.
fn about_side(side: &Side, whose: &str) -> Vec<String> {
    let Side { runs, completed, unsteady, .. } = side;
    let mut texts = Vec::new();
    if *unsteady > 0 {
        texts.push(format!(
            "{unsteady} of {completed} runs of the {whose} did not settle, so their figures are unsteady."
        ));
    }
    if completed < runs && side.trouble().is_none() {
        texts.push(format!("{} of {runs} runs of the {whose} were cancelled and do not count.", runs - completed));
    }
    texts
}

fn accuracy(line: &Line) -> Option<(Mark, String)> {
    let accuracy = line.accuracy.as_ref()?;
    let shares = format!("{:.2} % against {:.2} %", accuracy.candidate * 100.0, accuracy.baseline * 100.0);
    let points = |share: f64| format!("{:.2} points", share.abs() * 100.0);
    let explained = accuracy.allowance.map_or_else(String::new, |allowance| {
        let by = match allowance.basis {
            Basis::Seeds => "the spread of the seeds",
            Basis::TestSamples => "the sampling error of the test set (one seed)",
        };
        format!("where {by} explains {}", points(allowance.difference))
    });
    let difference = points(accuracy.difference);
    match accuracy.verdict {
        AccuracyVerdict::Alike => None,
        AccuracyVerdict::Lower => {
            Some((Mark::Careful, format!("the accuracy is lower, {shares}: {difference} {explained}.")))
        }
        AccuracyVerdict::Higher => {
            Some((Mark::Plain, format!("the accuracy is higher, {shares}: {difference} {explained}.")))
        }
        AccuracyVerdict::OtherSteps => {
            let text = "the runs did not train the same number of steps, so accuracies are not compared; a number of epochs \
                        gives all of them the same work.";
            Some((Mark::Plain, text.to_owned()))
        }
    }
}

/// Where one side reaches the target accuracy more often than the other.
fn target(line: &Line) -> Option<(Mark, String)> {
    let (before, after) = (line.baseline.as_ref()?, line.candidate.as_ref()?);
    let always = |side: &Side| side.reached_target == side.completed;
    if before.completed == 0 || after.completed == 0 || always(before) == always(after) {
        return None;
    }
    let share = |side: &Side| format!("{} of {} runs", side.reached_target, side.completed);
    let text = format!(
        "the target accuracy was reached in {} of the candidate and in {} of the baseline.",
        share(after),
        share(before)
    );
    Some((if always(before) { Mark::Careful } else { Mark::Plain }, text))
}

/// A quantity that is certainly worse, other than what follows from the throughput.
fn changed(quantity: &Quantity, change: &Change) -> Option<String> {
    let ratio = change.ratio.filter(|_| quantity.id != "step_seconds_p50" && change.is_certain())?;
    let is_worse = match quantity.better {
        Better::Lower => ratio.value > 1.0 + WORTH_TELLING,
        Better::Higher => ratio.value < 1.0 - WORTH_TELLING,
    };
    let interval = ratio.interval.filter(|_| is_worse)?;
    let Quantity { title, .. } = quantity;
    Some(format!(
        "{title}: {:.2} times the baseline's, between {:.2} and {:.2}.",
        ratio.value, interval.low, interval.high
    ))
}

fn variants(line: &Line) -> Option<String> {
    let list = |variants: &[String]| match variants {
        [] => "nothing else".to_owned(),
        few if few.len() <= MOST_VARIANTS => few.join(", "),
        many => format!("{} and {} more", many[..MOST_VARIANTS].join(", "), many.len() - MOST_VARIANTS),
    };
    let (before, after) = (&line.variants_only_in_baseline, &line.variants_only_in_candidate);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    Some(format!("the candidate computes with {}, the baseline with {}.", list(after), list(before)))
}

/// A share as it is typed, without digits that say nothing.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_shown_as_it_was_typed() {
        assert_eq!(
            (percent(0.05), percent(0.025), percent(0.07)),
            ("5 %".to_owned(), "2.5 %".to_owned(), "7 %".to_owned())
        );
    }
}
