/// A submission aims at this much time: long enough to hide launching, short enough for watchdogs.
const TARGET_SECONDS: f64 = 0.075;
/// A submission is at most so many times as large as the one before: short ones take longer than their work does.
const MOST_GROWTH: u64 = 4;
/// Enough for a device that tells half a second late that it has finished.
const MOST_IN_FLIGHT: usize = 8;

/// How much work goes into one submission, and how many submissions are under way at a time. Work is counted in whatever
/// its user can count, such as repetitions or operations.
///
/// Some platforms tell late that work is done: Firefox looks only every tenth of a second, and then tells of all that was
/// finished since. Such a delay is no work. So times are added up until one is longer than the delay, and more
/// submissions are under way, for the device never to wait for the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    work: u64,
    largest: u64,
    /// Seconds from the end of the work until the host knows of it.
    latency_seconds: f64,
    /// Submissions that were told to be done since the pace was last changed, their work, and their time.
    noted: (u32, u64, f64),
    /// The time of a submission, as it was seen last.
    submission_seconds: f64,
}

impl Pace {
    /// Begins with so much work, and comes to `largest` at most, for a device that tells `latency_seconds` late what it has
    /// finished.
    pub(super) fn new(first: u64, largest: u64, latency_seconds: f64) -> Self {
        Self { work: first, largest, latency_seconds, noted: (0, 0, 0.0), submission_seconds: TARGET_SECONDS }
    }

    /// How much the next submission should be.
    pub(super) fn work(self) -> u64 {
        self.work
    }

    /// Submissions that are under way at a time: one that is worked on, one more, and as many as the delay is long; a
    /// tenth of one does not count.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    pub(super) fn in_flight(self) -> usize {
        (2 + (self.latency_seconds / self.submission_seconds.max(1e-9) + 0.9) as usize).min(MOST_IN_FLIGHT)
    }

    /// Learns that a submission of so much work was told to be done `seconds` after the one before it.
    pub(super) fn note(&mut self, work: u64, seconds: f64) {
        self.noted.0 += 1;
        self.noted.1 += work;
        self.noted.2 += seconds;
        let (submissions, work, seconds) = self.noted;
        if seconds < self.latency_seconds {
            return;
        }
        self.noted = (0, 0, 0.0);
        self.submission_seconds = seconds / f64::from(submissions);
        let wanted = TARGET_SECONDS * work.max(1) as f64 / seconds.max(1e-9);
        let most = self.largest.min(self.work.saturating_mul(MOST_GROWTH));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a large float saturates")]
        let wanted = wanted as u64;
        self.work = wanted.clamp(1, most);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn submissions_grow_step_by_step_and_settle_at_the_target() {
        let mut pace = Pace::new(1, 1024, 0.0);
        let mut seen = vec![pace.work()];
        for _ in 0..5 {
            pace.note(pace.work(), pace.work() as f64 * 0.001);
            seen.push(pace.work());
        }
        assert_eq!(seen, [1, 4, 16, 64, 75, 75]);
    }

    #[test]
    fn a_slow_device_gets_the_least_there_is() {
        let mut pace = Pace::new(1, 1024, 0.0);
        pace.note(1, 2.0);
        assert_eq!(pace.work(), 1);
    }

    /// A device that works on one submission after the other and tells late what it has finished.
    struct LateDevice {
        step_seconds: f64,
        /// When work that was finished at such a time is told.
        told: fn(f64) -> f64,
    }

    impl LateDevice {
        /// Trains for so many seconds; returns the share of the time in which the device worked, and the pace at the end.
        fn train(&self, mut pace: Pace, seconds: f64) -> (f64, Pace) {
            let (mut now, mut last, mut free, mut worked) = (0.0, 0.0, 0.0, 0.0);
            let mut under_way = VecDeque::new();
            while now < seconds {
                while under_way.len() < pace.in_flight() {
                    let work = pace.work() as f64 * self.step_seconds;
                    free = f64::max(free, now) + work;
                    worked += work;
                    under_way.push_back((pace.work(), (self.told)(free)));
                }
                let (work, told) = under_way.pop_front().unwrap();
                now = f64::max(now, told);
                pace.note(work, now - last);
                last = now;
            }
            (worked / free, pace)
        }
    }

    #[test]
    fn a_device_that_tells_late_or_in_ticks_is_kept_busy_with_submissions_of_the_usual_length() {
        let late: fn(f64) -> f64 = |finished| finished + 0.1;
        let in_ticks: fn(f64) -> f64 = |finished| (finished / 0.1).ceil() * 0.1;
        for (told, latency) in [(late, 0.1), (in_ticks, 0.1), (in_ticks, 0.06), (in_ticks, 0.09)] {
            for step_seconds in [0.0001, 0.002, 0.03, 0.2] {
                let device = LateDevice { step_seconds, told };
                let (_, pace) = device.train(Pace::new(1, 1024, latency), 10.0);
                let (busy, after) = device.train(pace, 10.0);
                let what = format!("{step_seconds} s a step, {latency} s late: {busy}, {after:?}");
                assert!(busy > 0.95, "{what}");
                let submission = after.work() as f64 * step_seconds;
                assert!(submission < 0.2 || after.work() == 1, "{what}");
            }
        }
    }
}
