//! Comparison with published results of the same networks.

use crate::report::findings::{Finding, FindingRule, Kind, each_workload, metrics};
use crate::report::group::{Group, SetupField, group_by_key};
use crate::report::published::{Published, find_by_workload};
use crate::text;

pub(super) const PUBLISHED: FindingRule =
    FindingRule { title: "Published results", find: |gathered| each_workload(gathered, compare_with_published) };

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
    let mut pairs: Vec<PublishedPair<'_, '_>> = Vec::new();
    for row in find_by_workload(first.workload).into_iter().filter(|row| row.is_of_one_device()) {
        // The first row of a device has the default settings of the source.
        if pairs.iter().all(|known| known.row.device() != row.device()) {
            pairs.extend(fastest_pair(groups, row));
        }
    }
    let place = |pair: &PublishedPair<'_, '_>| groups.iter().position(|group| std::ptr::eq(*group, pair.group));
    let by_group = group_by_key(pairs.into_iter().map(|pair| (place(&pair), pair)));
    by_group.iter().map(|(_, pairs)| describe(pairs[0].group, pairs)).collect()
}

/// Returns the fastest group with the same batch size as a row and enough windows for a finding.
fn fastest_pair<'g, 'a>(groups: &[&'g Group<'a>], row: &'static Published) -> Option<PublishedPair<'g, 'a>> {
    let published_seconds = row.epoch_seconds()?;
    let same = groups.iter().copied().filter(|group| Some(group.settings().batch_size) == row.batch_size);
    let counted = same.filter(|group| group.counted_rates().is_some());
    let timed = counted.filter_map(|group| Some((group, group.epoch()?)));
    let (group, (seconds, is_finished)) = timed.min_by(|one, other| one.1.0.total_cmp(&other.1.0))?;
    Some(PublishedPair { row, group, published_seconds, seconds, is_finished })
}

/// Returns a finding about a group and the published rows that it is compared with.
fn describe(group: &Group<'_>, pairs: &[PublishedPair<'_, '_>]) -> Finding {
    let first = &pairs[0];
    let rows: Vec<String> = pairs.iter().map(row_text).collect();
    let text = format!(
        "{} in batches of {}: an epoch takes {} ({} {}). Published: {}.{}",
        group.workload,
        group.settings().batch_size,
        epoch_text(first),
        group.contender(),
        group.words(SetupField::Device).unwrap_or_default(),
        rows.join("; "),
        accuracy_text(group, first.row)
    );
    let note = |pair: &PublishedPair<'_, '_>| {
        format!("{}: {}", pair.row.citation, pair.row.note.as_deref().unwrap_or("no note"))
    };
    let numbers = [metrics("here", group)].into_iter().chain(pairs.iter().map(note));
    Finding::new(Kind::Published, text, numbers)
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
        pair.row.citation
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
    let rate = row.learning_rate.filter(|rate| (rate / group.settings().learning_rate - 1.0).abs() > 1e-6);
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
    use crate::report::testing::{MadeRun, expect, found};

    /// Caffe's default: batches of 64, 10,000 iterations.
    fn made(batch: u32, steps: u64) -> MadeRun {
        MadeRun::new("caffe-mnist").batch_size(batch).steps(steps).rate(20_000.0).accuracy(0.9891)
    }

    #[test]
    fn published_epochs_are_compared_with_ours() {
        let found = found(&PUBLISHED, [made(64, 10_000)]);
        let parts = [
            "caffe-mnist in batches of 64: an epoch takes 3.000 s here, 2.985 s to 3.015 s by the throughput of its windows",
            "(burn-flex on Some CPU)",
            "9.093 s with Caffe on NVIDIA GeForce GTX 1080 Ti 11 GB (GTDLBench, Table VI(a), 2018), 3.03 times as long",
            "the accuracy was 99.03 % in the first published result and is 98.91 % here",
        ];
        expect(&found, Kind::Published, &parts);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn shorter_trainings_are_extrapolated_and_do_not_compare_accuracies() {
        let short = found(&PUBLISHED, [made(64, 100)]);
        let parts = [
            "an epoch takes ≈ 3.000 s here, extrapolated from 9 counted windows",
            ", ≈ 3.03 times as long",
            "Accuracies are not compared",
        ];
        expect(&short, Kind::Published, &parts);
        assert!(short.iter().all(|found| !found.text.contains("the accuracy was")), "{short:?}");
    }

    #[test]
    fn other_batches_networks_and_few_windows_are_not_compared() {
        for made in [made(77, 10_000), MadeRun::new("resnet20-cifar10"), made(64, 100).windows(5)] {
            assert_eq!(found(&PUBLISHED, [made]), []);
        }
    }
}
