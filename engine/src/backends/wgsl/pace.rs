/// A submission aims at this much work: long enough to hide launching, short enough for watchdogs.
const TARGET_SECONDS: f64 = 0.075;

/// How many steps go into one submission, from one upwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    steps: u32,
    largest: u32,
}

impl Pace {
    pub(super) fn new(largest: u32) -> Self {
        Self { steps: 1, largest }
    }

    pub(super) fn steps(self) -> u32 {
        self.steps
    }

    /// Learns that a submission of `steps` steps took `seconds`; at most doubles.
    pub(super) fn note(&mut self, steps: u32, seconds: f64) {
        let per_step = seconds / f64::from(steps.max(1));
        let wanted = TARGET_SECONDS / per_step.max(1e-9);
        let most = self.largest.min(self.steps.saturating_mul(2));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
        let next = wanted.clamp(1.0, f64::from(most)) as u32;
        self.steps = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_grow_by_doubling_and_settle_at_the_target() {
        let mut pace = Pace::new(1024);
        let mut seen = vec![pace.steps()];
        for _ in 0..8 {
            pace.note(pace.steps(), f64::from(pace.steps()) * 0.001);
            seen.push(pace.steps());
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 64, 75, 75]);
    }

    #[test]
    fn a_slow_device_gets_one_step_at_a_time() {
        let mut pace = Pace::new(1024);
        pace.note(1, 2.0);
        assert_eq!(pace.steps(), 1);
    }
}
