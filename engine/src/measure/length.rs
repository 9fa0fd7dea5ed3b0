use super::Window;

/// A window has at most so many times as many repetitions as the longest before it: the first ones include the driver's own
/// preparations, and a coarse clock may see nothing of a few.
const MOST_GROWTH: u32 = 8;

/// How long a repetition takes, and so how many of them fill a window. That is decided before a window begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Length {
    /// The latest estimate; absent before the first window.
    seconds_each: Option<f64>,
    /// Of the windows so far.
    most_repetitions: u32,
}

impl Length {
    pub(crate) fn note(&mut self, window: &Window) {
        self.seconds_each = Some(window.seconds_each());
        self.most_repetitions = self.most_repetitions.max(window.repetitions);
    }

    /// The fewest repetitions that take at least `seconds`; one while nothing is known about them.
    pub(crate) fn repetitions(self, seconds: f64) -> u32 {
        let Some(seconds_each) = self.seconds_each else { return 1 };
        // A thousandth too short is long enough.
        let wanted = (seconds / seconds_each.max(1e-9) - 1e-3).ceil();
        let most = self.most_repetitions.max(1).saturating_mul(MOST_GROWTH);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u32")]
        let repetitions = wanted.clamp(1.0, f64::from(most)) as u32;
        repetitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_fill_a_window_and_never_leap() {
        let after = |repetitions, seconds| {
            let mut length = Length::default();
            length.note(&Window::new(repetitions, seconds));
            length
        };
        assert_eq!(Length::default().repetitions(1.0), 1);
        assert_eq!(after(1, 1e-6).repetitions(0.1), 8);
        assert_eq!(after(100, 0.05).repetitions(0.1), 200);
        assert_eq!(after(100, 0.05).repetitions(0.1002), 201);
        assert_eq!(after(4, 8.0).repetitions(0.1), 1);
        assert_eq!(after(10, 0.0).repetitions(0.1), 80);
    }

    #[test]
    fn what_was_reached_once_is_reached_again_after_a_short_window() {
        let mut length = Length::default();
        for window in [Window::new(400, 1.0), Window::new(3, 0.0075)] {
            length.note(&window);
        }
        assert_eq!(length.repetitions(1.0), 400);
    }
}
