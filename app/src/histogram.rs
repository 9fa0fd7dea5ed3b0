//! How rates lie: bars on a logarithmic axis, as plain numbers.

use results::api::{Distribution, RateBin};

use crate::t;
use crate::text;
use crate::words::language;

/// No axis is narrower than this, so that one bar is no wall and there are marks to read it by.
const LEAST_RATIO: f64 = 4.0;
/// Room beside the outermost bars, as a factor.
const MARGIN: f64 = 1.08;

/// A range of rates in which equal factors are equally far apart.
#[derive(Clone, Debug, PartialEq)]
pub struct LogarithmicAxis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
}

impl LogarithmicAxis {
    /// From below `low` to above `high`, which are positive, with at most `most` round marks if that can be.
    pub fn covering(low: f64, high: f64, most: usize) -> Self {
        let (low, high) = (low / MARGIN, high * MARGIN);
        let wider = (LEAST_RATIO / (high / low)).max(1.0).sqrt();
        let (low, high) = (low / wider, high * wider);
        Self { low, high, ticks: ticks(low, high, most) }
    }

    /// Place of `rate` between the ends, 0 to 1.
    pub fn share(&self, rate: f64) -> f64 {
        ((rate / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// The most round marks that are not too many: within each power of ten, or at every few of them.
fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    const WITHIN: [&[f64]; 5] = [
        &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 3.0],
        &[1.0],
    ];
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let marks = |factors: &[f64], every: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(every).map(|power| 10f64.powi(power));
        let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
        all.filter(|mark| (low..=high).contains(mark)).collect()
    };
    let candidates =
        WITHIN.into_iter().map(|factors| marks(factors, 1)).chain((2..20).map(|every| marks(&[1.0], every)));
    candidates.into_iter().find(|marks| marks.len() <= most).unwrap_or_default()
}

/// A mark's text: `0.5`, `20`, `1,500`, `20 k`.
pub fn tick(rate: f64) -> String {
    let short = |value: f64| language().number(&format!("{}", (value * 1e6).round() / 1e6));
    match rate {
        _ if rate >= 1e6 => format!("{} M", short(rate / 1e6)),
        _ if rate >= 1e4 => format!("{} k", short(rate / 1e3)),
        _ if rate >= 1e3 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "four digits")]
            let whole = rate.round() as u64;
            text::count(whole)
        }
        _ => short(rate),
    }
}

/// A bin as it is drawn; all are shares from 0 to 1 of the drawing's width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub left: f64,
    pub right: f64,
    pub height: f64,
    /// Whether the run that is shown is in it.
    pub own: bool,
}

/// The bars of all bins, the highest as high as the drawing.
pub fn bars(bins: &[RateBin], axis: &LogarithmicAxis, own: f64) -> Vec<Bar> {
    let most = bins.iter().map(|bin| bin.runs).max().unwrap_or(0).max(1) as f64;
    let bar = |bin: &RateBin| Bar {
        left: axis.share(bin.from),
        right: axis.share(bin.to),
        height: bin.runs as f64 / most,
        own: (bin.from..bin.to).contains(&own),
    };
    bins.iter().map(bar).collect()
}

/// The slowest and the fastest rate that a drawing has to show; nothing where there is no run.
pub fn ends(bins: &[RateBin], own: f64) -> Option<(f64, f64)> {
    let (slowest, fastest) = (bins.first()?.from, bins.last()?.to);
    (slowest > 0.0 && own > 0.0).then(|| (slowest.min(own), fastest.max(own)))
}

/// What the drawing shows, for people who cannot see it.
pub fn description(distribution: &Distribution, own: f64) -> String {
    let bins = &distribution.bins;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return t!(standing_no_runs).to_owned() };
    let fullest = bins.iter().rev().max_by_key(|bin| bin.runs).unwrap_or(first);
    t!(
        standing_described,
        runs = of_devices(distribution),
        low = text::rate(first.from),
        high = text::rate(last.to),
        fullest = fullest.runs,
        from = text::rate(fullest.from),
        to = text::rate(fullest.to),
        own = text::rate(own)
    )
}

/// Such as `1,204 proven runs on 40 devices`.
pub fn of_devices(distribution: &Distribution) -> String {
    let Distribution { runs, devices, .. } = distribution;
    format!("{} {}", t!(common_proven_runs, number = *runs), t!(common_on_devices, number = *devices))
}

#[cfg(test)]
mod tests {
    use results::Suite;

    use super::*;

    const BINS: [RateBin; 3] = [
        RateBin { from: 100.0, to: 105.0, runs: 2 },
        RateBin { from: 200.0, to: 210.0, runs: 8 },
        RateBin { from: 1000.0, to: 1050.0, runs: 1 },
    ];

    #[test]
    fn equal_factors_are_equally_far_apart() {
        let axis = LogarithmicAxis::covering(100.0, 10_000.0, 6);
        let step = axis.share(1000.0) - axis.share(100.0);
        assert!((axis.share(10_000.0) - axis.share(1000.0) - step).abs() < 1e-12);
        assert!(axis.low < 100.0 && axis.high > 10_000.0);
        assert_eq!(axis.ticks, [100.0, 300.0, 1000.0, 3000.0, 10_000.0]);
    }

    #[test]
    fn a_narrow_range_is_widened_and_a_wide_one_has_few_marks() {
        let narrow = LogarithmicAxis::covering(2000.0, 2010.0, 6);
        assert!((narrow.high / narrow.low - LEAST_RATIO).abs() < 1e-9);
        assert_eq!(narrow.ticks, [1200.0, 1500.0, 2000.0, 2500.0, 3000.0, 4000.0]);
        for (low, high, most) in [(1e-3, 1e9, 4), (1.0, 50.0, 3), (90.0, 110.0, 4), (7.0, 7.0, 3)] {
            let ticks = LogarithmicAxis::covering(low, high, most).ticks;
            assert!((2..=most).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        }
    }

    #[test]
    fn marks_are_short() {
        let texts = [0.5, 20.0, 1500.0, 20_000.0, 1_500_000.0, 1.2 * 10f64.powi(-1)].map(tick);
        assert_eq!(texts, ["0.5", "20", "1,500", "20 k", "1.5 M", "0.12"]);
    }

    #[test]
    fn the_highest_bar_fills_the_drawing_and_the_run_is_in_its_own() {
        let (low, high) = ends(&BINS, 204.0).unwrap();
        assert_eq!((low, high), (100.0, 1050.0));
        let bars = bars(&BINS, &LogarithmicAxis::covering(low, high, 6), 204.0);
        assert_eq!(bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), [0.25, 1.0, 0.125]);
        assert_eq!(bars.iter().map(|bar| bar.own).collect::<Vec<_>>(), [false, true, false]);
        assert!(bars.windows(2).all(|pair| pair[0].left < pair[0].right && pair[0].right < pair[1].left), "{bars:?}");
        assert_eq!(ends(&[], 204.0), None);
    }

    #[test]
    fn a_run_beside_all_others_is_still_on_the_axis() {
        assert_eq!(ends(&BINS, 5000.0), Some((100.0, 5000.0)));
        assert_eq!(ends(&BINS, 10.0), Some((10.0, 1050.0)));
    }

    #[test]
    fn the_drawing_can_be_read_aloud() {
        let suite = Suite { name: "quick".to_owned(), version: 1 };
        let of = |bins: &[RateBin]| Distribution {
            suite: suite.clone(),
            workload: "caffe-mnist".to_owned(),
            runs: 11,
            devices: 1,
            bins: bins.to_vec(),
        };
        assert_eq!(
            description(&of(&BINS), 204.0),
            "11 proven runs on 1 device lie between 100.0 and 1050 samples per second, and more of them than anywhere else \
             (8) between 200.0 and 210.0 samples per second. This run: 204.0."
        );
        assert_eq!(description(&of(&[]), 204.0), "There are no proven runs.");
    }
}
