//! How a batch is divided among devices.

use shaders::params::Step;

/// The rows of a batch that are one device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) first_row: u32,
    pub(crate) count: u32,
}

/// Rows of the largest share.
#[cfg(any(feature = "wgsl", test))]
pub(crate) fn most_rows(batch_size: u32, devices: u32) -> u32 {
    batch_size.div_ceil(devices)
}

/// Shares of a batch of so many samples, in the order of its rows, as even as can be. Of a small batch some have none.
pub(crate) fn shares(samples: u32, devices: u32) -> impl Iterator<Item = Share> {
    let begin = move |device: u32| {
        let row = u64::from(samples) * u64::from(device) / u64::from(devices);
        u32::try_from(row).expect("no more than there are samples")
    };
    (0..devices).map(move |device| {
        let first_row = begin(device);
        Share { first_row, count: begin(device + 1) - first_row }
    })
}

impl Share {
    /// What a step of the whole batch is for this device.
    pub(crate) fn of(self, whole: Step) -> Step {
        let Self { first_row, count } = self;
        Step { first_row, count, elsewhere: whole.count - count, ..whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_share_and_no_share_is_larger_than_the_device_has_room_for() {
        for devices in 1..6 {
            for samples in 0..40 {
                let mut next = 0;
                for Share { first_row, count } in shares(samples, devices) {
                    assert_eq!(first_row, next);
                    assert!(count <= most_rows(samples, devices) && count >= samples / devices);
                    next += count;
                }
                assert_eq!(next, samples);
            }
        }
    }

    #[test]
    fn a_share_knows_how_many_samples_are_elsewhere() {
        let whole = Step { offset: 60, count: 7, ..Step::default() };
        let steps: Vec<Step> = shares(7, 2).map(|share| share.of(whole)).collect();
        let seen: Vec<_> = steps.iter().map(|s| (s.offset, s.first_row, s.count, s.elsewhere)).collect();
        assert_eq!(seen, [(60, 0, 3, 4), (60, 3, 4, 3)]);
    }
}
