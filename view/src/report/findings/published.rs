//! Comparison with published results of the same networks.

use crate::report::finding::{Finding, Kind, Rule, RuleSearch, metrics};
use crate::report::group::Group;
use crate::report::published::{Published, find_by_workload};
use crate::text;

pub(super) const PUBLISHED: Rule = Rule {
    title: "Published results",
    method: "Compares published seconds per epoch of one device, or the total time divided by the epochs, with the \
             fastest group of the same batch size that has at least five counted windows, one row for each device. \
             Hardware, programs and years differ, so a ratio does not explain the difference. If no epoch was finished \
             here, its time is extrapolated from these windows and marked with ≈. Published times may include tests. \
             Accuracies are compared only for the same number of epochs, within 5 %.",
    find: RuleSearch::Groups(compare_with_published),
};

/// Published row and the group to compare it with.
struct PublishedPair<'g, 'a> {
    row: &'static Published,
    group: &'g Group<'a>,
    published_seconds: f64,
    seconds: f64,
    /// True if an epoch finished here; otherwise its time is extrapolated.
    is_finished: bool,
}

fn compare_with_published(groups: &[&Group<'_>]) -> Vec<Finding> {
    let Some(first) = groups.first() else { return Vec::new() };
    let name = &first.setup.workload;
    let mut pairs: Vec<PublishedPair<'_, '_>> = Vec::new();
    for row in find_by_workload(name).into_iter().filter(|row| row.is_of_one_device()) {
        // The first row of a device has the default settings of the source.
        if pairs.iter().all(|known| known.row.device() != row.device()) {
            pairs.extend(fastest_pair(groups, row));
        }
    }
    describe(name, pairs)
}

/// Returns the fastest group with the same batch size as a row and enough windows for a finding.
fn fastest_pair<'g, 'a>(groups: &[&'g Group<'a>], row: &'static Published) -> Option<PublishedPair<'g, 'a>> {
    let published_seconds = row.epoch_seconds()?;
    let same = groups.iter().copied().filter(|group| Some(group.setup.batch_size) == row.batch_size);
    let counted = same.filter(|group| group.counted_rates().is_some());
    let timed = counted.filter_map(|group| Some((group, group.epoch()?)));
    let (group, (seconds, is_finished)) = timed.min_by(|one, other| one.1.0.total_cmp(&other.1.0))?;
    Some(PublishedPair { row, group, published_seconds, seconds, is_finished })
}

/// Returns a finding for each group of the pairs.
fn describe(workload: &str, mut pairs: Vec<PublishedPair<'_, '_>>) -> Vec<Finding> {
    let mut found = Vec::new();
    while let Some(first) = pairs.first() {
        let setup = first.group.setup.clone();
        let (own, others): (Vec<PublishedPair<'_, '_>>, Vec<PublishedPair<'_, '_>>) =
            pairs.into_iter().partition(|pair| pair.group.setup == setup);
        pairs = others;
        let seconds = own.first().map(epoch_text).unwrap_or_default();
        let rows: Vec<String> = own.iter().map(row_text).collect();
        let text = format!(
            "{workload} in batches of {}: an epoch takes {seconds} ({} on {}). Published: {}.{}",
            setup.batch_size,
            setup.contender(),
            setup.device,
            rows.join("; "),
            own.first().map(|pair| accuracy_text(pair.group, pair.row)).unwrap_or_default()
        );
        let note = |pair: &PublishedPair<'_, '_>| {
            format!("{}: {}", pair.row.citation(), pair.row.note.as_deref().unwrap_or("no note"))
        };
        let here = own.first().map(|pair| metrics("here", pair.group));
        let numbers = here.into_iter().chain(own.iter().map(note)).collect();
        found.push(Finding::new(Kind::Published, text, numbers));
    }
    found
}

/// Returns the time of an epoch here, with its range, and the basis if it is extrapolated.
fn epoch_text(pair: &PublishedPair<'_, '_>) -> String {
    let PublishedPair { group, seconds, is_finished, .. } = pair;
    let of = if group.completed().count() > 1 { "runs" } else { "windows" };
    let samples = group.completed().next().map_or(0, |run| run.workload.settings.training_samples);
    let range = group.rate_range().map(|(low, high)| {
        let [least, most] = [high, low].map(|rate| text::seconds(f64::from(samples) / rate));
        format!(", {least} to {most} by the throughput of its {of}")
    });
    let range = range.unwrap_or_default();
    let seconds = text::seconds(*seconds);
    if *is_finished {
        return format!("{seconds} here{range}");
    }
    format!("≈ {seconds} here, extrapolated from {} counted windows{range}", group.counted_windows())
}

fn row_text(pair: &PublishedPair<'_, '_>) -> String {
    let (published, own) = (pair.published_seconds, pair.seconds);
    let mark = if pair.is_finished { "" } else { "≈ " };
    let ratio = if published >= own {
        format!("{} times as long", text::times(published / own))
    } else {
        format!("{} times as fast", text::times(own / published))
    };
    format!(
        "{} with {} on {} ({}), {mark}{ratio}",
        text::seconds(published),
        pair.row.framework,
        pair.row.device(),
        pair.row.citation()
    )
}

fn accuracy_text(group: &Group<'_>, row: &Published) -> String {
    let known = row.accuracy().zip(row.epochs).zip(group.accuracy()).zip(group.epochs());
    let Some((((published, theirs), own), ours)) = known else { return String::new() };
    if !row.trained_as_long_as(group) {
        return format!(
            " Accuracies are not compared: {} here, {} in the first published result.",
            text::epochs(ours),
            text::epochs(theirs)
        );
    }
    let rate = row.learning_rate.filter(|rate| (rate / group.setup.learning_rate - 1.0).abs() > 1e-6);
    let other = rate.map(|rate| format!(" (published learning rate {})", text::plain(rate))).unwrap_or_default();
    format!(
        " After {} the accuracy was {} in the first published result and is {} here{other}.",
        text::epochs(theirs),
        text::percent(published),
        text::percent(own)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{Made, expect, found};

    /// Caffe's default: batches of 64, 10,000 iterations.
    fn made(batch: u32, steps: u64) -> results::RunRecord {
        Made::new("caffe-mnist").batch_size(batch).steps(steps).rate(20_000.0).accuracy(0.9891).record()
    }

    #[test]
    fn published_epochs_are_compared_with_ours() {
        let found = found(&PUBLISHED, vec![made(64, 10_000)]);
        let parts = [
            "caffe-mnist in batches of 64: an epoch takes 3.000 s here, 2.985 s to 3.015 s by the throughput of its windows",
            "(burn-flex on Some CPU)",
            "9.093 s with Caffe on NVIDIA GeForce GTX 1080 Ti 11 GB (GTDLBench, Table VI(a), 2018), 3.03 times as long",
            "the accuracy was 99.03 % in the first published result and is 98.91 % here",
        ];
        expect(&found[0], Kind::Published, &parts);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn shorter_trainings_do_not_compare_accuracies() {
        let found = found(&PUBLISHED, vec![made(64, 100)]);
        assert!(!found.is_empty());
        assert!(found.iter().all(|found| !found.text.contains("the accuracy was")), "{found:?}");
        assert!(found[0].text.contains("Accuracies are not compared"), "{}", found[0].text);
    }

    #[test]
    fn extrapolated_epochs_are_marked() {
        let short = found(&PUBLISHED, vec![made(64, 100)]);
        let text = &short[0].text;
        for part in ["an epoch takes ≈ 3.000 s here, extrapolated from 9 counted windows", ", ≈ 3.03 times as long"]
        {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
        let cold = Made::new("caffe-mnist").batch_size(64).steps(100).windows(5).record();
        assert_eq!(found(&PUBLISHED, vec![cold]), []);
    }

    #[test]
    fn other_batches_and_networks_are_not_compared() {
        assert_eq!(found(&PUBLISHED, vec![made(77, 10_000)]), []);
        assert_eq!(found(&PUBLISHED, vec![Made::new("resnet20-cifar10").record()]), []);
    }
}
