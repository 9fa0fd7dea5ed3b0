//! Sweeps: groups that differ in one setting.

use results::Length;

use crate::report::group::{Group, SetupField, equal_but, group_by_key};
use crate::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepAxis {
    BatchSize,
    LearningRate,
    Epochs,
    Threads,
    /// Strong scaling: the batch size is constant.
    Devices,
    /// Weak scaling: the samples per device are constant.
    FedDevices,
}

/// Property that is constant along a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Same {
    Epochs(f64),
    Steps(u64),
    /// Samples of the batch per device.
    PerDevice(u32),
    /// The limit, which is a time or the suite's limit.
    Limit,
    /// All settings that are not varied.
    Rest,
}

/// At least two groups, sorted by the varied setting.
#[derive(Clone, Debug)]
pub(crate) struct Sweep<'g, 'a> {
    pub(crate) same: Same,
    pub(crate) points: Vec<(f64, &'g Group<'a>)>,
}

impl<'g, 'a> Sweep<'g, 'a> {
    /// Returns the groups with enough counted windows for a finding.
    pub(crate) fn counted_points(&self) -> Vec<(f64, &'g Group<'a>)> {
        self.points.iter().copied().filter(|(_, group)| group.counted_rates().is_some()).collect()
    }
}

type GroupNumber = fn(&Group<'_>) -> Option<f64>;

impl SweepAxis {
    pub(crate) const ALL: [Self; 6] =
        [Self::BatchSize, Self::LearningRate, Self::Epochs, Self::Threads, Self::Devices, Self::FedDevices];

    /// Returns the title, the fields that may differ along a line, and the number of a group.
    fn parts(self) -> (&'static str, &'static [SetupField], GroupNumber) {
        let devices = |group: &Group<'_>| Some(f64::from(group.devices()));
        match self {
            Self::BatchSize => ("batch size", &[SetupField::BatchSize, SetupField::Length], |group| {
                Some(f64::from(group.settings().batch_size))
            }),
            Self::LearningRate => {
                ("learning rate", &[SetupField::LearningRate], |group| Some(group.settings().learning_rate))
            }
            Self::Epochs => ("epochs", &[SetupField::Length], |group| group.epochs()),
            Self::Threads => ("threads", &[SetupField::Threads], |group| group.settings().threads.map(f64::from)),
            Self::Devices => ("devices that share the batch", &[SetupField::Devices], devices),
            Self::FedDevices => {
                ("devices with the same samples each", &[SetupField::Devices, SetupField::BatchSize], devices)
            }
        }
    }

    pub(crate) fn title(self) -> &'static str {
        self.parts().0
    }

    pub(crate) fn fields(self) -> &'static [SetupField] {
        self.parts().1
    }
}

impl Same {
    /// Returns the text of the property, or `None` if there is nothing to report.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Self::Epochs(epochs) => Some(text::epochs(epochs)),
            Self::Steps(steps) => Some(format!("{steps} steps")),
            Self::PerDevice(samples) => Some(format!("{samples} samples per device")),
            Self::Limit | Self::Rest => None,
        }
    }
}

pub(crate) fn lines<'g, 'a>(groups: &[&'g Group<'a>], axis: SweepAxis) -> Vec<Sweep<'g, 'a>> {
    let mut found = Vec::new();
    for class in equal_but(groups.iter().copied(), axis.fields()) {
        let candidates = match axis {
            SweepAxis::BatchSize => group_by_length(&class),
            SweepAxis::FedDevices => group_by_share(&class),
            _ => vec![(Same::Rest, class)],
        };
        found.extend(candidates.into_iter().filter_map(|(same, groups)| line(axis, same, &groups)));
    }
    found
}

/// Divides groups by length. Larger batches have fewer steps per epoch, so equal epochs and equal steps differ.
fn group_by_length<'g, 'a>(class: &[&'g Group<'a>]) -> Vec<(Same, Vec<&'g Group<'a>>)> {
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

/// Divides groups by samples per device, if the batch divides evenly.
fn group_by_share<'g, 'a>(class: &[&'g Group<'a>]) -> Vec<(Same, Vec<&'g Group<'a>>)> {
    let share = |group: &Group<'_>| {
        let (batch, devices) = (group.settings().batch_size, group.devices());
        (batch % devices == 0).then_some(batch / devices)
    };
    let mut sets = group_by_key(class.iter().filter_map(|&group| Some((share(group)?, group))));
    sets.sort_by_key(|(samples, _)| *samples);
    sets.into_iter().map(|(samples, groups)| (Same::PerDevice(samples), groups)).collect()
}

fn lengths(group: &Group<'_>) -> Vec<Same> {
    match group.length() {
        Some(Length::Seconds(_)) | None => vec![Same::Limit],
        // A diverged group counts with its requested length.
        Some(Length::Epochs(count)) => {
            let epochs = Same::Epochs(f64::from(count.get()));
            [epochs].into_iter().chain(group.steps().map(Same::Steps)).collect()
        }
        Some(Length::Steps(count)) => {
            let epochs = group.epochs().unwrap_or_else(|| group.runs[0].epochs_of(1) * count.get() as f64);
            vec![Same::Epochs(epochs), Same::Steps(count.get())]
        }
    }
}

fn is_same(one: Same, other: Same) -> bool {
    match (one, other) {
        (Same::Epochs(one), Same::Epochs(other)) => (one / other - 1.0).abs() < 0.01,
        (one, other) => one == other,
    }
}

fn line<'g, 'a>(axis: SweepAxis, same: Same, groups: &[&'g Group<'a>]) -> Option<Sweep<'g, 'a>> {
    let mut points: Vec<(f64, &Group<'_>)> =
        groups.iter().filter_map(|&group| Some(((axis.parts().2)(group)?, group))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The first of several groups with the same number represents them all.
    points.dedup_by(|later, first| later.0 == first.0);
    (points.len() > 1).then_some(Sweep { same, points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{MadeRun, with_groups};

    /// Checks what is the same along each line, and the numbers along it.
    #[track_caller]
    fn expect<const N: usize>(runs: impl IntoIterator<Item = MadeRun>, axis: SweepAxis, expected: [(&str, &[f64]); N]) {
        with_groups(runs, |groups| {
            let lines = lines(groups, axis);
            let numbers = |line: &Sweep<'_, '_>| line.points.iter().map(|point| point.0).collect::<Vec<_>>();
            let found: Vec<_> =
                lines.iter().map(|line| (line.same.words().unwrap_or_default(), numbers(line))).collect();
            assert_eq!(found, expected.map(|(same, numbers)| (same.to_owned(), numbers.to_vec())));
        });
    }

    fn made() -> MadeRun {
        MadeRun::new("caffe-mnist")
    }

    #[test]
    fn batches_are_compared_over_equal_epochs_and_steps() {
        let batches = [(60, 1000), (600, 100), (600, 1000), (6000, 10)];
        let runs = batches.map(|(size, steps)| made().batch_size(size).steps(steps).trained_steps(steps));
        let expected = [("1 epoch", &[60.0, 600.0, 6000.0][..]), ("1000 steps", &[60.0, 600.0])];
        expect(runs, SweepAxis::BatchSize, expected);
    }

    #[test]
    fn back_ends_have_separate_lines() {
        let runs = [("burn-flex", 2), ("burn-flex", 1), ("other", 1), ("other", 4)];
        let runs = runs.map(|(backend, count)| made().backend(backend).threads(count));
        expect(runs, SweepAxis::Threads, [("", &[1.0, 2.0]), ("", &[1.0, 4.0])]);
    }
}
