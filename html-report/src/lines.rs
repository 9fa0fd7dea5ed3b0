//! Groups that differ in one number and in nothing else that matters: what a sweep is made of.

use crate::group::{Field, Group, Length};
use crate::text;

/// A number that is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    BatchSize,
    LearningRate,
    Epochs,
    Threads,
    /// Of the same batch: strong scaling.
    Devices,
    /// Each with as many samples of the batch as one: weak scaling.
    FedDevices,
}

/// What is held alike along a line beside everything that is not varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Same {
    Epochs(f64),
    Steps(u64),
    /// Samples of the batch for each device.
    PerDevice(u32),
    /// The limit, which is that of time, or the suite's.
    Limit,
    /// Nothing more.
    Rest,
}

/// Groups in the order of the number that is varied; at least two.
#[derive(Clone, Debug)]
pub(crate) struct Line<'g, 'a> {
    pub(crate) same: Same,
    pub(crate) points: Vec<(f64, &'g Group<'a>)>,
}

impl Axis {
    pub(crate) const ALL: [Self; 6] =
        [Self::BatchSize, Self::LearningRate, Self::Epochs, Self::Threads, Self::Devices, Self::FedDevices];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::BatchSize => "batch size",
            Self::LearningRate => "learning rate",
            Self::Epochs => "epochs",
            Self::Threads => "threads",
            Self::Devices => "devices that share the batch",
            Self::FedDevices => "devices with as many samples each",
        }
    }

    /// The fields that may differ along a line.
    pub(crate) fn fields(self) -> &'static [Field] {
        match self {
            Self::BatchSize => &[Field::BatchSize, Field::Length],
            Self::LearningRate => &[Field::LearningRate],
            Self::Epochs => &[Field::Length],
            Self::Threads => &[Field::Threads],
            Self::Devices => &[Field::Devices],
            Self::FedDevices => &[Field::Devices, Field::BatchSize],
        }
    }

    pub(crate) fn value(self, group: &Group<'_>) -> Option<f64> {
        match self {
            Self::BatchSize => Some(f64::from(group.setup.batch_size)),
            Self::LearningRate => Some(group.setup.learning_rate),
            Self::Epochs => group.epochs(),
            Self::Threads => group.setup.threads.map(f64::from),
            Self::Devices | Self::FedDevices => Some(f64::from(group.setup.devices)),
        }
    }
}

impl Same {
    /// In words; nothing where there is nothing to say.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Self::Epochs(epochs) => Some(text::epochs(epochs)),
            Self::Steps(steps) => Some(format!("{steps} steps")),
            Self::PerDevice(samples) => Some(format!("{samples} samples for each device")),
            Self::Limit | Self::Rest => None,
        }
    }
}

/// Every line along this axis.
pub(crate) fn lines<'g, 'a>(groups: &[&'g Group<'a>], axis: Axis) -> Vec<Line<'g, 'a>> {
    let mut found = Vec::new();
    for class in classes(groups, axis) {
        let candidates = match axis {
            Axis::BatchSize => by_length(&class),
            Axis::FedDevices => by_share(&class),
            _ => vec![(Same::Rest, class)],
        };
        found.extend(candidates.into_iter().filter_map(|(same, groups)| line(axis, same, &groups)));
    }
    found
}

/// The groups of each set that is alike but for what the axis varies.
fn classes<'g, 'a>(groups: &[&'g Group<'a>], axis: Axis) -> Vec<Vec<&'g Group<'a>>> {
    let mut classes: Vec<Vec<&Group<'_>>> = Vec::new();
    for &group in groups {
        match classes.iter_mut().find(|class| class[0].setup.equals_but(&group.setup, axis.fields())) {
            Some(class) => class.push(group),
            None => classes.push(vec![group]),
        }
    }
    classes
}

/// Larger batches make fewer steps of an epoch: what is compared was trained for as many epochs, or for as many steps.
fn by_length<'g, 'a>(class: &[&'g Group<'a>]) -> Vec<(Same, Vec<&'g Group<'a>>)> {
    let mut keys: Vec<Same> = Vec::new();
    for key in class.iter().flat_map(|group| lengths(group)) {
        if !keys.iter().any(|known| is_same(*known, key)) {
            keys.push(key);
        }
    }
    let of = |key: &Same| {
        let has = |group: &&&Group<'_>| lengths(group).iter().any(|own| is_same(*own, *key));
        (*key, class.iter().filter(has).copied().collect())
    };
    keys.iter().map(of).collect()
}

/// Those with as many samples for each device, where the batch divides evenly.
fn by_share<'g, 'a>(class: &[&'g Group<'a>]) -> Vec<(Same, Vec<&'g Group<'a>>)> {
    let share = |group: &Group<'_>| {
        let (batch, devices) = (group.setup.batch_size, group.setup.devices);
        (batch % devices == 0).then_some(batch / devices)
    };
    let mut shares: Vec<u32> = class.iter().filter_map(|group| share(group)).collect();
    shares.sort_unstable();
    shares.dedup();
    let of = |samples: u32| {
        (Same::PerDevice(samples), class.iter().filter(|group| share(group) == Some(samples)).copied().collect())
    };
    shares.into_iter().map(of).collect()
}

fn lengths(group: &Group<'_>) -> Vec<Same> {
    if matches!(group.setup.length, Length::Seconds(_) | Length::Suite) {
        return vec![Same::Limit];
    }
    let Some(run) = group.runs.first() else { return Vec::new() };
    let of_epoch = run.epochs_of(1);
    // A group that diverged was to be trained for as long.
    let (epochs, steps) = match group.setup.length {
        Length::Epochs(count) => (Some(f64::from(count)), group.steps()),
        Length::Steps(count) => (Some(group.epochs().unwrap_or(of_epoch * count as f64)), Some(count)),
        Length::Seconds(_) | Length::Suite => (None, None),
    };
    epochs.map(Same::Epochs).into_iter().chain(steps.map(Same::Steps)).collect()
}

fn is_same(one: Same, other: Same) -> bool {
    match (one, other) {
        (Same::Epochs(one), Same::Epochs(other)) => (one / other - 1.0).abs() < 0.01,
        (one, other) => one == other,
    }
}

fn line<'g, 'a>(axis: Axis, same: Same, groups: &[&'g Group<'a>]) -> Option<Line<'g, 'a>> {
    let mut points: Vec<(f64, &Group<'_>)> =
        groups.iter().filter_map(|&group| Some((axis.value(group)?, group))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    // Of groups with the same number that differ in what is not told here, the first stands for all.
    points.dedup_by(|later, first| later.0 == first.0);
    (points.len() > 1).then_some(Line { same, points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};
    use results::{Outcome, RunRecord};

    fn found(records: &[RunRecord], axis: Axis) -> Vec<(Option<String>, Vec<f64>)> {
        let groups = groups(records);
        let lines = lines(&groups.iter().collect::<Vec<_>>(), axis);
        let values = |line: &Line<'_, '_>| line.points.iter().map(|point| point.0).collect();
        lines.iter().map(|line| (line.same.words(), values(line))).collect()
    }

    fn batch(size: u32, steps: u64) -> Made {
        Made::new("caffe-mnist").batch_size(size).steps(steps).non_standard(&[&format!("{steps} steps")])
    }

    #[test]
    fn batches_are_compared_over_as_many_epochs_and_over_as_many_steps() {
        let records =
            [(60, 1000), (600, 100), (600, 1000), (6000, 10)].map(|(size, steps)| batch(size, steps).record());
        let expected = [
            (Some("1 epoch".to_owned()), vec![60.0, 600.0, 6000.0]),
            (Some("1000 steps".to_owned()), vec![60.0, 600.0]),
        ];
        assert_eq!(found(&records, Axis::BatchSize), expected);
    }

    #[test]
    fn a_rate_that_diverged_stands_in_its_line() {
        let rate = |rate| Made::new("caffe-mnist").learning_rate(rate);
        let records = [rate(0.1).outcome(Outcome::Diverged { step: 5 }).record(), rate(0.01).record()];
        assert_eq!(found(&records, Axis::LearningRate), [(None, vec![0.01, 0.1])]);
        assert_eq!(found(&records, Axis::BatchSize), []);
    }

    #[test]
    fn devices_share_a_batch_or_have_as_many_samples_each() {
        let made = |devices, batch| Made::new("caffe-mnist").devices(devices).batch_size(batch).record();
        let records = [made(1, 60), made(2, 60), made(2, 120), made(4, 240), made(4, 61)];
        assert_eq!(found(&records, Axis::Devices), [(None, vec![1.0, 2.0])]);
        let fed = (Some("60 samples for each device".to_owned()), vec![1.0, 2.0, 4.0]);
        assert_eq!(found(&records, Axis::FedDevices), [fed]);
    }

    #[test]
    fn other_back_ends_are_other_lines() {
        let made = |backend: &str, count| Made::new("caffe-mnist").backend(backend).threads(count).record();
        let records = [made("burn-flex", 2), made("burn-flex", 1), made("other", 1), made("other", 4)];
        assert_eq!(found(&records, Axis::Threads), [(None, vec![1.0, 2.0]), (None, vec![1.0, 4.0])]);
    }
}
