use super::{Finding, Kind, Rule};
use crate::gathered::Gathered;
use crate::group::Group;
use crate::published::{Published, of_workload};
use crate::text;

pub(super) const RULE: Rule = Rule {
    title: "Published figures",
    method: "Published seconds per epoch, or the whole time over the epochs, of one device stand beside the fastest group here \
             with the same batch size, one row for each device: other hardware, programs and years, so a ratio says how far \
             apart they are and not why. Published times may include tests. Accuracies are set beside each other only where \
             as many epochs were trained, within 5 %.",
    find,
};

/// Trainings whose lengths differ by less are of one length.
const SAME_LENGTH: f64 = 0.05;

fn find(gathered: &Gathered<'_>) -> Vec<Finding> {
    gathered.workloads().into_iter().flat_map(|name| of_network(gathered, name)).collect()
}

fn of_network(gathered: &Gathered<'_>, name: &str) -> Vec<Finding> {
    let groups = gathered.of_workload(name);
    let mut found: Vec<(String, Finding)> = Vec::new();
    for row in of_workload(name).into_iter().filter(|row| row.is_of_one_device()) {
        // The first row of a device is that of the source's own settings.
        if found.iter().all(|(device, _)| *device != row.device()) {
            found.extend(beside(&groups, row).map(|finding| (row.device(), finding)));
        }
    }
    found.into_iter().map(|(_, finding)| finding).collect()
}

fn beside(groups: &[&Group<'_>], row: &Published) -> Option<Finding> {
    let published = row.epoch_seconds()?;
    let same = groups.iter().copied().filter(|group| Some(group.setup.batch_size) == row.batch_size);
    let timed = same.filter_map(|group| Some((group, group.epoch_seconds()?)));
    let (group, seconds) = timed.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let setup = &group.setup;
    let (ratio, how) =
        if published >= seconds { (published / seconds, "as fast") } else { (seconds / published, "as long") };
    let text = format!(
        "{}: {} on {} took {} an epoch ({}); here {} takes {} on {}, {} times {how}.{}",
        setup.workload,
        row.framework,
        row.device(),
        text::seconds(published),
        row.citation(),
        setup.contender(),
        text::seconds(seconds),
        setup.device,
        text::times(ratio),
        of_accuracy(group, row)
    );
    let numbers = vec![
        format!("batches of {} in both", setup.batch_size),
        format!("published: {}", row.note.as_deref().unwrap_or("no more is said")),
        super::figures("here", group),
    ];
    Some(Finding { kind: Kind::Published, text, numbers, rule: RULE.title })
}

fn of_accuracy(group: &Group<'_>, row: &Published) -> String {
    let known = row.accuracy().zip(row.epochs).zip(group.accuracy()).zip(group.epochs());
    let Some((((published, theirs), own), ours)) = known else { return String::new() };
    if (ours / theirs - 1.0).abs() > SAME_LENGTH {
        return format!(
            " Accuracies are not compared: here {} were trained, there {}.",
            text::epochs(ours),
            text::epochs(theirs)
        );
    }
    let rate = row.learning_rate.filter(|rate| (rate / group.setup.learning_rate - 1.0).abs() > 1e-6);
    let other = rate.map(|rate| format!(", there with a learning rate of {}", text::plain(rate))).unwrap_or_default();
    format!(
        " After {} the accuracy was {} there and is {} here{other}.",
        text::epochs(theirs),
        text::percent(published),
        text::percent(own)
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{expect, found};
    use super::*;
    use crate::testing::Made;

    /// Caffe's default: batches of 64, 10,000 iterations.
    fn made(batch: u32, steps: u64) -> results::RunRecord {
        Made::new("caffe-mnist").batch_size(batch).steps(steps).rate(20_000.0).accuracy(0.9891).record()
    }

    #[test]
    fn a_published_epoch_stands_beside_ours_with_its_device_and_year() {
        let found = found(&RULE, vec![made(64, 10_000)]);
        let of_gpu = found.iter().find(|found| found.text.contains("GTX 1080 Ti")).expect("the paper has that GPU");
        let parts = [
            "Caffe on NVIDIA GeForce GTX 1080 Ti 11 GB took 9.093 s an epoch (GTDLBench, Table VI(a), 2018)",
            "here burn-flex takes 3.000 s on Some CPU",
            "times as fast",
            "the accuracy was 99.13 % there and is 98.91 % here",
        ];
        expect(of_gpu, Kind::Published, &parts);
    }

    #[test]
    fn shorter_trainings_do_not_compare_accuracies() {
        let found = found(&RULE, vec![made(64, 100)]);
        assert!(!found.is_empty());
        assert!(found.iter().all(|found| !found.text.contains("the accuracy was")), "{found:?}");
        assert!(found[0].text.contains("Accuracies are not compared"), "{}", found[0].text);
    }

    #[test]
    fn other_batches_and_networks_without_publications_have_nothing_beside_them() {
        assert_eq!(found(&RULE, vec![made(77, 10_000)]), []);
        assert_eq!(found(&RULE, vec![Made::new("resnet20-cifar10").record()]), []);
    }
}
