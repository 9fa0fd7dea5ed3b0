//! Whether a device trains on as fast as it trained.
//!
//! The steps of a training are known, because the test set is looked at when the suite says, and its time is this server's.
//! Of the steps after it, which measure throughput, only the record speaks, and the weights of its end.

use results::statistics::median;
use results::{Client, Window, WorkloadRecord};

/// Training takes so long to bring a device to its full clock. From then on it trains as fast as it ever will …
const RAMP_SECONDS: f64 = 2.0;
/// … but for so many times, which a machine needs that was busy with something else.
const MOST_SPEED_UP: f64 = 1.5;
/// What was trained before that, or while other programs took turns with it so that no steady figure came of it, may be
/// so many times as fast later. What is not steady is never ranked.
const MOST_SPEED_UP_OF_UNSTEADY: f64 = 4.0;
/// So few windows may all have been disturbed.
const FEWEST_WARM_WINDOWS: usize = 3;
/// A window lasts until the host hears of its end, which takes browsers and drivers so long at most, in seconds …
const HEARING_SECONDS: f64 = 0.03;
/// … and those so long that look every 100 ms whether there is news.
const HEARING_SECONDS_OF_POLLING: f64 = 0.15;
/// As [`Client::name`] has them.
const POLLING_BROWSERS: [&str; 2] = ["Firefox", "Safari"];
/// The rest of a stretch between two looks at the test set may be much shorter than its other windows, and then tells less.
const SHORTEST_SHARE: f64 = 0.5;

/// A window of the training.
struct Trained {
    seconds: f64,
    rate: f64,
    /// Samples per second without the time that hearing of its end may have taken; infinite where that may be all of it.
    most: f64,
    warm: bool,
}

/// Why the windows after the training cannot be believed, as a part of a sentence.
pub(super) fn doubt(record: &WorkloadRecord, client: &Client) -> Option<String> {
    let end = record.evaluations.last()?.step;
    let is_polling = POLLING_BROWSERS.contains(&client.name.as_str());
    let hearing_seconds = if is_polling { HEARING_SECONDS_OF_POLLING } else { HEARING_SECONDS };
    let (mut step, mut seconds, mut trained, mut after) = (0, 0.0, Vec::new(), Vec::new());
    for window in record.windows.iter().filter(|window| window.seconds > 0.0 && window.samples > 0) {
        step += u64::from(window.steps);
        if step > end {
            after.push(rate(window, 0.0));
        } else {
            let (warm, most) = (seconds >= RAMP_SECONDS, rate(window, hearing_seconds));
            trained.push(Trained { seconds: window.seconds, rate: rate(window, 0.0), most, warm });
        }
        seconds += window.seconds;
    }
    let after = median(&after)?;
    let (fastest, most) = rates(&trained, record.summary.stable);
    (fastest > 0.0 && after > most).then(|| {
        format!(
            "windows after the training are {:.1} times as fast as the fastest in it, and {:.1} times is the most that those \
             allow",
            after / fastest,
            most / fastest
        )
    })
}

/// Samples per second of the fastest window of a training, and the most that the device may have after it.
fn rates(trained: &[Trained], steady: bool) -> (f64, f64) {
    let warm = trained.iter().filter(|window| window.warm).count() >= FEWEST_WARM_WINDOWS;
    let telling: Vec<&Trained> = trained.iter().filter(|window| window.warm || !warm).collect();
    let longest = highest(telling.iter().map(|window| window.seconds));
    let long: Vec<&Trained> = telling.into_iter().filter(|window| window.seconds >= SHORTEST_SHARE * longest).collect();
    let times = if warm && steady { MOST_SPEED_UP } else { MOST_SPEED_UP_OF_UNSTEADY };
    (highest(long.iter().map(|window| window.rate)), times * highest(long.iter().map(|window| window.most)))
}

fn rate(window: &Window, hearing_seconds: f64) -> f64 {
    window.samples as f64 / (window.seconds - hearing_seconds).max(0.0)
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use results::Evaluation;

    use super::*;
    use crate::devices::testing::in_browser;

    fn client(name: &str) -> Client {
        Client { name: name.to_owned(), ..in_browser("", "").provenance.client }
    }

    /// Windows of so many steps and seconds, of a hundred samples a step; the test set was looked at after the first
    /// `trained` of them.
    fn record(trained: usize, windows: &[(u32, f64)]) -> WorkloadRecord {
        let windows: Vec<Window> = windows
            .iter()
            .map(|&(steps, seconds)| Window { steps, samples: u64::from(steps) * 100, seconds })
            .collect();
        let step = windows[..trained].iter().map(|window| u64::from(window.steps)).sum();
        let evaluation = Evaluation { step, training_seconds: 1.0, seconds: 0.1, loss: 0.1, accuracy: 0.9 };
        let mut other = in_browser("", "").workloads.remove(0);
        other.summary.stable = true;
        WorkloadRecord { windows, evaluations: vec![evaluation], ..other }
    }

    #[test]
    fn a_slow_device_trains_on_about_as_fast() {
        let training = [(1, 0.1), (8, 0.8), (10, 1.1), (10, 1.0), (10, 1.1), (1, 0.05)];
        let on = |steps| record(6, &[training.as_slice(), &[(steps, 1.0); 5]].concat());
        assert_eq!(doubt(&on(10), &client("Chrome")), None);
        assert_eq!(doubt(&on(14), &client("Chrome")), None);
        let doubted = doubt(&on(20), &client("Chrome")).unwrap();
        assert!(doubted.contains("2.0 times as fast"), "{doubted}");
        assert!(doubt(&on(20), &client("Firefox")).is_some());
    }

    #[test]
    fn an_unsteady_figure_may_be_of_a_device_that_was_busy_before() {
        let training = [(1, 0.1), (8, 0.8), (10, 1.1), (10, 1.0), (10, 1.1), (1, 0.05)];
        let on = |steps| {
            let mut on = record(6, &[training.as_slice(), &[(steps, 1.0); 5]].concat());
            on.summary.stable = false;
            on
        };
        assert_eq!(doubt(&on(33), &client("Chrome")), None);
        assert!(doubt(&on(50), &client("Chrome")).is_some());
    }

    #[test]
    fn a_clock_that_had_not_risen_may_rise() {
        let training = [(1, 0.1), (8, 0.5), (50, 0.5)];
        let on = |steps| record(3, &[training.as_slice(), &[(steps, 1.0); 5]].concat());
        assert_eq!(doubt(&on(380), &client("native-runner")), None);
        assert!(doubt(&on(500), &client("native-runner")).is_some());
    }

    #[test]
    fn what_is_trained_before_the_host_hears_of_it_tells_nothing() {
        let training = [(1, 0.1), (8, 0.1), (64, 0.1), (44, 0.1)];
        let fast = record(4, &[training.as_slice(), &[(20_000, 2.1); 5]].concat());
        assert_eq!(doubt(&fast, &client("Firefox")), None);
        assert!(doubt(&fast, &client("Chrome")).is_some());
    }

    #[test]
    fn nothing_is_said_of_a_device_that_had_all_its_windows_in_the_training() {
        assert_eq!(doubt(&record(2, &[(1, 1.0), (10, 9.0)]), &client("Chrome")), None);
    }
}
