/// Target duration of a submission: long enough to hide launching, short enough for watchdogs.
const TARGET_SECONDS: f64 = 0.075;
/// Maximum growth from one submission to the next, because short ones take longer than their work.
const MAX_GROWTH: u64 = 4;
/// Maximum number of submissions in flight, enough for a latency of half a second.
const MAX_IN_FLIGHT: usize = 8;

/// Size of submissions, and number in flight. Work is counted in any unit, such as repetitions or operations.
///
/// Some platforms report late that work is done: Firefox polls every tenth of a second. Times are therefore added up until
/// they exceed this latency, and more submissions run at a time, so that the device never waits for the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Work of the next submission.
    pub(super) work: u64,
    largest: u64,
    /// Seconds from the end of work until the host is notified.
    latency_seconds: f64,
    /// Submissions finished since the last change of pace, with their work and time.
    noted: (u32, u64, f64),
    submission_seconds: f64,
}

impl Pace {
    /// Starts with `first` work per submission and grows to at most `largest`.
    pub(super) fn new(first: u64, largest: u64, latency_seconds: f64) -> Self {
        Self { work: first, largest, latency_seconds, noted: (0, 0, 0.0), submission_seconds: TARGET_SECONDS }
    }

    /// Returns the number of submissions in flight: one executing, one more, and as many as fit into the latency,
    /// ignoring a tenth of one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    pub(super) fn in_flight(self) -> usize {
        (2 + (self.latency_seconds / self.submission_seconds.max(1e-9) + 0.9) as usize).min(MAX_IN_FLIGHT)
    }

    /// Records that a submission was reported as finished `seconds` after the previous one.
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
        let most = self.largest.min(self.work.saturating_mul(MAX_GROWTH));
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
    fn submissions_grow_to_the_target() {
        let mut pace = Pace::new(1, 1024, 0.0);
        let mut seen = vec![pace.work];
        for _ in 0..5 {
            pace.note(pace.work, pace.work as f64 * 0.001);
            seen.push(pace.work);
        }
        assert_eq!(seen, [1, 4, 16, 64, 75, 75]);
    }

    /// A device that executes submissions one after the other and reports their ends late.
    struct LateDevice {
        step_seconds: f64,
        /// Time at which an end is reported.
        reported: fn(f64) -> f64,
    }

    impl LateDevice {
        /// Trains for some seconds. Returns the share of time that the device was busy, and the final pace.
        fn train(&self, mut pace: Pace, seconds: f64) -> (f64, Pace) {
            let (mut now, mut last, mut free, mut worked) = (0.0, 0.0, 0.0, 0.0);
            let mut under_way = VecDeque::new();
            while now < seconds {
                while under_way.len() < pace.in_flight() {
                    let work = pace.work as f64 * self.step_seconds;
                    free = f64::max(free, now) + work;
                    worked += work;
                    under_way.push_back((pace.work, (self.reported)(free)));
                }
                let (work, reported) = under_way.pop_front().unwrap();
                now = f64::max(now, reported);
                pace.note(work, now - last);
                last = now;
            }
            (worked / free, pace)
        }
    }

    #[test]
    fn late_devices_stay_busy_with_submissions_of_usual_length() {
        let late: fn(f64) -> f64 = |finished| finished + 0.1;
        let in_ticks: fn(f64) -> f64 = |finished| (finished / 0.1).ceil() * 0.1;
        for (reported, latency) in [(late, 0.1), (in_ticks, 0.1), (in_ticks, 0.06), (in_ticks, 0.09)] {
            for step_seconds in [0.0001, 0.002, 0.03, 0.2] {
                let device = LateDevice { step_seconds, reported };
                let (_, pace) = device.train(Pace::new(1, 1024, latency), 10.0);
                let (busy, after) = device.train(pace, 10.0);
                let what = format!("{step_seconds} s a step, {latency} s late: {busy}, {after:?}");
                assert!(busy > 0.95, "{what}");
                let submission = after.work as f64 * step_seconds;
                assert!(submission < 0.2 || after.work == 1, "{what}");
            }
        }
    }
}
