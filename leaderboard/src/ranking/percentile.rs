//! Where a run stands among others.

/// The share of `rates` that a run of this rate is at or above, 0 to 1: those below, and half of those that are equal, the
/// run itself among them (the mid-rank). The median run is at 0.5, whether or not others share its rate. Nothing where
/// there are no rates.
pub fn mid_rank(rate: f64, rates: &[f64]) -> Option<f64> {
    let below = rates.iter().filter(|other| **other < rate).count();
    let equal = rates.iter().filter(|other| **other == rate).count();
    (!rates.is_empty()).then(|| (below as f64 + equal as f64 / 2.0) / rates.len() as f64)
}

/// Where a run stands in its category, from three distances; each share is that of [`mid_rank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    pub among_all: Option<f64>,
    /// Among runs on the same device.
    pub of_device: Option<f64>,
    /// Among runs on devices of the same vendor.
    pub of_vendor: Option<f64>,
}

impl Percentiles {
    /// Of a run of this rate, among the rates of all runs, of those on its device and of those on its vendor's devices;
    /// each list has the run itself.
    pub fn of(rate: f64, all: &[f64], device: &[f64], vendor: &[f64]) -> Self {
        Self { among_all: mid_rank(rate, all), of_device: mid_rank(rate, device), of_vendor: mid_rank(rate, vendor) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_is_at_one_half_and_the_ends_are_half_a_run_away() {
        let rates = [10.0, 20.0, 30.0, 40.0, 50.0];
        assert_eq!([10.0, 30.0, 50.0].map(|rate| mid_rank(rate, &rates)), [Some(0.1), Some(0.5), Some(0.9)]);
    }

    #[test]
    fn equal_runs_stand_together_in_their_middle() {
        assert_eq!(mid_rank(5.0, &[5.0; 4]), Some(0.5));
        assert_eq!(mid_rank(5.0, &[1.0, 5.0, 5.0, 9.0]), Some(0.5));
        assert_eq!(mid_rank(5.0, &[]), None);
    }

    #[test]
    fn a_run_can_be_the_best_of_its_device_and_the_last_of_all() {
        let found = Percentiles::of(2.0, &[1.5, 2.0, 8.0, 9.0], &[1.5, 2.0], &[2.0]);
        assert_eq!((found.among_all, found.of_device, found.of_vendor), (Some(0.375), Some(0.75), Some(0.5)));
    }

    proptest! {
        #[test]
        fn mid_ranks_of_all_runs_have_the_mean_of_one_half(rates in prop::collection::vec(1_u8..20, 1..50)) {
            let rates: Vec<f64> = rates.into_iter().map(f64::from).collect();
            let sum: f64 = rates.iter().filter_map(|rate| mid_rank(*rate, &rates)).sum();
            prop_assert!((sum / rates.len() as f64 - 0.5).abs() < 1e-9);
        }
    }
}
