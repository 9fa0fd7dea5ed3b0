//! Comparison of the times that a program reports with the clock around its answers.

use super::messages::Answer;
use crate::error::EngineError;

/// Share by which reported time may differ from the clock.
const TOLERANCE: f64 = 0.1;
/// Time that scheduling on a busy machine may add to each answer.
const SECONDS_OF_AN_ANSWER: f64 = 0.005;
/// Time that a program may pause once outside its own clock.
const SECONDS_OF_A_PAUSE: f64 = 0.2;

/// Sums over the answers to `train`, or to `evaluate`, of one network.
#[derive(Default)]
pub(super) struct Timing {
    answers: f64,
    /// By the program: the work, and what it did before.
    reported_seconds: f64,
    preparing_seconds: f64,
    /// By the clock: until the answers, and what the link took of that.
    clock_seconds: f64,
    link_seconds: f64,
}

impl Timing {
    /// Adds an answer and returns the time that it reports for its work.
    ///
    /// # Errors
    /// Sums that differ from the clock by more than a tenth, with an allowance for scheduling.
    pub(super) fn add(&mut self, answer: &Answer, link_seconds: f64) -> Result<f64, EngineError> {
        let reported = answer.time("seconds")?.filter(|&seconds| seconds > 0.0);
        let reported = reported.ok_or_else(|| answer.wrong("seconds", "must be a number above 0"))?;
        self.answers += 1.0;
        self.reported_seconds += reported;
        self.preparing_seconds += answer.time("preparing_seconds")?.unwrap_or(0.0);
        self.clock_seconds += answer.seconds;
        self.link_seconds += link_seconds.min(answer.seconds);

        let (total, clock) = (self.reported_seconds + self.preparing_seconds, self.clock_seconds);
        if exceeds(total, clock, self.answers) {
            return Err(answer.broken(&format!(
                "its answers report {total:.3} s in all, and the clock shows {clock:.3} s around them: it may report \
                 another unit than seconds, or count work twice"
            )));
        }
        let (total, clock) = (self.reported_seconds, clock - self.link_seconds - self.preparing_seconds);
        if exceeds(clock, total, self.answers) {
            return Err(answer.broken(&format!(
                "its answers report {total:.3} s in all, and the clock shows {clock:.3} s around them without the \
                 link: it probably reads its own clock without waiting for asynchronous work"
            )));
        }
        Ok(reported)
    }
}

/// Whether one time is longer than another by more than so many answers explain.
pub(super) fn exceeds(seconds: f64, other: f64, answers: f64) -> bool {
    seconds > (1.0 + TOLERANCE) * other + SECONDS_OF_AN_ANSWER * answers + SECONDS_OF_A_PAUSE
}
