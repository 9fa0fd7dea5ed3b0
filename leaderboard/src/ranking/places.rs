//! Places with ties: devices that cannot be distinguished share one.
//!
//! Devices are ordered by median, fastest first, then by key. A device shares the place when its upper quartile reaches
//! the lower quartile of the place's *leader*; otherwise it opens a new place. Comparing with the leader and not with
//! the neighbor keeps long chains from tying the fastest with the slowest. Devices with too few voices share a place
//! behind all others, after the first hundred.

use results::api::FigureOfDevice;

use super::has_place;

/// Number of first places that are reserved for devices with enough voices.
const RESERVED_PLACES: u64 = 100;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) device: String,
    pub(crate) figure: FigureOfDevice,
    pub(crate) line: T,
    /// Starts at 1; one more than the number of devices in better places (1, 1, 3, 4, 4, 6).
    pub(crate) place: u64,
}

/// Orders the devices of one category, each with its line, and gives them their places.
pub(crate) fn places<T>(mut devices: Vec<(String, FigureOfDevice, T)>) -> Vec<Placed<T>> {
    devices.sort_by(|(a, of_a, _), (b, of_b, _)| {
        has_place(of_b).cmp(&has_place(of_a)).then_with(|| of_b.median.total_cmp(&of_a.median)).then_with(|| a.cmp(b))
    });
    let place_of_others = place_behind(devices.iter().filter(|(_, figure, _)| has_place(figure)).count() as u64);
    let mut placed = Vec::with_capacity(devices.len());
    let mut leader = None;
    for (number, (device, figure, line)) in (1..).zip(devices) {
        let tied = leader.filter(|(lower_quartile, _)| figure.upper_quartile >= *lower_quartile);
        let (_, own_place) = *leader.insert(tied.unwrap_or((figure.lower_quartile, number)));
        let place = if has_place(&figure) { own_place } else { place_of_others };
        placed.push(Placed { device, figure, line, place });
    }
    placed
}

/// Returns the place of all devices with too few voices, after `devices` devices with enough.
pub(crate) fn place_behind(devices: u64) -> u64 {
    devices.max(RESERVED_PLACES) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figure(lower_quartile: f64, median: f64, upper_quartile: f64) -> FigureOfDevice {
        FigureOfDevice { median, lower_quartile, upper_quartile, runs: 4, submitters: 4, days: 2 }
    }

    #[test]
    fn overlapping_devices_share_a_place_and_the_next_counts_them() {
        let cases: [&[(&str, [f64; 3], u64)]; 5] = [
            &[("fast", [7.0, 8.0, 9.0], 1), ("middling", [4.0, 5.0, 6.0], 2), ("slow", [1.0, 2.0, 3.0], 3)],
            &[("a", [8.0, 9.0, 10.0], 1), ("b", [7.0, 8.0, 8.0], 1), ("c", [1.0, 2.0, 3.0], 3)],
            // Each reaches the next one above it, and only every second one reaches the leader.
            &[
                ("a", [9.0, 10.0, 11.0], 1),
                ("b", [7.0, 8.0, 9.0], 1),
                ("c", [5.0, 6.0, 7.0], 3),
                ("d", [3.0, 4.0, 5.0], 3),
            ],
            // Equal medians are ordered by key.
            &[("a", [1.0; 3], 1), ("b", [1.0; 3], 1)],
            &[],
        ];
        for expected in cases {
            let device = |(name, [a, b, c], _): &(&str, [f64; 3], u64)| ((*name).to_owned(), figure(*a, *b, *c), ());
            let placed = places(expected.iter().rev().map(device).collect());
            let found: Vec<_> = placed.iter().map(|placed| (placed.device.as_str(), placed.place)).collect();
            assert_eq!(found, expected.iter().map(|(name, _, place)| (*name, *place)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn too_few_voices_come_behind_the_first_hundred() {
        let few = |median| FigureOfDevice { submitters: 2, ..figure(median, median, median) };
        let devices = [("a", few(9.0)), ("b", few(7.0)), ("c", figure(5.0, 5.0, 5.0)), ("d", figure(3.0, 3.0, 3.0))];
        let placed = places(devices.map(|(name, figure)| (name.to_owned(), figure, ())).into());
        let found: Vec<_> = placed.iter().map(|placed| (placed.device.as_str(), placed.place)).collect();
        assert_eq!(found, [("c", 1), ("d", 2), ("a", 101), ("b", 101)]);
    }

    proptest! {
        #[test]
        fn places_do_not_depend_on_input_order(
            spreads in prop::collection::vec([1.0_f64..100.0, 0.0..10.0, 0.0..10.0], 0..20)
        ) {
            let mut devices: Vec<(String, FigureOfDevice, ())> = spreads.iter().enumerate()
                .map(|(i, [median, below, above])| (format!("{i:02}"), figure(median - below, *median, median + above), ()))
                .collect();
            let found = places(devices.clone());
            devices.reverse();
            prop_assert_eq!(&places(devices), &found);
            for (above, one) in found.iter().enumerate() {
                let first = found.iter().position(|other| other.place == one.place).unwrap();
                prop_assert_eq!(one.place, first as u64 + 1);
                prop_assert!(found[..above].iter().all(|other| other.place <= one.place));
                let leader = &found[first].figure;
                prop_assert!(first == above || one.figure.upper_quartile >= leader.lower_quartile);
            }
        }
    }
}
